import AsyncOperations
import FlowrunTestSupport
import Synchronization

/// The operations and queues of a `Program` while it runs, and the calls that it makes.
final class ProgramRun: Sendable {
    /// What a program is run by: the controlled executor, or real threads.
    struct World: Sendable {
        let clock: ManualClock
        /// Begins a task.
        let spawn: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
        let cancel: @Sendable (Task<Void, Never>) -> Void
        /// Where user code begins, ends or sees something: others may go on here.
        let point: @Sendable () -> Void
        /// Hears of each event.
        let note: @Sendable (ProgramRecord.Event) -> Void
    }

    enum Handle: Sendable {
        case single(AsyncOperation<Int, any Error>)
        case compound(CompoundOperation)

        var erased: AnyAsyncOperation {
            switch self {
            case .single(let operation): operation.erased
            case .compound(let operation): operation.erased
            }
        }
    }

    struct BodyError: Error {}

    let program: Program
    let pools = Program.pools.enumerated().map { Pool("p\($0.offset)", $0.element) }
    let world: World
    let record = ProgramRecord()
    private let suspendCalls = Atomic<UInt64>(0)
    private let handles: Mutex<[Handle?]>
    private let queues: Mutex<[AsyncOperationQueue?]>
    /// Bodies that were refused a wait and stay, to show that what they wanted to wait for does not end before.
    let lingering = Mutex<[Int: Latch]>([:])

    /// Makes the operations and queues, in a task of the world.
    init(_ program: Program, in world: World) {
        self.program = program
        self.world = world
        handles = Mutex(Array(repeating: nil, count: program.operations.count))
        queues = Mutex([])
        let queues = program.queues.map { queue in
            try? AsyncOperationQueue(
                maxConcurrentOperationCount: queue.width, isSuspended: queue.isSuspended, clock: world.clock)
        }
        self.queues.withLock { $0 = queues }
        for index in program.operations.indices { make(index) }
        for (index, operation) in program.operations.enumerated() {
            if let input = operation.input { see(.needAccepted(index, on: input, .success)) }
            if let parent = operation.parent { perform(.addMember(index, to: parent)) }
            for need in operation.needs { perform(.addDependency(index, on: need.on, need.kind)) }
        }
    }

    private func make(_ index: Int) {
        let handle = ProgramRun.handle(index, self)
        handles.withLock { $0[index] = handle }
        switch handle {
        case .single(let operation): operation.addCompletion { [weak self] in self?.ended(index, $0.outcome) }
        case .compound(let operation): operation.addCompletion { [weak self] in self?.ended(index, $0.outcome) }
        }
    }

    private func ended(_ index: Int, _ outcome: OperationOutcome) {
        see(.ended(index, outcome))
        for action in program.operations[index].completion { perform(action) }
        record.noteCompletionOver()
    }

    func see(_ event: ProgramRecord.Event) {
        world.point()
        record.add(event)
        world.note(event)
    }

    func handle(_ index: Int) -> Handle? { handles.withLock { $0[index] } }
    func operation(_ index: Int) -> AnyAsyncOperation? { handle(index)?.erased }
    func queue(_ index: Int) -> AsyncOperationQueue? { queues.withLock { $0[index] } }

    /// Lets go of an operation; what that frees is freed outside the lock.
    func drop(_ index: Int) {
        _ = handles.withLock { handles in
            defer { handles[index] = nil }
            return handles[index]
        }
    }

    func dropQueue(_ index: Int) {
        _ = queues.withLock { queues in
            defer { queues[index] = nil }
            return queues[index]
        }
    }
}

// Calls.

extension ProgramRun {
    func perform(_ action: Program.Action) {
        world.point()
        do {
            try attempt(action)
        } catch let error as UsageError {
            see(.callRefused(error))
        } catch {
            see(.misheard("\(action) throws \(error)"))
        }
    }

    private func attempt(_ action: Program.Action) throws {
        switch action {
        case .add(let index, let queue):
            guard let target = self.queue(queue), let operation = operation(index) else { return }
            see(.adding(index))
            try target.add(operation)
            see(.taken(index, queue: queue))
        case .addTogether(let indices, let queue):
            let operations = indices.compactMap { operation($0) }
            guard let target = self.queue(queue), operations.count == indices.count else { return }
            for index in indices { see(.adding(index)) }
            try target.add(contentsOf: operations)
            for index in indices { see(.taken(index, queue: queue)) }
        case .addBarrier(let index, let queue):
            guard let target = self.queue(queue), let operation = operation(index) else { return }
            see(.adding(index))
            try target.addBarrier(operation)
            see(.taken(index, queue: queue))
        case .addMember(let index, let compound):
            guard case .compound(let target)? = handle(compound), let operation = operation(index) else { return }
            try target.add(operation)
            see(.memberAccepted(index, of: compound))
        case .start(let index):
            try start(index)
            see(.taken(index, queue: nil))
        case .addDependency(let index, let other, let kind):
            guard let dependent = operation(index), let prerequisite = operation(other) else { return }
            try dependent.addDependency(on: prerequisite, kind)
            see(.needAccepted(index, on: other, kind))
        case .removeDependency(let index, let other):
            guard let dependent = operation(index), let prerequisite = operation(other) else { return }
            see(.needRemoved(index, on: other))
            try dependent.removeDependency(on: prerequisite)
        case .suspend(let index): try operation(index)?.suspend()
        case .resume(let index):
            guard let operation = operation(index) else { return }
            try operation.resume()
            see(.taken(index, queue: nil))
        case .cancel(let index):
            guard let operation = operation(index) else { return }
            if operation.cancel() { see(.cancelled(index, operation.state)) }
        case .drop(let index):
            if !program.isKept(index) { drop(index) }
        case .wait(let index, let isCancelled): wait(for: index, isCancelled)
        case .suspendQueue(let queue):
            guard let target = self.queue(queue) else { return }
            let call = suspendCalls.add(1, ordering: .relaxed).newValue
            see(.suspending(queue: queue, call: call))
            target.suspend()
            let running = program.operations.indices.filter { operation($0)?.isRunning ?? true }
            see(.suspended(queue: queue, call: call, running: Set(running)))
        case .resumeQueue(let queue):
            see(.resuming(queue: queue))
            self.queue(queue)?.resume()
            see(.resumed(queue: queue))
        case .cancelAll(let queue): self.queue(queue)?.cancelAll()
        case .setWidth(let queue, let width): try self.queue(queue)?.setMaxConcurrentOperationCount(width)
        case .waitUntilIdle(let queue):
            guard let target = self.queue(queue) else { return }
            inTask { _ = try? await target.waitUntilIdle() }
        case .listen(let queue):
            guard let events = self.queue(queue)?.events(bufferingNewest: .max) else { return }
            inTask { [self] in
                if let problem = await EventListener.problem(with: events) { see(.misheard(problem)) }
            }
        case .shutdown(let queue, let grace):
            guard let target = self.queue(queue) else { return }
            inTask { _ = try? await target.shutdown(grace: grace.map { .milliseconds($0) }) }
        case .dropQueue(let queue): if !program.isQueueWaitedFor(queue) { dropQueue(queue) }
        case .run(let queue):
            guard let target = self.queue(queue) else { return }
            inTask { try? await target.run { _ in await Task.yield() } }
        case .watch(let index):
            guard let updates = operation(index)?.progressUpdates() else { return }
            inTask { [self] in await watch(updates) }
        case .watchQueue(let queue):
            guard let updates = self.queue(queue)?.progressUpdates() else { return }
            inTask { [self] in await watch(updates) }
        case .track(let one, let other, let timeout): try track([one, other], timeout)
        }
    }

    private func start(_ index: Int) throws(UsageError) {
        do throws(UsageError) {
            try operation(index)?.start(clock: world.clock)
        } catch {
            if case .alreadyEnqueued = error, program.isOnlyStarted(index) {
                see(.misheard("o\(index) is said to belong to something"))
            }
            throw error
        }
    }

    private func watch(_ updates: AsyncStream<OperationProgress>) async {
        for await progress in updates where progress.completed > progress.total || progress.completed < 0 {
            see(.misheard("\(progress.completed) of \(progress.total) are done"))
        }
    }

    private func track(_ indices: [Int], _ timeout: Int?) throws {
        let tracker = TaskTracker(clock: world.clock)
        see(.waiting)
        let session = try tracker.begin(timeout: timeout.map { .milliseconds($0) }) { [self] end in
            if case .allEnded = end, let index = indices.first(where: { operation($0)?.isFinished == false }) {
                see(.misheard("a tracker says that all have ended, but o\(index) has not"))
            }
            see(.waited)
        }
        for index in indices {
            let token = session.startTask()
            switch handle(index) {
            case .single(let operation): operation.addCompletion { _ in token?.end() }
            case .compound(let operation): operation.addCompletion { _ in token?.end() }
            case nil: token?.end()
            }
        }
    }

    /// Work that has to come to an end.
    @discardableResult
    private func inTask(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        see(.waiting)
        return world.spawn { [self] in
            await work()
            see(.waited)
        }
    }

    /// A wait that is refused, because the options do not let the operation start, is told no end.
    private func tell<Success, Failure>(_ index: Int, _ result: Result<Success, OperationFailure<Failure>>) {
        if case .failure(.refused) = result { return }
        see(.told(index, result.outcome))
    }

    private func wait(for index: Int, _ isCancelled: Bool) {
        guard let handle = handle(index) else { return }
        let task = inTask { [self] in
            switch handle {
            case .single(let operation) where isCancelled: _ = try? await operation.value
            case .compound(let operation) where isCancelled: _ = try? await operation.value
            case .single(let operation): tell(index, await operation.result)
            case .compound(let operation): tell(index, await operation.result)
            }
        }
        if isCancelled {
            world.point()
            world.cancel(task)
        }
    }
}
