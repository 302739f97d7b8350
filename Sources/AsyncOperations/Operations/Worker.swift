/// A task that runs bodies one after another, so an operation whose body never suspends needs no task of its own; or a
/// child task that runs a part of a body.
///
/// It ends when its queue has nothing more to start, or when the task was cancelled or its priority raised for one
/// body: later bodies then get another worker.
final class Worker: Sendable {
    /// Unchecked: the task is only cancelled and raised, and only while it runs.
    private struct State: @unchecked Sendable {
        /// nil before it has begun and after its end.
        var task: UnsafeCurrentTask?
        /// The number of threads that are cancelling or raising it. That runs user code, so it must not happen under
        /// the lock.
        var visitors = 0
        /// Resumed when the last visitor has left.
        var host: UnsafeContinuation<Void, Never>?
        var isCancelled = false
        var raisedTo: Priority?
    }

    @TaskLocal private static var current: Worker?

    let priority: Priority?
    private let state = Lock(State())
    /// The address of the task that runs its bodies, which distinguishes them from tasks that inherit the worker. Set
    /// before anything can inherit it. Not a reference, because tasks that inherit the worker may outlive that task.
    /// Another may have its address then; `control` is nil by that time.
    @exclusivity(unchecked) private nonisolated(unsafe) var ownTask: UInt = 0
    /// Used only by its own task.
    @exclusivity(unchecked) private nonisolated(unsafe) var control: BodyControl?

    private init(priority: Priority?) { self.priority = priority }

    /// The circumstances in which a worker's task begins.
    enum Beginning {
        case anywhere
        /// With the task-local values of the caller, and its priority if neither the body nor its queue has one.
        case inheriting
        /// Like `inheriting`, but at once and on the calling thread until it first waits.
        case onThisThread
    }

    /// Starts a worker with its first body.
    static func begin(_ first: BodyControl, _ beginning: Beginning = .anywhere) {
        let worker = Worker(priority: first.priority ?? first.queue.priority)
        switch beginning {
        case .anywhere: launch(priority: worker.priority) { await worker.run(first) }
        case .inheriting: launchInheriting(priority: worker.priority) { await worker.run(first) }
        case .onThisThread: launchHere(priority: worker.priority) { await worker.run(first) }
        }
    }

    @inline(__always)
    @concurrent private func run(_ first: BodyControl) async {
        let task = takeTask()
        let (isCancelled, raisedTo) = state.withLock { state in
            state.task = task
            return (state.isCancelled, state.raisedTo)
        }
        if isCancelled { cancelling { task.cancel() } }
        if let raisedTo { task.escalatePriority(to: raisedTo.ofTask) }
        await Self.$current.withValue(self) {
            var next: BodyControl? = first
            while let control = next {
                self.control = control
                next = await control.queue.run(control, on: self)
            }
            control = nil
        }
        if !closeToVisitors() { await seeOff() }
    }

    /// Admits no more visitors. Returns true if there are none.
    private func closeToVisitors() -> Bool {
        state.withLock { state in
            state.task = nil
            return state.visitors == 0
        }
    }

    /// Waits until the present visitors have left.
    private func seeOff() async {
        await withUnsafeContinuation { continuation in
            let isFree = state.withLock { state in
                if state.visitors > 0 { state.host = continuation }
                return state.visitors == 0
            }
            if isFree { continuation.resume() }
        }
    }

    /// Changes the state, and calls `body` with the task if it is running.
    private func visit(_ change: (inout State) -> Void, _ body: (UnsafeCurrentTask) -> Void) {
        let task = state.withLock { state in
            change(&state)
            if state.task != nil { state.visitors += 1 }
            return state.task
        }
        guard let task else { return }
        body(task)
        let host = state.withLock { state in
            state.visitors -= 1
            return state.visitors == 0 ? state.host.take() : nil
        }
        host?.resume()
    }

    /// Runs a part of a body in the calling task, a child of the body's task, which waits for it. `body` is nil if the
    /// part does not belong to a body. A request to stop `job` cancels the calling task.
    static func runPart<Answer: Sendable>(
        of body: BodyControl?, as job: BodyControl? = nil, _ part: () async -> Answer
    ) async -> Answer {
        guard let body else { return await part() }
        let worker = Worker(priority: nil)
        worker.control = body
        let task = worker.takeTask()
        if let job {
            worker.state.withLock { $0.task = task }
            if !job.begin(on: worker) { cancelling { task.cancel() } }
        }
        let answer = await $current.withValue(worker) {
            // Tasks left behind inherit the value, and could be mistaken for the body's own task once that is gone.
            defer { worker.control = nil }
            return await part()
        }
        if !worker.closeToVisitors() { await worker.seeOff() }
        return answer
    }

    /// Makes the calling task its own.
    private func takeTask() -> UnsafeCurrentTask {
        guard let task = withUnsafeCurrentTask(body: { $0 }) else { preconditionFailure("a worker runs in a task") }
        ownTask = task.address
        return task
    }

    /// The body that the calling task runs; nil if it runs none itself.
    static var runningBody: BodyControl? {
        guard let current else { return nil }
        // A task that inherited the value may wait where the body itself must not.
        return withUnsafeCurrentTask { $0?.address == current.ownTask ? current.control : nil }
    }

    /// True if a body may begin on the thread of the calling task, which is about to wait. False in another body,
    /// because such calls may be deeply nested, and on an executor that the user has chosen.
    static var mayLendThread: Bool {
        current == nil && withUnsafeCurrentTask { $0?.unownedTaskExecutor == nil }
    }

    /// True if the calling task runs bodies of this queue and is between two of them.
    static func isFree(in queue: QueueCore) -> Bool {
        guard let body = runningBody else { return false }
        return body.queue === queue && body.isOver
    }

    func cancel() {
        visit {
            $0.isCancelled = true
        } _: { task in
            cancelling { task.cancel() }
        }
    }

    func raise(to priority: Priority) {
        visit {
            $0.raisedTo = max(priority, $0.raisedTo ?? priority)
        } _: { task in
            task.escalatePriority(to: priority.ofTask)
        }
    }
}

extension UnsafeCurrentTask {
    /// The address of the task, to compare with others; it does not keep the task alive.
    fileprivate var address: UInt { unsafeBitCast(self, to: UInt.self) }
}
