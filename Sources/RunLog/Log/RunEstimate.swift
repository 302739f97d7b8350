import Basics

/// The expected course of a run: the duration of each step, and the work done by each moment.
///
/// Work is the sum of the steps' times: two steps at once for two seconds are four seconds of work. Progress is
/// measured by the work done and not by the clock, so that a late run does not count as finished.
package struct RunEstimate: Sendable {
    /// A step of the expected run, with its start and end in seconds since the start of the run.
    package struct Span: Sendable {
        let step: String
        let start: Double
        let finish: Double

        package init(step: String, start: Duration, finish: Duration) {
            self.step = step
            self.start = start / .seconds(1)
            self.finish = finish / .seconds(1)
        }
    }

    /// A moment at which a step starts or ends, and the work done by then.
    private struct Mark {
        let time: Double
        let work: Double
    }

    private let durations: [String: Double]
    /// Ordered by time, and so by work.
    private let marks: [Mark]

    /// O(n log n) in the number of spans, each of which must be of another step.
    package init(_ spans: [Span]) {
        durations = Dictionary(spans.map { ($0.step, $0.finish - $0.start) }) { first, _ in first }
        let changes = spans.flatMap { [($0.start, 1.0), ($0.finish, -1.0)] }.sorted { $0 < $1 }
        var marks: [Mark] = []
        var running = 0.0
        for (time, change) in changes {
            let last = marks.last ?? Mark(time: 0, work: 0)
            marks.append(Mark(time: time, work: last.work + running * (time - last.time)))
            running += change
        }
        self.marks = marks
    }

    /// Returns seconds; 0 for a step that the expected run does not have.
    func duration(of step: String) -> Double { durations[step] ?? 0 }

    /// Returns the time that the expected run still takes once it has done that much work. O(log n).
    func left(after work: Double) -> Duration {
        guard let end = marks.last, work < end.work else { return .zero }
        let next = max(1, marks.partitioningIndex { $0.work > work })
        let (from, to) = (marks[next - 1], marks[next])
        let time = from.time + (to.time - from.time) * max(0, work - from.work) / (to.work - from.work)
        return .seconds(end.time - time)
    }
}

/// The remaining time of a run, if it continues as expected.
struct RemainingTime {
    private let expected: () -> RunEstimate?
    private var hasAsked = false
    /// The steps that have ended before the first request for the remaining time.
    private var ended: [String] = []
    private var estimate: RunEstimate?
    /// The work of the steps that have ended, in seconds.
    private var done = 0.0

    /// `expected` is called once, by the first `left`, and may take a while.
    init(_ expected: @escaping () -> RunEstimate?) { self.expected = expected }

    /// Notes a step that has done its work, once for each step.
    mutating func noteEnd(of step: String) {
        if let estimate { done += estimate.duration(of: step) } else if !hasAsked { ended.append(step) }
    }

    /// Returns nil if unknown.
    mutating func left(_ running: [RunView.Command], at elapsed: Duration) -> Duration? {
        if !hasAsked {
            hasAsked = true
            estimate = expected()
            ended.forEach { noteEnd(of: $0) }
            ended = []
        }
        guard let estimate else { return nil }
        let underWay = running.compactMap { running in
            running.step.map { min((elapsed - running.start) / .seconds(1), estimate.duration(of: $0)) }
        }
        return estimate.left(after: done + underWay.reduce(0, +))
    }
}
