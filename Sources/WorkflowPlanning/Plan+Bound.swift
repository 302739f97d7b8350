import SourceDiagnostics
import WorkflowModel

/// How long a run can take at most, as far as its timeouts tell.
package enum RunBound: Sendable, Hashable {
    case atMost(Duration)
    /// The reason says what can go on for ever.
    case none(reason: String)
}

extension Plan {
    /// The worst case with so many steps at once: every step takes its whole timeout and then its whole grace, in every
    /// attempt and every round of a retried group, and all hooks run. A fan-out whose items only the run knows counts
    /// with `items` instances, nil for as many as it may have.
    ///
    /// With L the longest chain and W the sum of all steps, a scheduler that never lets a slot idle beside a ready step
    /// ends within L + (W - L) / jobs (Graham, Bounds on multiprocessing timing anomalies, 1969), delays between attempts
    /// included: a step that waits for its next attempt goes on like one that runs. A `max-parallel` inside the workflow,
    /// a pool or a mutex breaks the premise; then only W is sure. While a group waits for its next round nothing of it
    /// goes on, so that these delays come on top. The workflow's own timeout, and what its hooks and those of the groups
    /// in it take after it, is a bound as well.
    package func bound(jobs: Int, items: Int? = nil) -> RunBound {
        let outline = self.outline
        let lengths = StepLengths(outline, items: items)
        let whole = timeout(of: 0).map { $0.milliseconds + lengths.longestGrace + lengths.hooks }
        if whole == nil, let unlimited = lengths.unlimited {
            let node = outline.nodes[unlimited]
            return .none(reason: "`\(node.id)` at \(outline.place(of: unlimited)) has no `timeout`")
        }
        var bound = lengths.unlimited == nil ? lengths.steps + lengths.delays : Double.infinity
        // Beyond that, milliseconds are no longer exact.
        let exact = 9e15
        if bound < exact, !mayIdle {
            let slots = max(1, min(jobs, maxParallel(of: 0) ?? jobs))
            let sum = Int(lengths.steps)
            let longest = outline.longestPath { Int(lengths.byRow[$0]) }
            bound = Double(longest + (sum - longest + slots - 1) / slots) + lengths.delays
        }
        bound = min(bound, whole ?? bound)
        guard bound < exact else {
            return .none(reason: "what retries and fan-outs come to is longer than can be counted")
        }
        return .atMost(.milliseconds(Int(bound.rounded(.up))))
    }

    /// `FILE:LINE` of a row's definition.
    package func place(of row: Int) -> String { "\(workflow.file.name):\(line(of: row))" }

    /// The line of a row's definition.
    package func line(of row: Int) -> Int { workflow.file.line(at: workflow[nodes[row].definition].range.lowerOffset) }

    /// Whether a slot may stay free although a step is ready.
    private var mayIdle: Bool {
        workflow.nodes.dropFirst().contains { node in
            guard let settings = node.settings else { return false }
            return settings.maxParallel != nil || !settings.pools.isEmpty || !settings.mutexes.isEmpty
        }
    }
}
