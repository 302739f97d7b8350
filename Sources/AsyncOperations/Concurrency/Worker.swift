/// A task that runs bodies one after another, so an operation whose body never suspends costs no task of its own.
///
/// It ends when its queue has nothing more to start, or when the task was cancelled or its priority raised for one
/// body: later bodies then get another worker.
final class Worker: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var isCancelled = false
        var raisedTo: Priority?
    }

    /// A worker and its task, which tells the worker's own body from tasks that inherit the value. Unchecked, because
    /// the task is only compared.
    private struct Identity: @unchecked Sendable {
        let worker: Worker
        let task: UnsafeCurrentTask
    }

    @TaskLocal private static var current: Identity?

    let priority: Priority?
    private let state = Lock(State())
    /// Used by its own task only.
    @exclusivity(unchecked) private nonisolated(unsafe) var control: BodyControl?

    private init(priority: Priority?) { self.priority = priority }

    /// Starts a worker with its first body. If `inherits`, it has the task-local values of the caller, and its priority
    /// where neither the body nor its queue has one.
    static func begin(_ first: BodyControl, inherits: Bool = false) {
        let worker = Worker(priority: first.priority ?? first.queue.priority)
        let task =
            inherits
            ? launchInheriting(priority: worker.priority) { await worker.run(first) }
            : launch(priority: worker.priority) { await worker.run(first) }
        let (isCancelled, raisedTo) = worker.state.withLock { state in
            state.task = task
            return (state.isCancelled, state.raisedTo)
        }
        if isCancelled { cancelling { task.cancel() } }
        if let raisedTo { raise(task, to: raisedTo) }
    }

    @inline(__always)
    private func run(_ first: BodyControl) async {
        await Self.$current.withValue(identity) {
            var next: BodyControl? = first
            while let control = next {
                self.control = control
                next = await control.queue.run(control, on: self)
            }
            control = nil
        }
    }

    /// Runs a part of a body in the calling task, a child of the body's task, which waits for it. nil is for what is no
    /// part of any body.
    static func runPart<Answer: Sendable>(of control: BodyControl?, _ part: () async -> Answer) async -> Answer {
        guard let control else { return await part() }
        let worker = Worker(priority: nil)
        worker.control = control
        return await $current.withValue(worker.identity) {
            // Tasks that it leaves behind inherit the value, and could be mistaken for its own task once that is gone.
            defer { worker.control = nil }
            return await part()
        }
    }

    /// Its identity. To be called in its own task.
    private var identity: Identity {
        guard let identity = withUnsafeCurrentTask(body: { $0.map { Identity(worker: self, task: $0) } }) else {
            preconditionFailure("a worker runs in a task")
        }
        return identity
    }

    /// The body that the calling task runs; nil if it runs none itself.
    static var runningBody: BodyControl? {
        guard let current else { return nil }
        // A task that inherited the value may wait for what the body itself must not wait for.
        return withUnsafeCurrentTask { $0 == current.task ? current.worker.control : nil }
    }

    /// True if the calling task runs bodies of this queue and is between two of them.
    static func isFree(in queue: QueueCore) -> Bool {
        guard let body = runningBody else { return false }
        return body.queue === queue && body.isOver
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        cancelling { task?.cancel() }
    }

    func raise(to priority: Priority) {
        let task = state.withLock { state in
            state.raisedTo = max(priority, state.raisedTo ?? priority)
            return state.task
        }
        if let task { Self.raise(task, to: priority) }
    }

    private static func raise(_ task: Task<Void, Never>, to priority: Priority) {
        task.escalatePriority(to: priority.ofTask)
    }
}
