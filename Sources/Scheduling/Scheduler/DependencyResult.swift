/// The combined effect of all dependencies of a row after their ends.
enum DependencyResult {
    case run
    /// A dependency did not end as required, though nothing failed.
    case skip(OperationID)
    /// Something upstream failed, timed out or was cancelled.
    case ruleOut(OperationID)
}

extension OperationScheduler {
    /// Evaluates the ended dependencies of a row. Of several that rule it out, a failure is blamed first, then a
    /// timeout, then a cancel. If the row waits for all, its condition replaces its `.ok` dependencies, unless the
    /// condition was false.
    @inline(__always)  // A call would copy the scheduler.
    func dependencyResult(for id: OperationID, afterFalse: Bool = false) -> DependencyResult {
        let isLeftToCondition = has(id, .waitsForAll) && !afterFalse
        var skippedBy: OperationID?
        var blamed: (rank: Int, id: OperationID)?
        var (entries, late) = (needs[id], needs.lateEntries(of: id)[...])
        while true {
            for need in entries where !needs.isCut(need, of: id) {
                let outcome = states[need.other.row].outcome
                switch (need.kind, outcome) {
                case (.ok, _) where isLeftToCondition: continue
                case (.done, _), (.ok, .success), (.ok, .skipped), (.success, .success), (.failure, .failure),
                    (.failure, .timeout):
                    continue
                case (.ok, .failure) where has(need.other, .toleratesFailure),
                    (.ok, .timeout) where has(need.other, .toleratesFailure):
                    continue
                case (.success, .skipped), (.failure, .success), (.failure, .skipped):
                    skippedBy = skippedBy ?? need.other
                case (_, .failure): blame(need.other, 3)
                case (_, .timeout): blame(need.other, 2)
                case (_, .cancelled), (_, .notRun): blame(need.other, 1)
                }
            }
            if late.isEmpty { break }
            (entries, late) = (late, [])
        }
        if !isLeftToCondition, has(parent(of: id), .isSequence), let harm = harm(inSequenceBefore: id) {
            blame(harm.id, harm.rank)
        }
        func blame(_ id: OperationID, _ rank: Int) {
            if rank > blamed?.rank ?? 0 { blamed = (rank, id) }
        }
        if let blamed { return .ruleOut(blamed.id) }
        return skippedBy.map(DependencyResult.skip) ?? .run
    }

    /// The reason why nothing new starts in the group that encloses a row; nil if new rows may start.
    @inline(__always)  // A call would copy the scheduler.
    func drain(around id: OperationID) -> OperationCause? {
        id == .root || has(id, .isHook) ? nil : groups[parentGroup(of: id)].draining
    }

    /// True if something inside all these groups may be tried again: none of them is being stopped or drained.
    func mayRetry(_ id: OperationID) -> Bool {
        guard !isAborted else { return false }
        var next = id
        while let index = bodyGroupAround(&next) {
            if groups[index].verdict != nil || groups[index].draining != nil { return false }
        }
        return true
    }
}
