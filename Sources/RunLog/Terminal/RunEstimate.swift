import Basics

/// What a run is expected to do: how long each step takes, and how much work is done at which moment of it.
///
/// Work is the time that steps take, added up: two seconds with two of them at once are four seconds of it. Where a run
/// stands is told by the work that it has done and not by its clock, so that one that is late is not told to be over.
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

    /// A moment at which a step starts or ends, and the work that is done by then.
    private struct Mark {
        let time: Double
        let work: Double
    }

    private let durations: [String: Double]
    /// In the order of time, and so of work.
    private let marks: [Mark]

    /// O(n log n) in the number of spans, of which no two are of one step.
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

    /// In seconds; 0 for a step that the expected run does not have.
    func duration(of step: String) -> Double { durations[step] ?? 0 }

    /// How long the expected run takes from the moment on at which it has done so much work. O(log n).
    func left(after work: Double) -> Duration {
        guard let end = marks.last, work < end.work else { return .zero }
        let next = max(1, marks.partitioningIndex { $0.work > work })
        let (from, to) = (marks[next - 1], marks[next])
        let time = from.time + (to.time - from.time) * max(0, work - from.work) / (to.work - from.work)
        return .seconds(end.time - time)
    }
}
