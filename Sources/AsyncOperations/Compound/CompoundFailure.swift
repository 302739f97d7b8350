/// What went wrong in a compound operation: each member that did not succeed stands in exactly one list, in the order in
/// which they ended.
public struct CompoundFailure: Error, Sendable {
    /// The name of the compound operation.
    public let name: String
    /// Members that failed or timed out by themselves. A compound operation among them counts once; its own lists are
    /// its report's `error`. Members that only reacted to being stopped are not here.
    public let errors: [ChildReport]
    /// Failures that the compound operation does not mind.
    public let tolerated: [ChildReport]
    /// Members that a request to cancel reached, started or not.
    public let cancelled: [ChildReport]
    /// Members that had no reason or no chance to start.
    public let notRun: [ChildReport]

    init(name: String, reports: [ChildReport]) {
        self.name = name
        errors = reports.filter { $0.isFailed && !$0.isTolerated }
        tolerated = reports.filter { $0.isFailed && $0.isTolerated }
        cancelled = reports.filter { $0.outcome == .cancelled }
        notRun = reports.filter { $0.outcome == .notRun || $0.outcome == .skipped }
    }

    /// All errors at any depth that are not themselves lists of errors, in the order of their ends within each list,
    /// with the names of what is around them.
    public var leaves: [ChildReport] {
        var leaves: [ChildReport] = []
        var pending = Array(errors.reversed())
        while let next = pending.popLast() {
            if let inner = next.error as? CompoundFailure, !inner.errors.isEmpty {
                pending += inner.errors.reversed().map { ChildReport($0, inside: next) }
            } else {
                leaves.append(next)
            }
        }
        return leaves
    }
}
