extension QueueCore.State {
    /// For everything but the begin of an attempt.
    mutating func append(_ effect: Effect) {
        effects.append(effect)
        isTelling = true
    }

    mutating func takeGarbage() -> [any AnyObject & Sendable] {
        if garbage.isEmpty { return [] }
        defer { garbage = [] }
        return garbage
    }
}

/// What a change of a queue's state leads to outside its lock, in the order in which it was decided.
enum Effect: Sendable {
    /// Tell everybody who waits for an operation how it ended; `isCounted` if that end counts already, `isOwn` if the
    /// task of its last attempt lets go of the body itself.
    case tell(OperationCore, OperationEnd, isCounted: Bool, isOwn: Bool)
    /// Say that all that an operation needs has ended.
    case ready(OperationCore)
    /// Say that a compound operation has begun a round.
    case open(CompoundCore, round: Int)
    /// Begin the attempt of a body.
    case begin(BodyControl)
    /// Tell a running body that it is to stop.
    case stop(BodyControl)
    /// Tell a running body of a pause or its end.
    case pause([BodyControl.SuspendHandler], Bool)
    /// Nothing is left to do in the queue.
    case idle(OneShot)
    case finishEvents([AsyncStream<OperationEvent>.Continuation])
    case finishProgress(ProgressListeners)

    /// Whether it may run somebody's code, which a call of the library must not do for an operation of somebody else.
    var runsForeignCode: Bool {
        switch self {
        case .tell(let core, _, _, _): core.hasCompletions
        case .stop: true
        case .pause(let handlers, _): !handlers.isEmpty
        case .ready, .open, .begin, .idle, .finishEvents, .finishProgress: false
        }
    }
}
