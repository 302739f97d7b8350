// From executing to finished: ends, stops, limits of time, and what they mean for groups and dependents.

extension OperationScheduler {
    /// The work of a started operation is over.
    mutating func end(_ id: OperationID, as reported: OperationOutcome) {
        let state = states[id.row]
        switch state.phase {
        case .executing:
            finish(id, reported, .itself)
        case .stopping:
            // The request came first, so it decides, whatever the work answered (research/seeds.md, C10).
            finish(id, state.cause == .deadline(id) ? .timeout : .cancelled, state.cause)
        case .blocked, .ready, .finished:
            preconditionFailure("\(id) ended while \(state.phase)")
        }
    }

    /// A limit of time has passed.
    mutating func expire(_ id: OperationID) {
        stop(id, verdict: .timeout, cause: .deadline(id))
    }

    /// Stops one operation, or a group with everything inside. The first cause stays.
    mutating func stop(_ id: OperationID, verdict: OperationOutcome, cause: OperationCause) {
        guard states[id.row].phase != .finished else { return }
        if graph.table.rows[id.row].isGroup {
            let index = graph.table.rows[id.row].group
            guard groups[Int(index)].verdict == nil else { return }
            commands.append(.groupStopping(id, cause))
        }
        settle(id, verdict: verdict, cause: cause)
    }

    /// Decides a whole subtree: what runs is told to stop, what waits ends at once. Members of a timed-out group are
    /// cancelled; members of a skipped or not-run group share its outcome.
    mutating func settle(_ id: OperationID, verdict: OperationOutcome, cause: OperationCause) {
        let memberVerdict = verdict == .timeout ? OperationOutcome.cancelled : verdict
        for row in id.row..<Int(graph.table.rows[id.row].subtreeEnd) {
            let member = OperationID(row)
            let isWaiting = states[row].phase == .blocked || states[row].phase == .ready
            if graph.table.rows[row].isGroup {
                let index = graph.table.rows[row].group
                guard states[row].phase != .finished, groups[Int(index)].verdict == nil else { continue }
                groups[Int(index)].verdict = (member == id ? verdict : memberVerdict, cause)
                if states[row].phase == .executing { states[row].phase = .stopping }
                if groups[Int(index)].unfinishedMembers == 0 { finishGroup(member) }
            } else if isWaiting {
                finish(member, memberVerdict, cause)
            } else if states[row].phase == .executing {
                states[row].phase = .stopping
                states[row].cause = cause
                commands.append(.stop(member, cause))
            }
        }
    }

    /// Tells groups and dependents of everything that has ended, then fills free slots.
    mutating func settle() {
        var next = 0
        repeat {
            while next < ended.count {
                let id = ended[next]
                next += 1
                if id != .root { noteEnd(of: id) }
                // Also where it held nothing: it may have been let out of a limit's queue, and somebody else takes
                // that place. Not before now, when whatever is to be stopped has been.
                releaseParked(around: id)
                for edge in dependents[id.row] {
                    states[edge.other.row].pendingNeeds -= 1
                    consider(edge.other)
                }
            }
            dispatch()
        } while next < ended.count
        ended.removeAll(keepingCapacity: true)
    }

    mutating func finishGroup(_ id: OperationID) {
        let index = Int(graph.table.rows[id.row].group)
        let group = groups[index]
        if let verdict = group.verdict, verdict.outcome == .skipped || verdict.outcome == .notRun {
            finish(id, verdict.outcome, verdict.cause)
        } else if let member = group.firstFailure {
            finish(id, .failure, .member(member))
        } else if let verdict = group.verdict, verdict.outcome == .timeout {
            finish(id, .timeout, verdict.cause)
        } else if let member = group.firstTimeout {
            finish(id, .timeout, .member(member))
        } else if let verdict = group.verdict {
            finish(id, .cancelled, verdict.cause)
        } else if let member = group.firstCancelled {
            finish(id, .cancelled, .member(member))
        } else {
            finish(id, .success, .itself)
        }
    }

    private mutating func finish(_ id: OperationID, _ outcome: OperationOutcome, _ cause: OperationCause) {
        let phase = states[id.row].phase
        states[id.row].phase = .finished
        states[id.row].outcome = outcome
        states[id.row].cause = cause
        commands.append(.finished(id, outcome, cause))
        ended.append(id)
        switch phase {
        case .executing, .stopping:
            deadlines.cancel(id)
            releaseSlots(of: id)
        case .blocked, .ready, .finished:
            break
        }
    }

    private mutating func noteEnd(of id: OperationID) {
        let index = parentGroup(of: id)
        let outcome = states[id.row].outcome
        let isTolerated = graph.table.rows[id.row].flags.contains(.toleratesFailure)
        switch outcome {
        case .failure where !isTolerated:
            groups[index].firstFailure = groups[index].firstFailure ?? id
        case .timeout where !isTolerated:
            groups[index].firstTimeout = groups[index].firstTimeout ?? id
        case .cancelled:
            groups[index].firstCancelled = groups[index].firstCancelled ?? id
        case .success, .failure, .timeout, .skipped, .notRun:
            break
        }
        if !isTolerated, outcome == .failure || outcome == .timeout { failFast(after: id) }
        groups[index].unfinishedMembers -= 1
        let group = graph.table.groups[index].id
        if groups[index].unfinishedMembers == 0, states[group.row].phase != .finished { finishGroup(group) }
    }

    /// Applies the policy of the nearest group around a failed operation that has one. It never reaches further out by
    /// itself: that group's own end is what the next one hears of. A group that tolerates its failure stops it too.
    private mutating func failFast(after id: OperationID) {
        var next = id
        while let index = groupAround(&next) {
            switch graph.table.groups[index].failFast {
            case .off: return
            case .cancel: return stop(next, verdict: .cancelled, cause: .failFast(id))
            case .drain: return drain(next, after: id)
            case nil: if graph.table.rows[next.row].flags.contains(.toleratesFailure) { return }
            }
        }
    }

    /// Nothing new starts in the group: what is ready ends now, what is blocked when its needs have ended.
    private mutating func drain(_ group: OperationID, after id: OperationID) {
        let index = graph.table.rows[group.row].group
        guard groups[Int(index)].draining == nil else { return }
        groups[Int(index)].draining = .failFast(id)
        for row in group.row + 1..<Int(graph.table.rows[group.row].subtreeEnd) where states[row].phase == .ready {
            settle(OperationID(row), verdict: .notRun, cause: .failFast(id))
        }
    }
}
