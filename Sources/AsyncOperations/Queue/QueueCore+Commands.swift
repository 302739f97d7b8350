// Applies the commands of the scheduler to the operations, under the queue's lock.

extension QueueCore {
    /// Carries out the commands of the scheduler, and those that follow from them.
    func carryOut(_ state: inout State) {
        guard !state.isCarryingOut else { return }
        state.isCarryingOut = true
        var next = 0
        while next < state.commands.count {
            let command = state.commands[next]
            next += 1
            carryOut(command, &state)
        }
        state.commands.removeAll(keepingCapacity: true)
        state.isCarryingOut = false
    }

    private func carryOut(_ command: OperationScheduler.Command, _ state: inout State) {
        switch command {
        case .ready(let row): markReady(row, &state)
        case .start(let row, let attempt): start(row, attempt, &state)
        case .groupStarted(let row, let round): open(row, round: round, &state)
        case .stop(let row, let cause):
            guard case .operation(let core) = state.entries[row.row], case .running(let control) = core.lifecycle else {
                return
            }
            control.stop(reason(of: cause, for: core, &state))
            announce(.cancelRequested(control.reason ?? .requested), of: core.id, &state)
            state.append(.stop(control))
            if let index = state.held.firstIndex(where: { $0 === control }) {
                state.effects.append(.begin(state.held.remove(at: index)))
            }
        case .groupStopping(let row, let cause):
            guard case .operation(let core) = state.entries[row.row] else { return }
            announce(.cancelRequested(reason(of: cause, for: core, &state)), of: core.id, &state)
        case .retrying(let row, _, let delay):
            guard case .operation(let core) = state.entries[row.row] else { return }
            markReady(row, &state)
            // Members that are added meanwhile take part in the next round.
            (core as? CompoundCore)?.withMembers { $1.isClosed = false }
            announce(.retry(after: delay), of: core.id, &state)
        case .finished(let row, let outcome, let cause): finish(row, outcome, cause, &state)
        case .suspended: pause(true, &state)
        case .resumed: pause(false, &state)
        case .wake, .decide, .expand, .weigh, .conclude, .withdraw, .groupResumed, .stalled, .acquired, .released,
            .waiting, .startErrand:
            break
        }
    }

    /// It waits for its turn only, now or again.
    private func markReady(_ row: OperationID, _ state: inout State) {
        guard case .operation(let core) = state.entries[row.row] else { return }
        state.suspect(core)
        let isTelling = state.isTelling
        let isFirst = core.state.withLock { operation in
            if case .waiting(_, isReady: false) = operation.lifecycle {
                if !isTelling { operation.lifecycle = .waiting(Place(queue: self, row: row), isReady: true) }
                return true
            }
            operation.lifecycle = .waiting(Place(queue: self, row: row), isReady: true)
            return false
        }
        guard isFirst else { return }
        if isTelling { state.effects.append(.ready(core)) } else { announce(.ready, of: core.id, &state) }
    }

    /// Announces that it is ready, once everything before has been told, unless it has a new dependency by now.
    func tellReady(_ core: OperationCore, _ state: inout State) {
        if case .waiting(let place, _) = core.lifecycle, state.scheduler?.isReady(place.row) != true { return }
        becomeReady(core, &state)
    }

    private func becomeReady(_ core: OperationCore, _ state: inout State) {
        let isNews = core.state.withLock { operation in
            switch operation.lifecycle {
            case .waiting(let place, isReady: false):
                operation.lifecycle = .waiting(place, isReady: true)
                return true
            case .running(let control): return control.becomeReady()
            case .waiting, .open, .settled, .ended, .idle, .dissolving, .member, .taken: return false
            }
        }
        if isNews { announce(.ready, of: core.id, &state) }
    }

    private func start(_ row: OperationID, _ attempt: Int, _ state: inout State) {
        guard case .operation(let core) = state.entries[row.row] else { return }
        let priority = Priority.higher(priority(of: core), state.urgency(behind: core))
        let (isTelling, context) = (state.isTelling, state.context)
        let control = core.state.withLock { operation in
            var progress = OperationState.executing
            if isTelling {
                progress = if case .waiting(_, isReady: true) = operation.lifecycle { .ready } else { .pending }
            }
            let control = BodyControl(
                core, Place(queue: self, row: row), attempt: attempt, progress: progress, priority: priority,
                context: operation.rare?.context ?? context)
            operation.lifecycle = .running(control)
            return control
        }
        control.runningIndex = state.running.count
        state.running.append(control)
        if !isTelling { announceStart(of: control, &state) }
        state.effects.append(.begin(control))
    }

    /// The highest of its own priority and those of the tasks that wait for it or for what is around it.
    func priority(of core: OperationCore) -> Priority? {
        var highest = core.hasDefaultOptions ? nil : core.options.bodyPriority
        var next: OperationCore? = core
        while let outer = next {
            next = outer.state.withLock { operation in
                if let waiter = operation.rare?.waiterPriority, waiter > highest ?? priority ?? .medium {
                    highest = waiter
                }
                return operation.parent
            }
        }
        return highest
    }

    /// Announces an attempt, unless it is to stop already. Returns whether its task may begin; if not, it is held until
    /// the queue is resumed or the attempt is stopped. One that has units of pools gives them back and starts again
    /// later, so that no other queue waits for a suspended one.
    func tellStart(of control: BodyControl, _ state: inout State) -> Bool {
        if state.isSuspended, control.progress != .executing, control.reason == nil {
            if control.core.options.pools.isEmpty { state.held.append(control) } else { takeBack(control, &state) }
            return false
        }
        if control.start() { announceStart(of: control, &state) }
        return true
    }

    private func takeBack(_ control: BodyControl, _ state: inout State) {
        removeRunning(control, &state)
        control.core.state.withLock {
            $0.lifecycle = .waiting(Place(queue: self, row: control.row), isReady: control.progress == .ready)
        }
        handle(.takenBack(control.row), &state)
    }

    private func announceStart(of control: BodyControl, _ state: inout State) {
        announce(.started(attempt: number(of: control.attempt, control.core, &state)), of: control.core.id, &state)
    }

    /// Begins a round of a compound operation.
    private func open(_ row: OperationID, round: Int, _ state: inout State) {
        guard case .operation(let core) = state.entries[row.row], let compound = core as? CompoundCore else { return }
        state.suspect(core)
        if round > 0 { reset(compound, &state) }
        compound.state.withLock { $0.lifecycle = .open(Place(queue: self, row: row), hasStarted: !state.isTelling) }
        if state.isTelling {
            state.effects.append(.open(compound, round: round))
        } else {
            announce(.started(attempt: number(of: round + 1, compound, &state)), of: compound.id, &state)
        }
        closeIfEmpty(compound, &state)
    }

    /// Announces the start of a compound operation, once everything before has been told.
    func tellOpen(_ compound: CompoundCore, round: Int, _ state: inout State) {
        let isNews = compound.state.withLock { operation in
            guard case .open(let place, hasStarted: false) = operation.lifecycle else { return false }
            operation.lifecycle = .open(place, hasStarted: true)
            return true
        }
        if isNews { announce(.started(attempt: number(of: round + 1, compound, &state)), of: compound.id, &state) }
    }

    /// Tells the scheduler that the attempt of a body has ended.
    func endAttempt(_ control: BodyControl, _ end: BodyEnd, _ mayRetry: Bool, _ state: inout State) {
        if control.isAlone { state.alone = nil } else { removeRunning(control, &state) }
        state.ending = control.core
        defer { state.ending = nil }
        let row = control.row
        if row.isAlone { return endAlone(control, end, &state) }
        switch end {
        case .success: handle(.ended(row, .success, mayRetry: false), &state)
        case .failure: handle(.ended(row, .failure, mayRetry: mayRetry), &state)
        case .timeout(let limit):
            control.core.state.withLock { $0.withRare { $0.innerLimit = limit } }
            handle(.ended(row, .timeout, mayRetry: true), &state)
        case .stopped(let reason):
            // It stopped of its own accord, not because of a limit or a request.
            if control.reason == nil {
                control.core.state.withLock { $0.withRare { $0.request = $0.request ?? reason } }
            }
            handle(.ended(row, .cancelled, mayRetry: false), &state)
        }
    }

    private func removeRunning(_ control: BodyControl, _ state: inout State) {
        let last = state.running.removeLast()
        guard last !== control else { return }
        state.running[control.runningIndex] = last
        last.runningIndex = control.runningIndex
    }

    func pause(_ isSuspended: Bool, _ state: inout State) {
        for control in state.bodies {
            guard let handlers = control.setSuspended(isSuspended), !handlers.isEmpty else { continue }
            state.append(.pause(handlers, isSuspended))
        }
        guard !isSuspended else { return }
        for control in state.held { state.append(.begin(control)) }
        state.held = []
    }

    @inline(__always)
    func announce(_ kind: AsyncOperationQueue.Event.Kind, of id: AsyncOperationID, _ state: inout State) {
        state.announcer.announce(kind, of: id, at: state.now)
    }
}
