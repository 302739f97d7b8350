package import Planning
internal import Scheduling
internal import Workflow

/// How long a run can take at most, as far as its timeouts tell.
package enum RunBound: Sendable, Hashable {
    case atMost(Duration)
    /// The reason names what can go on without end.
    case none(reason: String)
}

/// The longest time of a run, and its parts.
package struct LongestRun: Sendable {
    package let bound: RunBound
    /// The longest chain of rows of the outline that wait for one another, with the longest time of each, all attempts
    /// and rounds together. A group represents its members if its own limit counts, or stands for the delays between
    /// its rounds. Empty without a bound.
    package let chain: [(row: PlanIndex, length: Duration)]
    /// The time that the commands of `vars` may add.
    package let sharedValues: Duration
    /// The time that the chain may wait for slots, places and locks.
    package var waits: Duration {
        guard case .atMost(let bound) = bound else { return .zero }
        return max(.zero, bound - sharedValues - chain.reduce(.zero) { $0 + $1.length })
    }
}

extension Plan {
    /// The longest time of a lone run with so many steps at once: it waits for no other run and for no token, and is
    /// never paused. A fan-out whose items only the run knows counts with `items` instances; nil for as many as it may
    /// have. Without `known`, for any values of the parameters; the theorem is in <doc:Bound>.
    package func bound(jobs: Int, items: Int? = nil, known: KnownValues? = nil) -> RunBound {
        longestRun(jobs: jobs, items: items, known: known).bound
    }

    /// The same with its parts.
    package func longestRun(jobs: Int, items: Int? = nil, known: KnownValues? = nil) -> LongestRun {
        let outline = self.outline
        func none(_ reason: String) -> LongestRun {
            LongestRun(bound: .none(reason: reason), chain: [], sharedValues: .zero)
        }
        if let known, let missing = workflow.parameters.first(where: { $0.isRequired && !known.has($0.name) }) {
            return none("the parameter `\(missing.name)` has no value")
        }
        var locks = RunLocks()
        let graph = OperationGraph(outline, options: RunOptions(), locks: &locks)
        let longest = LongestTimes(outline, items: items, known: known)
        let bound = TimeBound(graph, width: max(1, jobs), costs: longest.costs)
        if let row = bound.unlimited?.planIndex {
            let place = "`\(outline.nodes[row].id)` at \(outline.place(of: row))"
            return none(
                longest.asks(row)
                    ? "\(place) asks before it starts (`confirm`), and may wait for the answer forever"
                    : "\(place) has no `timeout`")
        }
        guard bound.total.isFinite else {
            guard let value = longest.unlimitedValue else { return none("it cannot be counted") }
            let (file, line) = workflow.place(of: value)
            return none("`vars.\(workflow[value].name)` at \(file):\(line) has no `timeout`")
        }
        // Larger numbers of milliseconds are no longer exact.
        guard bound.total < 9e15 else { return none("retries and fan-outs add up to more than can be counted") }
        let values = min(longest.costs.once, bound.total)
        return LongestRun(
            bound: .atMost(.rounded(bound.total)),
            chain: bound.chain.map { ($0.row.planIndex, .rounded($0.length)) }, sharedValues: .rounded(values))
    }
}

extension Duration {
    fileprivate static func rounded(_ milliseconds: Double) -> Duration {
        .milliseconds(Int(min(milliseconds, 9e15).rounded(.up)))
    }
}
