// The end of a group: its body, its hooks, its conclusion, perhaps another round.

extension OperationScheduler {
    /// Moves a group on whose current stage has nothing left to wait for.
    mutating func advance(_ id: OperationID) {
        let index = groupIndex(of: id)
        guard hasStarted(id) else {
            groups[index].stage = .over
            return finishGroup(id, mayRetry: false)
        }
        while true {
            switch groups[index].stage {
            case .body:
                cancelTimeout(id)
                groups[index].stage = .onFailure
                if let hook = graph.table.hooks[id]?.onFailure, begin(hook, isDue: hasFailed(index)) { return }
            case .onFailure:
                groups[index].stage = .finally
                if let hook = graph.table.hooks[id]?.finally, begin(hook, isDue: true) { return }
            case .finally:
                groups[index].stage = .concluding
                guard graph.table.groups[index].concludes else { continue }
                awaited += 1
                commands.append(.conclude(id, outcome(ofGroup: id).outcome))
                return
            case .concluding:
                groups[index].stage = .over
                return finishGroup(id, mayRetry: true)
            case .over:
                return
            }
        }
    }

    /// The hook that a group is waiting for.
    func currentHook(of id: OperationID) -> OperationID? {
        switch groups[groupIndex(of: id)].stage {
        case .onFailure: graph.table.hooks[id]?.onFailure
        case .finally: graph.table.hooks[id]?.finally
        case .body, .concluding, .over: nil
        }
    }

    /// Returns whether the hook's end is to be waited for.
    private mutating func begin(_ hook: OperationID, isDue: Bool) -> Bool {
        guard states[hook.row].phase != .finished else { return false }
        let group = groups[parentGroup(of: hook)]
        if isAborted {
            settle(hook, verdict: .cancelled, cause: .request)
        } else if let stop = group.verdict, !group.hasBegun, group.ends.failure == nil {
            // There is nothing to clean up.
            settle(hook, verdict: .cancelled, cause: stop.cause)
        } else if isDue {
            consider(hook)
        } else {
            settle(hook, verdict: .skipped, cause: .condition)
        }
        return true
    }

    /// An answer to `conclude`, or to an `expand` that failed.
    mutating func answer(_ id: OperationID, _ outcome: OperationOutcome, _ mayRetry: Bool) {
        let index = groupIndex(of: id)
        awaited -= 1
        if groups[index].isExpanding {
            groups[index].isExpanding = false
            groups[index].hasFailedToExpand = outcome == .failure && groups[index].verdict == nil
            groups[index].unfinishedMembers -= 1
            if groups[index].unfinishedMembers == 0 { advance(id) }
        } else {
            precondition(groups[index].stage == .concluding, "\(id) was not asked for anything")
            groups[index].stage = .over
            finishGroup(id, mayRetry: mayRetry, concluded: outcome)
        }
    }

    private mutating func finishGroup(
        _ id: OperationID, mayRetry: Bool, concluded: OperationOutcome = .success
    ) {
        let index = groupIndex(of: id)
        var (outcome, cause) = outcome(ofGroup: id)
        if outcome == .success, concluded == .failure { (outcome, cause) = (.failure, .itself) }
        let isCancelled = groups[index].verdict?.cause == .request
        if outcome == .failure || outcome == .timeout, mayRetry, !isCancelled, retry(id, after: outcome, cause) {
            return
        }
        finish(id, outcome, cause)
    }

    private func hasFailed(_ index: Int) -> Bool {
        let group = groups[index]
        return group.hasFailedToExpand || group.ends.failure != nil || group.ends.timeout != nil
            || group.verdict?.outcome == .timeout
    }

    /// What the ends of body and hooks make of a group: failure before timeout before cancel before a member that
    /// something outside ruled out before success, and the body's before a hook's.
    private func outcome(ofGroup id: OperationID) -> (outcome: OperationOutcome, cause: OperationCause) {
        let group = groups[groupIndex(of: id)]
        let hooks = hookEnds.isEmpty ? nil : hookEnds[id]
        if !hasStarted(id), let verdict = group.verdict { return verdict }
        if let member = group.ends.failure { return (.failure, .member(member)) }
        if group.hasFailedToExpand { return (.failure, .itself) }
        if let hook = hooks?.failure { return (.failure, .member(hook)) }
        if let verdict = group.verdict, verdict.outcome == .timeout { return verdict }
        if let member = group.ends.timeout { return (.timeout, .member(member)) }
        if let hook = hooks?.timeout { return (.timeout, .member(hook)) }
        if let verdict = group.verdict { return (.cancelled, verdict.cause) }
        if let member = group.ends.cancelled ?? hooks?.cancelled { return (.cancelled, .member(member)) }
        if let member = group.ends.notRun { return (.notRun, .member(member)) }
        return (.success, .itself)
    }
}
