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

/// The task of the caller of a change once the lock is free.
enum Duty: Sendable {
    case nothing
    /// Begin these attempts; nothing precedes them. Usually there is only one, which needs no array.
    case begin(BodyControl, others: [BodyControl])
    case drain
    /// Let a task drain, because user code must run.
    case handOver
}

/// The effects that wait to be carried out, and the duty to do so: one thread at a time carries them out. Guarded by
/// the queue's lock.
struct EffectQueue {
    private var effects: [Effect] = []
    /// True if there are effects that must be carried out before anything starts.
    private(set) var isTelling = false
    /// True while effects are being carried out by a thread that will look for more.
    private var isDraining = false
    /// The effects that were handed over last, to a task that may still wait for a thread of the pool.
    private var handed: HandedEffects?
    /// True if the next effects that are handed over must not wait for a thread of the pool.
    private var isHurried = false

    /// True if there are no effects and no thread looks for more.
    var isIdle: Bool { effects.isEmpty && !isDraining }

    /// Appends an effect that must be reported before anything else starts.
    mutating func append(_ effect: Effect) {
        effects.append(effect)
        isTelling = true
    }

    /// Appends a start, or its announcement, which nothing has to wait for.
    mutating func appendStart(_ effect: Effect) { effects.append(effect) }

    /// The duty of the thread that has made a change.
    mutating func duty(isWorker: Bool, mayDrain: Bool) -> Duty {
        if effects.isEmpty || isDraining { return .nothing }
        if isTelling {
            isDraining = true
            if isWorker { return .drain }
            return mayDrain && !effects.contains { $0.runsForeignCode } ? .drain : .handOver
        }
        defer { effects.removeAll(keepingCapacity: true) }
        guard case .begin(let first) = effects[0] else { return .nothing }
        if effects.count == 1 { return .begin(first, others: []) }
        let others = effects.dropFirst().compactMap { if case .begin(let control) = $0 { control } else { nil } }
        return .begin(first, others: others)
    }

    /// The effects so far; nil if there are none, which ends the draining.
    mutating func next() -> [Effect]? {
        guard !effects.isEmpty else {
            isDraining = false
            isTelling = false
            handed = nil
            isHurried = false
            return nil
        }
        defer { effects = [] }
        return effects
    }

    /// Records effects that are handed over. Returns true if they must not wait for a thread of the pool.
    mutating func handOver(_ effects: HandedEffects) -> Bool {
        handed = effects
        return isHurried
    }

    /// Makes what was handed over, or is about to be, wait for no thread of the pool. Returns the effects for the
    /// caller to carry out on a thread of its own; nil if there are none.
    mutating func hurry() -> HandedEffects? {
        if isDraining { isHurried = true }
        return handed
    }
}

/// Effects that are handed over to a task, and possibly to a thread as well: whichever comes first takes them.
final class HandedEffects: Sendable {
    private let effects: Lock<[Effect]?>

    init(_ effects: [Effect]) { self.effects = Lock(effects) }

    /// Returns the effects the first time, nil later.
    func take() -> [Effect]? { effects.withLock { $0.take() } }
}

extension QueueCore.State {
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
