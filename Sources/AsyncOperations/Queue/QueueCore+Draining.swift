// Carries out the effects of changes outside the lock, in order: one thread at a time drains them, a caller or a task.

extension QueueCore {
    /// What the caller of `update` must do once the lock is free.
    enum Duty: Sendable {
        case nothing
        /// Begin these attempts; nothing has to be done before. Usually there is only one, which needs no array.
        case begin(BodyControl, others: [BodyControl])
        case drain
        /// Let a task drain, because user code is to run.
        case handOver
    }

    /// What must be done outside the lock after a change.
    struct Consequences: Sendable {
        let duty: Duty
        /// An alarm to be cancelled.
        let alarm: Alarm?
        let garbage: [any AnyObject & Sendable]
        /// Operations that have just got something to wait for, and may have closed a ring.
        let suspects: [OperationCore]
        /// What other queues may have of pools.
        let offers: [PoolTable.Offer]

        /// Does what user code must not hold up. Outside all locks.
        fileprivate func begin() {
            alarm?.cancel()
            for offer in offers { PoolTable.make(offer) }
        }
    }

    func duty(_ state: inout State, isWorker: Bool, mayDrain: Bool) -> Duty {
        if state.effects.isEmpty || state.isDraining { return .nothing }
        if state.isTelling {
            state.isDraining = true
            if isWorker { return .drain }
            return mayDrain && !state.effects.contains { $0.runsForeignCode } ? .drain : .handOver
        }
        defer { state.effects.removeAll(keepingCapacity: true) }
        guard case .begin(let first) = state.effects[0] else { return .nothing }
        if state.effects.count == 1 { return .begin(first, others: []) }
        let others = state.effects.dropFirst().compactMap { if case .begin(let control) = $0 { control } else { nil } }
        return .begin(first, others: others)
    }

    /// Where user code runs that the caller must not run.
    enum Hands: Sendable {
        case toTask
        /// It waits for no thread of the pool.
        case toThread
    }

    func carry(_ consequences: Consequences, handingOver hands: Hands = .toTask) {
        consequences.begin()
        switch consequences.duty {
        case .nothing: break
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

    /// Carries out effects on a thread that called the library: no user code, and nothing that comes
    /// meanwhile.
    private func drain(handingOver hands: Hands) {
        guard let effects = nextEffects() else { return }
        for (index, effect) in effects.enumerated() {
            if effect.runsForeignCode { return handOver(Array(effects[index...]), hands) }
            perform(effect)
        }
        if let effects = nextEffects() { handOver(effects, hands) }
    }

    private func handOver(_ effects: [Effect], _ hands: Hands = .toTask) {
        let work = { @Sendable [self] in
            for effect in effects { perform(effect) }
            _ = drainAll(keepsOne: false)
        }
        switch hands {
        case .toTask: launch { work() }
        case .toThread: launchThread(work)
        }
    }

    /// Carries out all effects. If `keepsOne`, returns the first attempt that the calling task may run itself, without
    /// waiting for what comes meanwhile; the others get tasks of their own.
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

    /// The effects so far. nil if there are none; draining is then over.
    private func nextEffects() -> [Effect]? {
        state.withLock { state in
            guard !state.effects.isEmpty else {
                state.isDraining = false
                state.isTelling = false
                return nil
            }
            defer { state.effects = [] }
            return state.effects
        }
    }

    /// Announces the attempt, now that everything before has been told. Returns whether it may begin.
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
    func run(_ control: BodyControl, on worker: Worker) async -> BodyControl? {
        let core = control.core
        if control.attempt > 1 { core.keep(.nothing) }
        let end = control.begin(on: worker) ? await core.perform(control) : .stopped(control.reason ?? .requested)
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

    /// Ends an attempt. Returns the next that its task may run.
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
