/// Watches a set of tasks that run elsewhere, such as calls with callbacks, and reports once when all have ended or
/// their common time limit has passed.
///
/// The set is a `Session`, each task a `Token`. A token ends once, so no end counts twice, and a late end of an
/// earlier session does not disturb the next one. A session is complete only after `seal` has said that no more tasks
/// will come, so it does not end between the end of the first task and the start of the second.
///
/// All calls may come from any thread, and none waits.
public final class TaskTracker: Sendable {
    /// The end of a session.
    public enum End: Hashable, Sendable {
        /// It was sealed, and each of its tasks has ended.
        case allEnded
        /// Its limit passed with this many tasks running; 0 if all had ended but it was never sealed.
        case timedOut(stillRunning: Int)
        /// It was cancelled with this many tasks running.
        case cancelled(stillRunning: Int)
    }

    /// The identity in errors.
    public let id = AsyncOperationID("", .tracker)

    private let clock: any Clock<Duration>
    private let current = Lock<SessionState?>(nil)

    /// Creates a tracker without a session. `clock` measures timeouts; its `sleep` must throw only when its task is
    /// cancelled.
    public init(clock: any Clock<Duration> = ContinuousClock()) {
        self.clock = clock
    }

    /// True if it has a session that has not ended.
    public var isRunning: Bool { current.withLock { $0 != nil } }

    /// Begins a session that ends after `timeout` at the latest; nil means no limit.
    ///
    /// `onEnd` is called once, on the thread that causes the end. `isRunning` is false by then, so it may begin the
    /// next session.
    ///
    /// Throws `alreadyStarted` while a session runs, and `invalidTimeout` for a timeout of zero or less.
    public func begin(
        timeout: Duration? = nil, onEnd: @escaping @Sendable (End) -> Void
    ) throws(UsageError) -> Session {
        if let timeout, timeout <= .zero { throw .invalidTimeout(id, timeout) }
        let set = SessionState { [weak self] set, end in
            self?.current.withLock { if $0 === set { $0 = nil } }
            onEnd(end)
        }
        let isFree = current.withLock { current in
            if current == nil { current = set }
            return current === set
        }
        guard isFree else { throw .alreadyStarted(id) }
        if let timeout { set.limit(to: timeout, on: clock) }
        return Session(set)
    }

    /// A set of tasks that end together. Dropping it seals it.
    public final class Session: Sendable {
        private let set: SessionState

        fileprivate init(_ set: SessionState) { self.set = set }

        deinit { set.seal() }

        /// Counts one more task until its token ends; nil once the session has ended or is sealed.
        public func startTask() -> Token? { set.start() ? Token(set) : nil }

        /// Declares that no more tasks will come. If all have ended, this ends the session.
        public func seal() { set.seal() }

        /// Ends the session now. Its tasks go on, and their ends are ignored.
        public func cancel() { set.end { .cancelled(stillRunning: $0) } }
    }

    /// A running task. Dropping the token ends the task too.
    public final class Token: Sendable {
        private let set: Lock<SessionState?>

        fileprivate init(_ set: SessionState) { self.set = Lock(set) }

        deinit { end() }

        /// Reports that the task has ended. Returns true for the first call on this token.
        @discardableResult
        public func end() -> Bool {
            guard let set = set.withLock({ $0.take() }) else { return false }
            set.endTask()
            return true
        }
    }
}

extension TaskTracker {
    /// The state of a session, shared by its handle, its tokens and its time limit.
    fileprivate final class SessionState: Sendable {
        private struct State {
            var running = 0
            var isSealed = false
            /// nil once the session has ended.
            var onEnd: (@Sendable (SessionState, End) -> Void)?
            var limit: Ring?
        }

        private let state: Lock<State>

        init(onEnd: @escaping @Sendable (SessionState, End) -> Void) {
            state = Lock(State(onEnd: onEnd))
        }

        func limit(to timeout: Duration, on clock: any Clock<Duration>) {
            let limit = Ring(after: timeout, on: clock) { [weak self] in self?.end { .timedOut(stillRunning: $0) } }
            let isOver = state.withLock { state in
                if state.onEnd != nil { state.limit = limit }
                return state.onEnd == nil
            }
            if isOver { limit.cancel() }
        }

        func start() -> Bool {
            state.withLock { state in
                guard state.onEnd != nil, !state.isSealed else { return false }
                state.running += 1
                return true
            }
        }

        func endTask() {
            endIfComplete { $0.running -= 1 }
        }

        func seal() {
            endIfComplete { $0.isSealed = true }
        }

        private func endIfComplete(after change: (inout State) -> Void) {
            let isComplete = state.withLock { state in
                change(&state)
                return state.isSealed && state.running == 0
            }
            if isComplete { end { _ in .allEnded } }
        }

        func end(_ end: (Int) -> End) {
            let (onEnd, limit, running) = state.withLock { ($0.onEnd.take(), $0.limit.take(), $0.running) }
            limit?.cancel()
            onEnd?(self, end(running))
        }
    }
}
