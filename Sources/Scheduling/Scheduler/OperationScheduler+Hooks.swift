// The end of a group: its body, its hooks, its conclusion, and possibly another round.

extension OperationScheduler {
    /// Moves on a group whose current stage has nothing left to wait for.
    mutating func advance(_ id: OperationID) {
        let index = groupIndex(of: id)
        guard hasStarted(id) else {
            guard isBetweenAttempts(id), groups[index].stage != .owing else {
                groups[index].stage = .over
                return finishGroup(id, mayRetry: false)
            }
            groups[index].verdict = nil
            return endBetweenRounds(id)
        }
        while true {
            switch groups[index].stage {
            case .body:
                cancelTimeout(id)
                holdLastRound(id)
                groups[index].stage = .weighing
                guard owedHook(of: id) != nil, hasFailed(index), mayFollow(id, after: outcome(ofGroup: id).outcome)
                else { continue }
                guard graph.table.groups[index].concludes else {
                    groups[index].stage = .onFailure
                    continue
                }
                awaited += 1
                commands.append(.weigh(id, outcome(ofGroup: id).outcome))
                return
            case .weighing:
                groups[index].stage = .onFailure
                guard let hook = owedHook(of: id) else { continue }
                // The hook runs once, with whatever outcome.
                if hasFailed(index) { progress[id]?.isOver = true }
                if begin(hook, isDue: hasFailed(index)) { return }
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
            case .owing:
                groups[index].stage = .over
                return finishGroup(id, mayRetry: false)
            case .over:
                return
            }
        }
    }

    /// The hook that a group waits for; nil if it waits for none.
    func currentHook(of id: OperationID) -> OperationID? {
        switch groups[groupIndex(of: id)].stage {
        case .onFailure, .owing: graph.table.hooks[id]?.onFailure
        case .finally: graph.table.hooks[id]?.finally
        case .body, .weighing, .concluding, .over: nil
        }
    }

    /// The `onFailure` hook, if it has not ended.
    private func owedHook(of id: OperationID) -> OperationID? {
        graph.table.hooks[id]?.onFailure.flatMap { states[$0.row].phase == .finished ? nil : $0 }
    }

    /// Ends a group that waits for its next round with the outcome of the last one. First runs the `onFailure` hook,
    /// which was postponed until the last round.
    mutating func endBetweenRounds(_ id: OperationID) {
        let index = groupIndex(of: id)
        groups[index].last = (states[id.row].outcome, states[id.row].cause)
        progress[id]?.isOver = true
        guard let hook = owedHook(of: id) else {
            groups[index].stage = .over
            return finishGroup(id, mayRetry: false)
        }
        groups[index].stage = .owing
        if isAborted {
            settle(hook, verdict: .cancelled, cause: .request, reach: .everything)
        } else if states[id.row].phase == .backingOff {
            deadlines.cancel(id, .backoff)
            becomeReady(id)
        } else {
            // A stop may have removed it from its queue.
            enqueue(id)
        }
    }

    /// Starts the postponed hook once the wait for another round is called off.
    mutating func beginOwedHook(of id: OperationID) {
        commands.append(.groupResumed(id))
        guard let hook = owedHook(of: id), begin(hook, isDue: true) else { return advance(id) }
    }

    /// Starts, cancels or skips a hook. Returns true if its end must be awaited.
    private mutating func begin(_ hook: OperationID, isDue: Bool) -> Bool {
        guard states[hook.row].phase != .finished else { return false }
        if isAborted {
            settle(hook, verdict: .cancelled, cause: .request)
        } else if let cause = stopBeforeWork(for: hook) {
            settle(hook, verdict: .cancelled, cause: cause)
        } else if isDue {
            consider(hook)
        } else {
            settle(hook, verdict: .skipped, cause: .condition)
        }
        return true
    }

    /// Ends a group as its last round did if it was stopped or drained before any work in the current round had
    /// begun: as if it still waited for the round.
    private mutating func holdLastRound(_ id: OperationID) {
        let index = groupIndex(of: id)
        let group = groups[index]
        guard let held = progress[id]?.held, !group.hasBegun, group.ends.failure == nil, group.ends.timeout == nil,
            !group.hasFailedToExpand,
            group.verdict?.outcome == .cancelled || group.draining != nil && group.ends.notRun != nil
        else { return }
        groups[index].last = held
        progress[id]?.isOver = true
    }

    /// Returns the cause of a stop that came before any work in the body of the hook's group had begun: in this round
    /// or, for `onFailure`, in all rounds. nil if there is something to clean up.
    private func stopBeforeWork(for hook: OperationID) -> OperationCause? {
        let group = groups[parentGroup(of: hook)]
        guard !group.hasBegun, group.ends.failure == nil, !group.hasFailedToExpand else { return nil }
        let owner = parent(of: hook)
        if graph.table.hooks[owner]?.onFailure == hook, progress[owner]?.held != nil { return nil }
        return group.verdict?.cause ?? group.last.map { group.draining ?? $0.cause }
    }

    /// Handles the answer to `weigh` or `conclude`, or to an `expand` that failed.
    mutating func answer(_ id: OperationID, _ outcome: OperationOutcome, _ mayRetry: Bool) {
        let index = groupIndex(of: id)
        awaited -= 1
        if groups[index].isExpanding {
            groups[index].isExpanding = false
            groups[index].hasFailedToExpand = outcome == .failure && groups[index].verdict == nil
            groups[index].unfinishedMembers -= 1
            considerEnd(ofBody: id)
        } else if groups[index].stage == .weighing {
            if mayRetry, mayFollow(id, after: self.outcome(ofGroup: id).outcome) { groups[index].stage = .onFailure }
            advance(id)
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
        if mayRetry, !isCancelled(index), outcome == .failure || outcome == .timeout, retry(id, after: outcome, cause) {
            return
        }
        // The hook was postponed for a round that does not follow.
        if hasStarted(id), let hook = owedHook(of: id) {
            groups[index].stage = .owing
            progress[id]?.isOver = true
            if begin(hook, isDue: true) { return }
        }
        finish(id, outcome, cause)
    }

    private func isCancelled(_ index: Int) -> Bool { groups[index].verdict?.cause == .request }

    /// True if another round may follow this outcome, as far as can be known before the current one ends.
    private func mayFollow(_ id: OperationID, after outcome: OperationOutcome) -> Bool {
        !isCancelled(groupIndex(of: id)) && mayRetry(id, after: outcome)
    }

    private func hasFailed(_ index: Int) -> Bool {
        let group = groups[index]
        return group.last != nil || group.hasFailedToExpand || group.ends.failure != nil || group.ends.timeout != nil
            || group.verdict?.outcome == .timeout
    }

    /// Computes the outcome of a group from the ends of its body and hooks. Failure comes before timeout, cancel, a
    /// member that something outside ruled out, and success; within one kind, the body comes before hooks.
    private func outcome(ofGroup id: OperationID) -> (outcome: OperationOutcome, cause: OperationCause) {
        let group = groups[groupIndex(of: id)]
        let hooks = hookEnds.isEmpty ? nil : hookEnds[id]
        if let last = group.last {
            if last.outcome == .timeout, let hook = hooks?.failure { return (.failure, .member(hook)) }
            return last
        }
        if !hasStarted(id), let verdict = group.verdict { return verdict }
        if let member = group.ends.failure { return (.failure, .member(member)) }
        if group.hasFailedToExpand { return (.failure, .itself) }
        if let hook = hooks?.failure { return (.failure, .member(hook)) }
        if let verdict = group.verdict, verdict.outcome == .timeout { return verdict }
        if let member = group.ends.timeout { return (.timeout, .member(member)) }
        if let hook = hooks?.timeout { return (.timeout, .member(hook)) }
        if let verdict = group.verdict { return (.cancelled, verdict.cause) }
        if let member = group.ends.cancelled ?? hooks?.cancelled { return (.cancelled, .member(member)) }
        if let verdict = judgement(of: id) { return verdict }
        if let member = group.ends.notRun { return (.notRun, .member(member)) }
        return (.success, .itself)
    }
}

// Members that join while the graph runs.

/// Rows that became members of a group after all others.
struct Addition: Sendable {
    var rows: Range<Int>
    /// True if they answer an `expand`: the next round then asks for new ones.
    let isExpansion: Bool
}

extension OperationScheduler {
    /// Applies the answer to `expand`. O(rows and edges of the expansion).
    mutating func expand(_ id: OperationID, _ expansion: OperationGraph) {
        let index = groupIndex(of: id)
        precondition(groups[index].isExpanding, "\(id) was not asked for its members")
        groups[index].isExpanding = false
        awaited -= 1
        join(expansion, to: id, isExpansion: true)
        groups[index].unfinishedMembers -= 1
        considerEnd(ofBody: id)
    }

    /// Moves on a group that waited for something besides its members: to the end of its body if no member is left,
    /// or to a verdict on the members whose conditions are false.
    mutating func considerEnd(ofBody id: OperationID) {
        if groups[groupIndex(of: id)].unfinishedMembers == 0 {
            advance(id)
        } else if has(id, .judgesMembers) {
            judge(id)
        }
    }

    /// Adds members to an open or running group.
    mutating func add(_ expansion: OperationGraph, to id: OperationID) {
        join(expansion, to: id, isExpansion: false)
    }

    private mutating func join(_ expansion: OperationGraph, to id: OperationID, isExpansion: Bool) {
        graph.append(expansion, to: id)
        addState(of: expansion.table)
        for edge in expansion.table.edges {
            awaitForPlaces(edge.prerequisite, for: edge.dependent, joinedAt: expansion.rows.lowerBound)
        }
        groups[groupIndex(of: id)].note(Addition(rows: expansion.rows, isExpansion: isExpansion))
        var walk = RowWalk(expansion.rows)
        while let member = walk.next(graph.table.rows) { admit(member, to: id, isExpansion: isExpansion) }
    }

    /// Adds one operation without building a graph. O(dependencies).
    mutating func add(
        _ options: OperationGraph.Options, to group: OperationID, needs: [(OperationID, DependencyKind)]
    ) {
        let id = graph.table.append(options, to: group)
        addState(of: id, options.locks, needs)
        for (need, _) in needs { awaitForPlaces(need, for: id, joinedAt: id.row) }
        groups[groupIndex(of: group)].note(Addition(rows: id.row..<id.row + 1, isExpansion: false))
        admit(id, to: group, isExpansion: false)
    }

    /// Lets a row that joined a group go on, or ends it as the group ends.
    private mutating func admit(_ member: OperationID, to id: OperationID, isExpansion: Bool) {
        let index = groupIndex(of: id)
        // If an enclosing group is tried again, it is a member of the next round too.
        if !isExpansion { graph.addMembers(1, toGroup: index) }
        let isWaiting = groups[index].stage == .body || isBetweenAttempts(id)
        guard isExpansion || isWaiting, states[id.row].phase != .finished else {
            return settle(member, verdict: .cancelled, cause: .request)
        }
        groups[index].unfinishedMembers += 1
        if let verdict = groups[index].verdict {
            settle(member, verdict: verdict.outcome == .timeout ? .cancelled : verdict.outcome, cause: verdict.cause)
        } else {
            consider(member)
        }
    }

    /// Closes an open group.
    mutating func close(_ id: OperationID) {
        let index = groupIndex(of: id)
        guard groups[index].isOpen else { return }
        shut(index)
        if hasStarted(id) { considerEnd(ofBody: id) }
    }

    /// Marks a group as closed. The caller moves it on.
    mutating func shut(_ index: Int) {
        guard groups[index].isOpen else { return }
        groups[index].isOpen = false
        openGroups -= 1
        groups[index].unfinishedMembers -= 1
    }
}
