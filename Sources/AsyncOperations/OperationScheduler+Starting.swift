// From blocked to executing: edges, limits, the ready queue.

extension OperationScheduler {
    /// The group a row is directly inside, as an index into `groups`. Row 0 is inside itself.
    func parentGroup(of id: OperationID) -> Int {
        Int(graph.table.rows[graph.table.rows[id.row].parent.row].group)
    }

    /// The group around `id`, after which `id` is that group; nil once `id` is the outermost.
    func groupAround(_ id: inout OperationID) -> Int? {
        guard id != .root else { return nil }
        let index = parentGroup(of: id)
        id = graph.table.groups[index].id
        return index
    }

    /// Moves an operation on if its group has started and all it needs has ended.
    mutating func consider(_ id: OperationID) {
        let state = states[id.row]
        guard state.phase == .blocked, state.pendingNeeds == 0, !isDecided(id) else { return }
        let parent = states[graph.table.rows[id.row].parent.row].phase
        guard parent == .executing || parent == .stopping else { return }
        switch ruling(on: id) {
        case .run:
            if let cause = drain(around: id) {
                settle(id, verdict: .notRun, cause: cause)
            } else {
                becomeReady(id)
            }
        case .skip(let prerequisite):
            settle(id, verdict: .skipped, cause: .dependency(prerequisite))
        case .ruleOut(let prerequisite):
            settle(id, verdict: .notRun, cause: .dependency(prerequisite))
        }
    }

    /// Whether a group only waits for the ends of its members to be told.
    private func isDecided(_ id: OperationID) -> Bool {
        graph.table.rows[id.row].isGroup && groups[Int(graph.table.rows[id.row].group)].verdict != nil
    }

    mutating func becomeReady(_ id: OperationID) {
        states[id.row].phase = .ready
        if !graph.table.rows[id.row].isGroup {
            ready.insert(id, priority: graph.table.rows[id.row].priority)
        } else {
            startGroup(id)
        }
    }

    /// Groups take no slot, but an instance of a fan-out counts against the fan-out's own limit.
    private mutating func startGroup(_ id: OperationID) {
        if id != .root, isFull(parentGroup(of: id), for: .members) {
            groups[parentGroup(of: id)].parked.insert(id, priority: graph.table.rows[id.row].priority)
            return
        }
        takeMemberSlot(id)
        states[id.row].phase = .executing
        if let timeout = graph.table.timeouts[id] { deadlines.add(id, at: now + timeout) }
        commands.append(.groupStarted(id, round: 0))
        var member = id.row + 1
        let end = Int(graph.table.rows[id.row].subtreeEnd)
        if member == end { return finishGroup(id) }
        while member < end {
            consider(OperationID(member))
            member = Int(graph.table.rows[member].subtreeEnd)
        }
    }

    /// Starts ready operations while there is room, best first.
    mutating func dispatch() {
        while running < width, let id = ready.pop() {
            guard states[id.row].phase == .ready else { continue }
            if let full = fullLimit(around: id) {
                groups[full].parked.insert(id, priority: graph.table.rows[id.row].priority)
                // Its place in a limit that does have room goes to somebody else.
                releaseParked(around: id)
                continue
            }
            running += 1
            takeMemberSlot(id)
            countOperation(id, 1)
            states[id.row].phase = .executing
            if let timeout = graph.table.timeouts[id] { deadlines.add(id, at: now + timeout) }
            commands.append(.start(id, attempt: 1))
        }
    }

    /// Gives back what an operation or group held.
    mutating func releaseSlots(of id: OperationID) {
        if !graph.table.rows[id.row].isGroup {
            running -= 1
            countOperation(id, -1)
        }
        if id != .root, case .members = graph.table.groups[parentGroup(of: id)].limit {
            groups[parentGroup(of: id)].active -= 1
        }
    }

    /// Moves one waiting member of each limit around `id` that has room back to where it can start.
    mutating func releaseParked(around id: OperationID) {
        var next = id
        while let index = groupAround(&next) {
            guard !isFull(index, for: .either) else { continue }
            while let waiting = groups[index].parked.pop() {
                guard states[waiting.row].phase == .ready, !isDecided(waiting) else { continue }
                becomeReady(waiting)
                break
            }
        }
    }

    private mutating func countOperation(_ id: OperationID, _ change: Int) {
        var next = id
        while let index = groupAround(&next) {
            if case .operations = graph.table.groups[index].limit { groups[index].active += change }
        }
    }

    private mutating func takeMemberSlot(_ id: OperationID) {
        guard id != .root, case .members = graph.table.groups[parentGroup(of: id)].limit else { return }
        groups[parentGroup(of: id)].active += 1
    }

    private enum LimitKind { case members, operations, either }

    private func isFull(_ index: Int, for kind: LimitKind) -> Bool {
        switch graph.table.groups[index].limit {
        case .unlimited: false
        case .members(let limit): kind != .operations && groups[index].active >= limit
        case .operations(let limit): kind != .members && groups[index].active >= limit
        }
    }

    private func fullLimit(around id: OperationID) -> Int? {
        if isFull(parentGroup(of: id), for: .members) { return parentGroup(of: id) }
        var full: Int?
        var next = id
        while let index = groupAround(&next) { if isFull(index, for: .operations) { full = index } }
        return full
    }

    private func drain(around id: OperationID) -> OperationCause? {
        var cause: OperationCause?
        var next = id
        while let index = groupAround(&next) { cause = groups[index].draining ?? cause }
        return cause
    }

    private enum Ruling {
        case run
        case skip(OperationID)
        case ruleOut(OperationID)
    }

    /// What the ends of all prerequisites together say. Failures outrank timeouts, and those outrank cancels, in the
    /// choice of the one that is blamed (research/seeds.md, F12).
    private func ruling(on id: OperationID) -> Ruling {
        var skippedBy: OperationID?
        var blamed: (rank: Int, id: OperationID)?
        for need in needs[id.row] {
            let outcome = states[need.other.row].outcome
            let isTolerated = graph.table.rows[need.other.row].flags.contains(.toleratesFailure)
            switch (need.kind, outcome) {
            case (.done, _), (.ok, .success), (.ok, .skipped), (.success, .success), (.failure, .failure),
                (.failure, .timeout):
                continue
            case (.ok, .failure) where isTolerated, (.ok, .timeout) where isTolerated:
                continue
            case (.success, .skipped), (.failure, .success), (.failure, .skipped):
                skippedBy = skippedBy ?? need.other
            case (_, .failure): blame(need.other, 3)
            case (_, .timeout): blame(need.other, 2)
            case (_, .cancelled), (_, .notRun): blame(need.other, 1)
            }
        }
        func blame(_ id: OperationID, _ rank: Int) {
            if rank > blamed?.rank ?? 0 { blamed = (rank, id) }
        }
        if let blamed { return .ruleOut(blamed.id) }
        return skippedBy.map(Ruling.skip) ?? .run
    }
}
