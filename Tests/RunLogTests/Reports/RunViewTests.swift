import FlowrunTestSupport
import Testing

@testable import RunLog

struct RunViewTests {
    private let view = RunView()

    private func tell(_ kind: RunEvent.Kind, round: Int? = nil) {
        view.report(RunEvent(sequence: 0, wallClock: 0, elapsed: .zero, kind: kind, round: round))
    }

    private func nextRound(of group: String, from round: Int = 0) {
        tell(.groupRetry(group: group, round: round, delay: .zero), round: round)
        tell(.groupStarted(group: group), round: round + 1)
    }

    private func end(_ step: String, _ outcome: StepOutcome, _ message: String = "") -> RunEvent.Kind {
        let cause = Cause(kind: outcome == .skipped ? .condition : .exit, message: message, subject: .step(step))
        return .stepFinished(
            StepFinished(
                step: step, attempt: outcome == .skipped ? 0 : 1, outcome: outcome, duration: .zero,
                cause: outcome == .success ? nil : cause))
    }

    @Test func `a step of a group that is tried again is what it came to in the last round`() {
        tell(.started("g.a"), round: 0)
        tell(end("g.a", .failure, "exit 1"), round: 0)
        tell(end("g.b", .skipped, "no"), round: 0)
        #expect(view.report(of: "g.a")?.outcome == .failure && view.failed == 1 && view.finished == 2)
        nextRound(of: "g")
        tell(.started("g.a"), round: 1)
        #expect(view.report(of: "g.a") == nil && view.failed == 0 && view.finished == 0)
        tell(end("g.a", .failure, "exit 2"), round: 1)
        tell(end("g.b", .success), round: 1)
        #expect(view.report(of: "g.a")?.cause?.message == "exit 2" && view.failed == 1 && view.finished == 2)
        #expect(view.victims(named: 8).isEmpty && view.skipped(named: 8).count == 0)
    }

    @Test func `a step that was taken over and runs in a later round counts once`() {
        tell(.stepRestored(StepRestored { $0.step = "g.a" }), round: 0)
        nextRound(of: "g")
        tell(.started("g.a"), round: 1)
        #expect(view.finished == 0)
        tell(end("g.a", .failure, "exit 1"), round: 1)
        #expect(view.finished == 1 && view.failed == 1)
    }

    @Test func `copies that the last round did not have are gone`() {
        tell(.runStarted(RunStarted { $0.steps = 1 }))
        for copy in ["g.f[p]", "g.f[q]"] { tell(.stepAdded(step: copy, by: "g.f"), round: 0) }
        tell(end("g.f[q]", .skipped, "no"), round: 0)
        #expect(view.steps == 3)
        nextRound(of: "g")
        tell(.stepAdded(step: "g.f[p]", by: "g.f"), round: 1)
        #expect(view.steps == 2 && view.finished == 0)
        #expect(view.victims(named: 8).isEmpty && view.report(of: "g.f[q]") == nil)
    }

    @Test func `what ended alike for the same reason is one group, in the order of its first`() {
        for step in ["a", "b", "c"] { tell(end(step, .skipped, "no")) }
        tell(.groupFinished(GroupFinished { $0.group = "g" }))
        let victims = view.victims(named: 2)
        #expect(victims.map(\.names) == [["a", "b"]] && victims.map(\.count) == [3])
        #expect(view.skipped(named: 2) == (["a", "b"], 3))
    }

    @Test func `a view that remembers all tells of successes and of what has not ended`() throws {
        let view = RunView(remembersAll: true)
        for kind in [.started("a"), .ended("a"), .started("b"), end("c", .failure, "exit 3")] as [RunEvent.Kind] {
            view.report(RunEvent(sequence: 0, wallClock: 0, elapsed: .zero, kind: kind))
        }
        #expect(view.ids == ["a", "b", "c"])
        #expect(view.report(of: "a")?.outcome == .success && view.report(of: "d") == nil)
        let running = try #require(view.report(of: "b"))
        #expect(running.outcome == nil && view.report(of: "c")?.cause?.message == "exit 3")
    }
}
