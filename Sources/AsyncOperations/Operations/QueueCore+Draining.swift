// Carries out the effects of changes outside the lock, in order. One thread at a time drains them, a caller or a
// task.

extension QueueCore {
    /// The actions required outside the lock after a change.
    struct Consequences: Sendable {
        let duty: Duty
        /// An alarm to cancel.
        let alarm: Alarm?
        let garbage: [any AnyObject & Sendable]
        /// Operations that have just got something to wait for, and may have closed a ring.
        let suspects: [OperationCore]
        /// The free units of pools to offer to other queues.
        let offers: [PoolTable.Offer]

        /// Carries out the actions that user code must not hold up. Called outside all locks.
        fileprivate func begin() {
            alarm?.cancel()
            for offer in offers { PoolTable.make(offer) }
        }
    }

    /// The place to run user code that the caller must not run.
    enum Hands: Sendable {
        case toTask
        /// Does not wait for a thread of the pool.
        case toThread
    }

    func carry(_ consequences: Consequences, handingOver hands: Hands = .toTask) {
        consequences.begin()
        switch consequences.duty {
        case .nothing:
            if hands == .toThread, let handed = state.withLock({ $0.effects.hurry() }) {
                launchThread { self.carryOut(handed) }
            }
        case .begin(let first, let others):
            begin(first)
            for control in others { begin(control) }
        case .drain: drain(handingOver: hands)
        case .handOver: handOver([], hands)
        }
        if !consequences.suspects.isEmpty { OperationCore.breakRings(beyond: consequences.suspects) }
    }

    func begin(_ control: BodyControl) {
        if let context = control.context, owner == nil || !Worker.isFree(in: self) {
            context.begin(control)
        } else {
            Worker.begin(control, owner == nil ? .anywhere : .inheriting)
        }
    }

    /// Carries out effects on a thread that called the library: neither user code nor effects that arrive meanwhile.
    private func drain(handingOver hands: Hands) {
        guard let effects = nextEffects() else { return }
        for (index, effect) in effects.enumerated() {
            if effect.runsForeignCode { return handOver(Array(effects[index...]), hands) }
            perform(effect)
        }
        if let effects = nextEffects() { handOver(effects, hands) }
    }

    private func handOver(_ effects: [Effect], _ hands: Hands = .toTask) {
        let handed = HandedEffects(effects)
        let isHurried = state.withLock { $0.effects.handOver(handed) }
        if hands == .toThread || isHurried {
            launchThread { self.carryOut(handed) }
        } else {
            launch { self.carryOut(handed) }
        }
    }

    /// Carries out effects that were handed over, unless another thread does.
    private func carryOut(_ handed: HandedEffects) {
        guard let effects = handed.take() else { return }
        for effect in effects { perform(effect) }
        _ = drainAll(keepsOne: false)
    }

    /// Carries out all effects. If `keepsOne`, returns the first attempt that the calling task may run itself,
    /// without waiting for effects that arrive meanwhile; other attempts get tasks of their own.
    func drainAll(keepsOne: Bool) -> BodyControl? {
        while let effects = nextEffects() {
            var kept: BodyControl?
            for effect in effects {
                if keepsOne, kept == nil, case .begin(let control) = effect, control.mayShareTask {
                    if start(control) { kept = control }
                } else {
                    perform(effect)
                }
            }
            if let kept {
                if let effects = nextEffects() { handOver(effects) }
                return kept
            }
        }
        return nil
    }

    private func nextEffects() -> [Effect]? { state.withLock { $0.effects.next() } }

    /// Announces the attempt, now that all earlier effects have been carried out. Returns true if it may begin.
    private func start(_ control: BodyControl) -> Bool {
        control.progress == .executing || update(inline: false) { tellStart(of: control, &$0) }
    }

    private func perform(_ effect: Effect) {
        switch effect {
        case .tell(let core, let end, let isCounted, let isOwn):
            core.tell(end)
            if !isOwn { core.releaseBody() }
            if !isCounted { update { countEnd(of: core, &$0) } }
        case .ready(let core): state.withLock { tellReady(core, &$0) }
        case .open(let compound, let round): state.withLock { tellOpen(compound, round: round, &$0) }
        case .begin(let control):
            if start(control) { begin(control) }
        case .stop(let control): control.tellOfStop()
        case .pause(let handlers, let isSuspended): for handler in handlers { handler(isSuspended) }
        case .idle(let signal): signal.happen()
        case .endContext(let context): context.end()
        case .finishEvents(let listeners): for listener in listeners { listener.finish() }
        case .finishProgress(let listeners): listeners.finish()
        }
    }
}

extension QueueCore {
    /// Runs the body of an attempt in the task of `worker`. Returns the next attempt that the task may run.
    @inline(__always)  // A frame less for each body.
    @concurrent func run(_ control: BodyControl, on worker: Worker) async -> BodyControl? {
        let core = control.core
        if control.attempt > 1 { core.keep(.nothing) }
        var end = BodyEnd.stopped(.abandoned)
        if !control.begin(on: worker) {
            end = .stopped(control.reason ?? .requested)
        } else if let body = core.body {
            end = await body(AsyncOperationContext(control: control), core)
        }
        let mayRetry =
            if case .failure(let error) = end, let isWorthIt = core.options.retriesError { isWorthIt(error) } else {
                true
            }
        // The body may have cancelled its own task.
        let isUsable = control.end() && !Task.isCancelled
        guard let next = nextAttempt(after: control, end, mayRetry) else { return nil }
        if isUsable, worker.priority == priority { return next }
        begin(next)
        return nil
    }

    /// Ends an attempt. Returns the next one that its task may run.
    private func nextAttempt(after control: BodyControl, _ end: BodyEnd, _ mayRetry: Bool) -> BodyControl? {
        let core = control.core
        if control.hasBegunAlone, finishAlone(control, end) { return nil }
        let (isOver, consequences) = decide(isWorker: true) { state in
            endAttempt(control, end, mayRetry, &state)
            return core.isFinished
        }
        consequences.begin()
        if isOver { core.releaseBody() }
        if !consequences.suspects.isEmpty { OperationCore.breakRings(beyond: consequences.suspects) }
        switch consequences.duty {
        case .begin(let first, let others):
            var kept = first.mayShareTask ? first : nil
            if kept == nil { begin(first) }
            for control in others {
                if kept == nil, control.mayShareTask { kept = control } else { begin(control) }
            }
            return kept
        case .drain, .handOver: return drainAll(keepsOne: true)
        case .nothing: return nil
        }
    }
}

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
            state.effects.append(.stop(control))
            if state.bodies.release(control) { state.effects.appendStart(.begin(control)) }
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

    /// Records that an operation waits only for its turn, now or again.
    private func markReady(_ row: OperationID, _ state: inout State) {
        guard case .operation(let core) = state.entries[row.row] else { return }
        state.suspect(core)
        let isTelling = state.effects.isTelling
        let isFirst = core.state.withLock { operation in
            if case .waiting(_, isReady: false) = operation.lifecycle {
                if !isTelling { operation.lifecycle = .waiting(Place(queue: self, row: row), isReady: true) }
                return true
            }
            operation.lifecycle = .waiting(Place(queue: self, row: row), isReady: true)
            return false
        }
        guard isFirst else { return }
        if isTelling { state.effects.appendStart(.ready(core)) } else { announce(.ready, of: core.id, &state) }
    }

    /// Announces that it is ready once all earlier effects have been carried out, unless it has a new dependency by
    /// then.
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
        let (isTelling, context) = (state.effects.isTelling, state.context)
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
        state.bodies.add(control)
        if !isTelling { announceStart(of: control, &state) }
        state.effects.appendStart(.begin(control))
    }

    /// The highest of its own priority and those of the tasks that wait for it or for an enclosing operation.
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

    /// Announces an attempt, unless it must stop already. Returns true if its task may begin; otherwise it is held
    /// until the queue is resumed or the attempt is stopped. An attempt that holds units of pools releases them and
    /// starts again later, so that no other queue waits for a suspended one.
    func tellStart(of control: BodyControl, _ state: inout State) -> Bool {
        if state.isSuspended, control.progress != .executing, control.reason == nil {
            if control.core.options.pools.isEmpty { state.bodies.hold(control) } else { takeBack(control, &state) }
            return false
        }
        if control.start() { announceStart(of: control, &state) }
        return true
    }

    private func takeBack(_ control: BodyControl, _ state: inout State) {
        state.bodies.remove(control)
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
        compound.state.withLock {
            $0.lifecycle = .open(Place(queue: self, row: row), hasStarted: !state.effects.isTelling)
        }
        if state.effects.isTelling {
            state.effects.appendStart(.open(compound, round: round))
        } else {
            announce(.started(attempt: number(of: round + 1, compound, &state)), of: compound.id, &state)
        }
        closeIfEmpty(compound, &state)
    }

    /// Announces the start of a compound operation, once all earlier effects have been carried out.
    func tellOpen(_ compound: CompoundCore, round: Int, _ state: inout State) {
        let isNews = compound.state.withLock { operation in
            guard case .open(let place, hasStarted: false) = operation.lifecycle else { return false }
            operation.lifecycle = .open(place, hasStarted: true)
            return true
        }
        if isNews { announce(.started(attempt: number(of: round + 1, compound, &state)), of: compound.id, &state) }
    }

    /// Reports the end of an attempt to the scheduler.
    func endAttempt(_ control: BodyControl, _ end: BodyEnd, _ mayRetry: Bool, _ state: inout State) {
        state.bodies.remove(control)
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
            // It stopped by itself, not because of a limit or a request.
            if control.reason == nil {
                control.core.state.withLock { $0.withRare { $0.request = $0.request ?? reason } }
            }
            handle(.ended(row, .cancelled, mayRetry: false), &state)
        }
    }

    func pause(_ isSuspended: Bool, _ state: inout State) {
        for control in state.bodies.all {
            guard let handlers = control.setSuspended(isSuspended), !handlers.isEmpty else { continue }
            state.effects.append(.pause(handlers, isSuspended))
        }
        guard !isSuspended else { return }
        for control in state.bodies.takeHeld() { state.effects.append(.begin(control)) }
    }

    @inline(__always)
    func announce(_ kind: AsyncOperationQueue.Event.Kind, of id: AsyncOperationID, _ state: inout State) {
        state.announcer.announce(kind, of: id, at: state.now)
    }
}
