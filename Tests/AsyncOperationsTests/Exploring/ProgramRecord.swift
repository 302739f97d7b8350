import AsyncOperations
import Synchronization

/// What a run of a `Program` was seen to do, in order.
final class ProgramRecord: Sendable {
    enum Event: Sendable, Hashable {
        /// A body, or a job of a waterfall, was entered; `isCancelled` where it knew then that it had to stop.
        case entered(Int, attempt: Int, isCancelled: Bool)
        case left(Int, BodyEnd)
        /// Its completion was called.
        case ended(Int, OperationOutcome)
        /// A task that waited for the result got it.
        case told(Int, OperationOutcome)
        case waiting
        /// A task that waited for anything went on.
        case waited
        /// A queue is about to be asked to take it.
        case adding(Int)
        /// `add` to a queue, `start` or `resume` was accepted.
        case taken(Int, queue: Int?)
        case memberAccepted(Int, of: Int)
        case needAccepted(Int, on: Int, DependencyKind)
        case needRemoved(Int, on: Int)
        /// `cancel` returned true; the operation ran a moment later or had ended, or else had not started.
        case cancelled(Int, OperationState)
        /// A call was refused.
        case callRefused(UsageError)
        case suspending(queue: Int, call: UInt64)
        /// That call of `suspend` has returned; these were running a moment later.
        case suspended(queue: Int, call: UInt64, running: Set<Int>)
        case resuming(queue: Int)
        case resumed(queue: Int)
        /// A body was told that it would wait for itself by waiting for an operation, or, if nil, for a queue.
        case refused(Int, awaiting: Int?)
        /// What the events or the progress of something said cannot be.
        case misheard(String)
    }

    enum BodyEnd: Sendable, Hashable { case value, error, stopped }

    private struct State {
        var events: [Event] = []
        var completionsOver = 0
        var waiting = 0
    }

    private let state = Mutex(State())

    var events: [Event] { state.withLock { $0.events } }
    var count: Int { state.withLock { $0.events.count } }

    /// Whether the completions of so many operations have returned.
    func areCompletionsOver(operations: Int) -> Bool { state.withLock { $0.completionsOver >= operations } }

    /// Whether no task waits any more, either.
    func isComplete(operations: Int) -> Bool { state.withLock { $0.completionsOver >= operations && $0.waiting == 0 } }

    func noteCompletionOver() { state.withLock { $0.completionsOver += 1 } }

    func add(_ event: Event) {
        state.withLock { state in
            state.events.append(event)
            switch event {
            case .waiting: state.waiting += 1
            case .waited: state.waiting -= 1
            default: break
            }
        }
    }
}
