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
        #expect(await waiter.value == .success(.high))
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
            // Whoever waits for the task, or for the operation, would raise it.
            Task(priority: priority) { try operation.start() }
            while !operation.isFinished { await Task.yield() }
            #expect(await operation.result == .success(priority))
        }
    }
}

extension AsyncOperationProtocol {
    /// The highest priority of a task that waits for it.
    fileprivate var waiterPriority: TaskPriority? {
        erased.core.state.withLock { $0.rare?.waiterPriority }?.ofTask
    }
}
