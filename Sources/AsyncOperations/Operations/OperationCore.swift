internal import Synchronization

/// What all handles of one operation share: its identity, its place in a queue, and its end. It knows nothing of the
/// type of its result.
///
/// Dependents hold the cores of what they need, never the other way round, and let go of them at their end, so that
/// chains of any length are freed without recursion.
final class OperationCore: Sendable {
    typealias Body = @Sendable (AsyncOperationContext) async -> BodyEnd

    struct Need {
        let core: OperationCore
        var kind: EdgeKind
        /// Whether the body reads its value, so that the dependency cannot be taken away.
        let carriesData: Bool
        /// Where the queue finds it: its own row, or one that stands for it.
        var row: OperationID?
    }

    /// Where an operation runs, from being added to its end.
    struct Place {
        let queue: QueueCore
        let run: QueueRun
        let row: OperationID
    }

    struct State {
        var progress = OperationState.pending
        /// Set once, before the end is told.
        var end: OperationEnd?
        /// Whether everybody who asked has been told of the end.
        var isTold = false
        /// Whether a queue or compound operation has it.
        var isTaken = false
        var place: Place?
        /// Whether the scheduler has heard of it; what is asked of it before that is told right after.
        var isPosted = false
        var lateUnlinks: [OperationID] = []
        var needs: [Need] = []
        /// Whether anything was ever told to wait for it.
        var isNeeded = false
        /// The first request to cancel.
        var request: CancellationReason?
        /// Why the scheduler had it stopped.
        var stop: CancellationReason?
        /// Whether the body has returned for the last time, though the end is not settled yet.
        var isBodyOver = false
        /// What runs now.
        var control: BodyControl?
        var body: Body?
        var members: Members?
        weak var parent: OperationCore?
        /// The queue of an operation that was started by itself.
        var ownQueue: QueueCore?
        /// Whether it was suspended before it was started.
        var startsSuspended = false
        var completions: [@Sendable (OperationEnd) -> Void] = []
        var followers: [@Sendable (OperationEnd) -> Void] = []
        /// Made by the first who waits.
        var signal: OneShot?
    }

    /// What makes an operation compound.
    struct Compound: Sendable {
        let limit: ConcurrencyLimit
        let failFast: FailFast
        let options: CompoundOptions
    }

    let id = AsyncOperationID()
    let name: String
    let options: OperationOptions
    /// nil for an operation with a body.
    let compound: Compound?
    /// What the body threw in its last attempt.
    let bodyError: @Sendable () -> (any Error)?
    let state: Mutex<State>

    /// An operation with a body.
    init(
        _ name: String, _ options: OperationOptions, needs: [Need], body: @escaping Body,
        bodyError: @escaping @Sendable () -> (any Error)?
    ) {
        self.name = name
        self.options = options
        compound = nil
        self.bodyError = bodyError
        state = Mutex(State(needs: needs, body: body))
    }

    /// A compound operation.
    init(_ name: String, compound: Compound) {
        self.name = name
        self.compound = compound
        options = OperationOptions()
        bodyError = { nil }
        state = Mutex(State(members: Members()))
    }

    var isFinished: Bool { state.withLock { $0.end != nil } }
    var place: Place? { state.withLock { $0.place } }
    var parent: OperationCore? { state.withLock { $0.parent } }
    var end: OperationEnd? { state.withLock { $0.end } }
    var mutexes: Set<String> { compound?.options.mutexes ?? options.mutexes }

    /// Says that the scheduler has heard of it, and tells it what was asked meanwhile.
    func notePosted() {
        state.withLock { state in
            state.isPosted = true
            guard let place = state.place else { return }
            for row in state.lateUnlinks { place.run.control.unlink(dependent: place.row, prerequisite: row) }
            if state.request != nil { place.run.control.cancel(place.row) }
        }
    }
}
