// Ends of operations, and their effect on enclosing operations. Under the queue's lock.

extension QueueCore {
    func finish(_ row: OperationID, _ outcome: OperationOutcome, _ cause: OperationCause, _ state: inout State) {
        switch state.entries[row.row] {
        case .operation(let core):
            let end = end(of: core, outcome, cause, &state)
            if state.hasRetriedCompounds, core.outermostRetried != nil {
                return settle(core, Place(queue: self, row: row), end, &state)
            }
            if state.hasRetriedCompounds, let compound = core as? CompoundCore { finishMembers(of: compound, &state) }
            announce(.finished(outcome), of: core.id, &state)
            record(end, core.id, row, &state)
            finish(core, end, &state)
        case .standIn(let standIn):
            leave(standIn, &state)
            record(standIn.core.end ?? .success, standIn.core.id, row, &state)
        case .nothing, .ended: break
        }
    }

    /// Stores the end of a row, unless it is a success, which is never a cause.
    func record(_ end: OperationEnd, _ id: AsyncOperationID, _ row: OperationID, _ state: inout State) {
        state.entries[row.row] = end == .success ? .nothing : .ended(EndRecord(id, end))
    }

    /// Ends an operation for good.
    func finish(_ core: OperationCore, _ end: OperationEnd, _ state: inout State) {
        guard let parent = core.parent else {
            let (hasListeners, needs) = core.setEnd(end)
            free(needs, &state)
            let isCounted = !hasListeners || !core.hasCompletions
            if isCounted { state.countEnded() }
            return tell(core, end, hasListeners, isCounted: isCounted, &state)
        }
        let (hasListeners, isCounted, isLast, needs) = parent.withMembers { _, members in
            members.ended.append(core)
            let (hasListeners, needs) = core.setEnd(end)
            // While its completions run, they may still add siblings.
            let isCounted = !hasListeners || !core.hasCompletions
            if isCounted { members.unfinished -= 1 }
            return (hasListeners, isCounted, isCounted && members.unfinished == 0, needs)
        }
        free(needs, &state)
        if isLast { closeIfEmpty(parent, &state) }
        tell(core, end, hasListeners, isCounted: isCounted, &state)
    }

    /// Releases the dependencies of an operation that has ended for good.
    func free(_ needs: NeedList?, _ state: inout State) {
        guard let needs else { return }
        if needs.hasStandIns { release(needs.all, &state) }
        state.garbage.append(needs)
    }

    private func tell(
        _ core: OperationCore, _ end: OperationEnd, _ hasListeners: Bool, isCounted: Bool, _ state: inout State
    ) {
        let isOwn = core === state.ending
        if hasListeners || !isOwn { state.effects.append(.tell(core, end, isCounted: isCounted, isOwn: isOwn)) }
    }

    func countEnd(of core: OperationCore, _ state: inout State) {
        guard let parent = core.parent else { return state.countEnded() }
        parent.withMembers { $1.unfinished -= 1 }
        closeIfEmpty(parent, &state)
    }

    /// Closes a compound operation that has started, once its last member has ended.
    func closeIfEmpty(_ compound: CompoundCore, _ state: inout State) {
        let row = compound.withMembers { operation, members -> OperationID? in
            guard case .open(let place, _) = operation.lifecycle, members.unfinished == 0, !members.isClosed else {
                return nil
            }
            members.isClosed = true
            return place.row
        }
        if let row { handle(.close(row), &state) }
    }

    private func end(
        of core: OperationCore, _ outcome: OperationOutcome, _ cause: OperationCause, _ state: inout State
    ) -> OperationEnd {
        switch outcome {
        case .success: return .success
        case .failure: return .failure
        case .skipped: return .skipped
        case .timeout:
            if case .member(let member) = cause, let end = state.entries[member.row].end { return end }
            let limit =
                switch cause {
                case .retryDeadline: core.options.retry?.deadline
                case .itself: core.state.withLock { $0.rare?.innerLimit }
                default: core.options.timeout
                }
            return .timeout(limit: limit ?? .zero, scope: core.id)
        case .cancelled:
            if case .member(let member) = cause, case .cancelled(let reason)? = state.entries[member.row].end {
                return .cancelled(reason)
            }
            return .cancelled(reason(of: cause, for: core, &state))
        case .notRun:
            switch cause {
            case .dependency(let row), .failFast(let row), .member(let row):
                let entry = state.entries[row.row]
                if case .notRun(let root)? = entry.end { return .notRun(rootCause: root) }
                return .notRun(rootCause: entry.id ?? core.id)
            case .itself, .deadline, .retryDeadline, .request, .stall, .condition:
                return .notRun(rootCause: core.id)
            }
        }
    }

    /// The reason of the nearest request to an enclosing operation. Stored on the way, because other members need it
    /// too.
    private func inheritedReason(of core: OperationCore) -> AsyncOperationContext.CancellationReason {
        var reason: AsyncOperationContext.CancellationReason?
        var way: [CompoundCore] = []
        var next = core.parent
        while let outer = next, reason == nil {
            way.append(outer)
            (reason, next) = outer.withMembers { operation, members in
                (members.reason ?? operation.rare?.request.map { _ in .parent(outer.id) }, operation.parent)
            }
        }
        if let reason { for outer in way { outer.withMembers { $1.reason = reason } } }
        return reason ?? .requested
    }

    func reason(
        of cause: OperationCause, for core: OperationCore, _ state: inout State
    ) -> AsyncOperationContext.CancellationReason {
        switch cause {
        case .failFast(let row): return .sibling(state.entries[row.row].id ?? core.id)
        case .deadline(let row), .retryDeadline(let row): return .deadline(state.entries[row.row].id ?? core.id)
        case .itself, .dependency, .member, .request, .stall, .condition:
            if let request = core.request { return request }
            return inheritedReason(of: core)
        }
    }
}

// Compound operations that may be tried again. The ends of their members become final when they end for good
// themselves.

extension OperationCore {
    /// The outermost enclosing operation that may be tried again: the end is final only after its last round.
    var outermostRetried: OperationCore? { around.dropFirst().last { $0.options.retry != nil } }

    /// The outermost operation that may be tried again and encloses this one but not `other`: for `other`, the end
    /// counts only after its last round.
    func lastRound(seenFrom other: OperationCore) -> OperationCore? { lastRound(seenFrom: other.around) }

    /// The outermost enclosing operation that may be tried again and is not in `others`.
    func lastRound(seenFrom others: [OperationCore]) -> OperationCore? {
        around.dropFirst().last { outer in
            outer.options.retry != nil && !others.includes(outer)
        }
    }

    /// True if it, or something inside, depends on something in a retried compound operation that does not enclose
    /// it.
    var awaitsRounds: Bool {
        var pending = [self]
        while let core = pending.popLast() {
            let (hasEdges, needs) = core.state.withLock { ($0.hasEdges, $0.needs) }
            guard hasEdges else { continue }
            if needs.contains(where: { $0.core.lastRound(seenFrom: core) != nil }) { return true }
            pending += core.memberCores
        }
        return false
    }
}

extension QueueCore {
    /// The number of an attempt that is about to be announced; it counts through all rounds of the enclosing
    /// operations.
    func number(of attempt: Int, _ core: OperationCore, _ state: inout State) -> Int {
        guard state.hasRetriedCompounds, core.outermostRetried != nil else { return attempt }
        return core.state.withLock { operation in
            operation.withRare { rare in
                rare.attempts += 1
                return rare.attempts
            }
        }
    }

    /// Ends an operation in the current round.
    func settle(_ core: OperationCore, _ place: Place, _ end: OperationEnd, _ state: inout State) {
        core.state.withLock { $0.lifecycle = .settled(place, end) }
        guard let parent = core.parent else { return }
        parent.withMembers { _, members in
            members.ended.append(core)
            members.unfinished -= 1
        }
        closeIfEmpty(parent, &state)
    }

    /// Makes everything inside start again.
    func reset(_ compound: CompoundCore, _ state: inout State) {
        var pending = [compound]
        var reset: [OperationCore] = []
        while let next = pending.popLast() {
            let members = next.withMembers { _, members in
                members.ended.removeAll { !$0.isFinished }
                members.unfinished = members.cores.count - members.ended.count
                members.isClosed = false
                return members.cores
            }
            for core in members {
                core.state.withLock { operation in
                    guard case .settled(let place, _) = operation.lifecycle else { return }
                    operation.lifecycle = .waiting(place, isReady: false)
                }
                if let inner = core as? CompoundCore { pending.append(inner) }
            }
            if !state.standIns.isEmpty { reset += members }
        }
        for core in reset { replaceStandIns(for: core, &state) }
    }

    /// Makes the ends of the last round final.
    func finishMembers(of compound: CompoundCore, _ state: inout State) {
        var pending = [compound]
        var settled: [(core: OperationCore, end: OperationEnd)] = []
        while let next = pending.popLast() {
            for core in next.withMembers({ $1.ended }).reversed() {
                guard case .settled(let place, let end) = core.lifecycle else { continue }
                settled.append((core, end))
                record(end, core.id, place.row, &state)
                if let inner = core as? CompoundCore { pending.append(inner) }
            }
        }
        for (core, end) in settled.reversed() {
            announce(.finished(end.outcome), of: core.id, &state)
            free(core.setEnd(end).needs, &state)
            state.effects.append(.tell(core, end, isCounted: true, isOwn: core === state.ending))
        }
    }
}
