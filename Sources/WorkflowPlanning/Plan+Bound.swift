import SourceDiagnostics
import WorkflowModel

/// How long a run can take at most, as far as its timeouts tell.
package enum RunBound: Sendable, Hashable {
    case atMost(Duration)
    /// The reason says which step can go on for ever.
    case none(reason: String)
}

extension Plan {
    /// The worst case with so many steps at once: every step takes its whole timeout and then its whole grace.
    ///
    /// With L the longest chain and W the sum of all steps, a scheduler that never lets a slot idle beside a ready step
    /// ends within L + (W - L) / jobs (Graham, Bounds on multiprocessing timing anomalies, 1969). A `max-parallel` inside
    /// the workflow breaks the premise; then only W is sure. The workflow's own timeout is a bound as well.
    package func bound(jobs: Int) -> RunBound {
        let top = workflow[.root].settings
        let graces = gracesByDefinition()
        var unlimited: Int?
        var longestGrace = Duration.zero
        var lengths = [Int](repeating: 0, count: nodes.count)
        for row in nodes.indices where nodes[row].role == .step {
            let definition = nodes[row].definition
            longestGrace = max(longestGrace, graces[definition.row])
            if let timeout = workflow[definition].settings?.timeout?.duration ?? workflow.defaults.timeout {
                lengths[row] = (timeout + graces[definition.row]).millisecondsRoundedUp
            } else if unlimited == nil {
                unlimited = row
            }
        }
        let whole = top?.timeout.map { $0.duration + longestGrace }
        if let unlimited {
            return whole.map(RunBound.atMost)
                ?? .none(reason: "`\(nodes[unlimited].id)` at \(place(of: unlimited)) has no `timeout`")
        }
        let sum = lengths.reduce(0, +)
        var bound = sum
        if !hasInnerLimit {
            let slots = max(1, min(jobs, top?.maxParallel ?? jobs))
            let longest = longestPath { lengths[$0] }
            bound = longest + (sum - longest + slots - 1) / slots
        }
        return .atMost(min(.milliseconds(bound), whole ?? .milliseconds(bound)))
    }

    /// `FILE:LINE` of a row's definition.
    package func place(of row: Int) -> String { "\(workflow.file.name):\(line(of: row))" }

    /// The line of a row's definition.
    package func line(of row: Int) -> Int { workflow.file.line(at: workflow[nodes[row].definition].range.lowerOffset) }

    private var hasInnerLimit: Bool { workflow.nodes.dropFirst().contains { $0.settings?.maxParallel != nil } }

    private func gracesByDefinition() -> [Duration] {
        var graces = [Duration](repeating: workflow.defaults.grace ?? Defaults.grace, count: workflow.nodes.count)
        for row in workflow.nodes.indices.dropFirst() {
            graces[row] = workflow.nodes[row].settings?.grace ?? graces[workflow.nodes[row].parent.row]
        }
        return graces
    }
}

extension Duration {
    /// A thousand days of a million steps still fit.
    fileprivate var millisecondsRoundedUp: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
