extension QueueCore.State {
    /// Appends an effect that must be reported before anything else starts. The start of an attempt goes to `effects`
    /// directly.
    mutating func append(_ effect: Effect) {
        effects.append(effect)
        isTelling = true
    }

    mutating func takeOffers() -> [PoolTable.Offer] {
        if offers.isEmpty { return [] }
        defer { offers = [] }
        return offers
    }

    mutating func takeGarbage() -> [any AnyObject & Sendable] {
        if garbage.isEmpty { return [] }
        defer { garbage = [] }
        return garbage
    }
}

/// An action to carry out outside the queue's lock because of a change of its state. Effects are carried out in
/// order.
enum Effect: Sendable {
    /// Report the end of an operation to everything that waits for it. `isCounted` if the end counts already; `isOwn`
    /// if the task of the last attempt releases the body itself.
    case tell(OperationCore, OperationEnd, isCounted: Bool, isOwn: Bool)
    /// Announce that all dependencies of an operation have ended.
    case ready(OperationCore)
    /// Announce that a compound operation has begun a round.
    case open(CompoundCore, round: Int)
    /// Begin the attempt of a body.
    case begin(BodyControl)
    /// Ask a running body to stop.
    case stop(BodyControl)
    /// Report to running bodies that the queue is suspended or resumed.
    case pause([BodyControl.SuspendHandler], Bool)
    /// Wake all tasks that wait for the queue to be idle.
    case idle(OneShot)
    /// End the task that begins bodies with the values of the caller.
    case endContext(TaskContext)
    case finishEvents([AsyncStream<AsyncOperationQueue.Event>.Continuation])
    case finishProgress(ProgressListeners)

    /// True if it may run user code. A caller of the library must not run code of operations that are not its own.
    var runsForeignCode: Bool {
        switch self {
        case .tell(let core, _, _, _): core.hasCompletions
        case .stop: true
        case .pause(let handlers, _): !handlers.isEmpty
        case .ready, .open, .begin, .idle, .endContext, .finishEvents, .finishProgress: false
        }
    }
}
