import FlowrunTestSupport
import Testing

@testable import RunLog

/// What is left of a run, by one that is expected to go like it.
@Suite struct RunEstimateTests {
    private func span(_ step: String, _ start: Int, _ finish: Int) -> RunEstimate.Span {
        RunEstimate.Span(step: step, start: .seconds(start), finish: .seconds(finish))
    }

    @Test func `what is left depends on how much of the run was done side by side`() {
        // Two at once for ten seconds, nothing for five, then one for twenty.
        let estimate = RunEstimate([span("a", 0, 10), span("b", 0, 10), span("c", 15, 35)])
        #expect(estimate.left(after: 0) == .seconds(35))
        #expect(estimate.left(after: 10) == .seconds(30))
        #expect(estimate.left(after: 20) == .seconds(20))
        #expect(estimate.left(after: 30) == .seconds(10))
        #expect(estimate.left(after: 40) == .zero)
        #expect(estimate.left(after: 99) == .zero)
        #expect(estimate.duration(of: "c") == 20)
        #expect(estimate.duration(of: "other") == 0)
    }

    @Test func `a run without work has nothing left`() {
        #expect(RunEstimate([]).left(after: 0) == .zero)
        #expect(RunEstimate([span("a", 0, 0), span("b", 3, 3)]).left(after: 0) == .zero)
    }

    @Test(arguments: 0..<50) func `more work leaves no more time`(seed: UInt64) {
        var numbers = SeededGenerator(seed: seed)
        let spans = (0...seed).map { step in
            let start = Int.random(in: 0..<20, using: &numbers)
            return span("\(step)", start, start + Int.random(in: 0..<20, using: &numbers))
        }
        let estimate = RunEstimate(spans)
        let total = spans.reduce(0) { $0 + $1.finish - $1.start }
        let left = stride(from: 0, through: total, by: 0.5).map { estimate.left(after: $0) }
        #expect(zip(left, left.dropFirst()).allSatisfy { $0 >= $1 })
        #expect(left.last == .zero)
        #expect(left.allSatisfy { $0 <= .seconds(spans.map(\.finish).max() ?? 0) })
    }
}
