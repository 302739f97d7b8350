import FlowrunTestSupport
import Synchronization
import Testing

@testable import AsyncOperations

@Suite(.timeLimit(.minutes(20))) struct PriorityTests {
    /// Waits until the calling task has a priority, and leaves its thread to others until then.
    private static func reach(_ priority: TaskPriority) async {
        let reached = Latch()
        await withTaskPriorityEscalationHandler {
            if Task.currentPriority >= priority { reached.open() }
            await reached.wait()
        } onPriorityEscalated: { _, new in
            if new >= priority { reached.open() }
        }
    }

    @Test func `a body begins at the priority of whoever waits for it`() async throws {
        let queue = AsyncOperationQueue(isSuspended: true)
        let operation = AsyncOperation(options: .init(taskPriority: .low)) { _ in Task.currentPriority }
        try queue.add(operation)
        let waiter = Task(priority: .high) { await operation.result }
        while operation.waiterPriority == nil { await Task.yield() }
        queue.resume()
        let result = await waiter.value
        #expect(result == .success(.high))
    }

    @Test func `a waiter that comes while the body runs raises it`() async throws {
        let up = Latch()
        let operation = AsyncOperation(options: .init(taskPriority: .low)) { _ in
            up.open()
            await Self.reach(.high)
        }
        try operation.start()
        await up.wait()
        await Task(priority: .high) { _ = await operation.result }.value
        #expect(operation.isFinished)
    }

    @Test func `one that is raised does not raise what runs after it`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let up = Latch()
        let raised = AsyncOperation { _ in
            up.open()
            await Self.reach(.high)
        }
        let next = AsyncOperation { _ in Task.currentPriority }
        try queue.add(raised, next)
        await up.wait()
        await Task(priority: .high) { _ = await raised.result }.value
        let priorities = Record<TaskPriority>()
        let told = Latch()
        next.addCompletion { result in
            if case .success(let priority) = result { priorities.add(priority) }
            told.open()
        }
        await told.wait()
        #expect(priorities.entries.allSatisfy { $0 < .high } && priorities.entries.count == 1)
    }

    @Test func `whoever waits for a compound operation raises its members`() async throws {
        let queue = AsyncOperationQueue(isSuspended: true)
        let member = AsyncOperation(options: .init(taskPriority: .low)) { _ in Task.currentPriority }
        let compound = try CompoundOperation { try CompoundOperation { member } }
        try queue.add(compound)
        let waiter = Task(priority: .high) { await compound.outcome }
        while compound.waiterPriority == nil { await Task.yield() }
        queue.resume()
        _ = await waiter.value
        #expect(await member.result == .success(.high))
    }

    @Test func `a body started by itself has the priority of who started it`() async throws {
        for priority in [TaskPriority.low, .high] {
            let operation = AsyncOperation { _ in Task.basePriority }
            // A wait for the task, or for the operation, would raise it.
            Task(priority: priority) { try operation.start() }
            while !operation.isFinished { await Task.yield() }
            #expect(await operation.result == .success(priority))
        }
    }

    /// An operation of low priority that runs until it is raised.
    private func low(_ name: String, up: Latch) -> AsyncOperation<Void, Never> {
        AsyncOperation(name, options: .init(taskPriority: .background)) { _ in
            up.open()
            await Self.reach(.high)
        }
    }

    @Test func `whoever waits raises what runs behind a dependency and before it in a queue of one`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let up = Latch()
        let head = low("head", up: up)
        let next = AsyncOperation("next", options: .init(taskPriority: .background)) { _ in Task.currentPriority }
        let middle = AsyncOperation("middle") { _ in }
        let last = AsyncOperation("last") { _ in }
        try last.addDependency(on: middle)
        try queue.add(head, next, middle)
        try last.start()
        await up.wait()
        await Task(priority: .high) { _ = await last.result }.value
        #expect(head.isFinished)
        // It began before what was waited for.
        #expect(await next.result == .success(.high))
    }

    @Test func `whoever waits raises the holder of a mutex and of a place`() async throws {
        let queue = AsyncOperationQueue()
        let up = Latch()
        let holder = try CompoundOperation("holder", options: .init(mutexes: ["m"])) { low("inside", up: up) }
        let rival = AsyncOperation("rival", options: .init(mutexes: ["m"])) { _ in }
        try queue.add(holder, rival)
        await up.wait()
        await Task(priority: .high) { _ = await rival.result }.value
        #expect(holder.isFinished)
        let placeUp = Latch()
        let (first, second) = (low("first", up: placeUp), AsyncOperation("second") { _ in })
        let serial = try CompoundOperation("serial", mode: .serial) {
            first
            second
        }
        try queue.add(serial)
        await placeUp.wait()
        await Task(priority: .high) { _ = await second.result }.value
        #expect(first.isFinished)
    }

    @Test func `an operation of high priority raises what it depends on, whenever that is said`() async throws {
        let queue = AsyncOperationQueue()
        for isLate in [false, true] {
            let up = Latch()
            let head = low("head", up: up)
            let urgent = AsyncOperation("urgent", options: .init(taskPriority: .high)) { _ in }
            let gate = AsyncOperation("gate") { _ in }
            try urgent.addDependency(on: gate)
            if !isLate { try urgent.addDependency(on: head) }
            try queue.add(head)
            await up.wait()
            try queue.add(urgent)
            if isLate { try urgent.addDependency(on: head) }
            try queue.add(gate)
            let done = Latch()
            urgent.addCompletion { _ in done.open() }
            await done.wait()
            #expect(head.isFinished)
        }
    }

    @Test func `a body that waits passes on the priority of who waits for it`() async throws {
        let queue = AsyncOperationQueue()
        let up = Latch()
        let head = low("head", up: up)
        let waiting = AsyncOperation("waiting", options: .init(taskPriority: .background)) { _ in
            _ = await head.result
        }
        try queue.add(head, waiting)
        await up.wait()
        await Task(priority: .high) { _ = await waiting.result }.value
        #expect(head.isFinished)
    }
}

extension AsyncOperationProtocol {
    /// The highest priority of a task that waits for it.
    fileprivate var waiterPriority: TaskPriority? {
        erased.core.state.withLock { $0.rare?.waiterPriority }?.ofTask
    }
}
