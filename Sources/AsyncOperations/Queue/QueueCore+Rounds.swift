// Compound operations that may be tried again. The ends of their members are final when they end for good themselves.

extension OperationCore {
    /// The outermost operation around it that may be tried again: only after its last round is the end final.
    var outermostRetried: OperationCore? { around.dropFirst().last { $0.options.retry != nil } }

    /// The outermost operation around it, but not around `other`, that may be tried again: only after its last round
    /// does the end count for `other`.
    func lastRound(seenFrom other: OperationCore) -> OperationCore? { lastRound(seenFrom: other.around) }

    /// The same for what is in `others`.
    func lastRound(seenFrom others: [OperationCore]) -> OperationCore? {
        around.dropFirst().last { outer in
            outer.options.retry != nil && !others.contains { $0 === outer }
        }
    }

    /// True if it, or something inside, depends on something in a retried compound operation that it is not in.
    var awaitsRounds: Bool {
        var pending = [self]
        while let core = pending.popLast() {
            let (hasEdges, needs) = core.state.withLock { ($0.hasEdges, $0.needs) }
            guard hasEdges else { continue }
            if needs.contains(where: { $0.core.lastRound(seenFrom: core) != nil }) { return true }
            if let compound = core as? CompoundCore { pending += compound.withMembers { $1.cores } }
        }
        return false
    }
}

extension QueueCore {
    /// The number of an attempt that is about to be announced: it counts on through all rounds of what is around it.
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
            state.append(.tell(core, end, isCounted: true, isOwn: core === state.ending))
        }
    }
}
