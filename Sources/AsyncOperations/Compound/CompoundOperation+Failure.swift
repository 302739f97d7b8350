extension CompoundOperation {
    /// The members that did not succeed. Each is in exactly one list, in the order in which they ended.
    public struct Failure: Error, Sendable {
        /// The name of the compound operation; empty if it has none.
        public let name: String
        /// Members that failed or timed out by themselves. A compound operation among them counts once; the `error` of
        /// its report has its own lists. Members that only reacted to being stopped are in `cancelled`.
        public let errors: [OperationReport]
        /// Members that failed or timed out, and whose options say that this is tolerated.
        public let tolerated: [OperationReport]
        /// Members that a request to cancel reached, whether they had started or not.
        public let cancelled: [OperationReport]
        /// Members that did not run because of how others ended.
        public let notRun: [OperationReport]

        init(name: String, reports: [OperationReport]) {
            self.name = name
            errors = reports.filter { $0.isFailed && !$0.isTolerated }
            tolerated = reports.filter { $0.isFailed && $0.isTolerated }
            cancelled = reports.filter { $0.outcome == .cancelled }
            notRun = reports.filter { $0.outcome == .notRun || $0.outcome == .skipped }
        }

        /// The errors at any depth, without the compound operations that only pass them on. Those of each compound
        /// operation are in the order in which they ended, and their names begin with the names of what is around
        /// them.
        public var leaves: [OperationReport] {
            var leaves: [OperationReport] = []
            var pending = Array(errors.reversed())
            while let next = pending.popLast() {
                if let inner = next.error as? Self, !inner.errors.isEmpty {
                    pending += inner.errors.reversed().map { OperationReport($0, inside: next) }
                } else {
                    leaves.append(next)
                }
            }
            return leaves
        }
    }
}

extension CompoundOperation.Failure: CustomStringConvertible {
    /// The name and how many members did not succeed, then each of the `leaves` on a line of its own:
    ///
    ///     `nightly`: 2 failed, 1 not run
    ///         compute: Overflow()
    ///         upload.parts: timed out after 10.0 seconds
    public var description: String {
        ([name.isEmpty ? account : "`\(name)`: \(account)"] + leaves.map { "    \($0)" }).joined(separator: "\n")
    }

    /// How many members did not succeed.
    var account: String {
        let counts = [
            (errors.count, "failed"), (tolerated.count, "failed and tolerated"), (cancelled.count, "cancelled"),
            (notRun.count, "not run"),
        ]
        let words = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return words.isEmpty ? "no member failed" : words.joined(separator: ", ")
    }
}
