import FlowrunTestSupport
import Platform
import Testing

@testable import AsyncOperations

@Suite(.timeLimit(.minutes(20))) struct AlarmClockTests {
    @Test func `rings come in the order of their times and never early`() async {
        let clock = AlarmClock()
        let order = Record<Int>()
        let done = Latch()
        let start = ContinuousClock.now
        for number in [3, 1, 2] {
            _ = clock.ring(at: start.advanced(by: .milliseconds(10 * number))) {
                #expect(.now >= start.advanced(by: .milliseconds(10 * number)))
                order.add(number)
                if number == 3 { done.open() }
            }
        }
        await done.wait()
        #expect(order.entries == [1, 2, 3])
    }

    @Test func `a ring that is cancelled never comes and leaves little behind`() async throws {
        let clock = AlarmClock()
        let far = ContinuousClock.now.advanced(by: .seconds(3600))
        let keep = try #require(clock.ring(at: far) { Issue.record("it rang an hour early") })
        for _ in 0..<10_000 {
            let number = try #require(clock.ring(at: far) { Issue.record("it rang though it was cancelled") })
            clock.cancel(number)
        }
        #expect(clock.count <= 65)
        clock.cancel(keep)
        let done = Latch()
        _ = clock.ring(at: .now) { done.open() }
        await done.wait()
    }

    @Test func `a timed call leaves nothing behind, however far its limit is`() async throws {
        for _ in 0..<1000 { try await withTimeout(.seconds(3600)) {} }
        let queue = AsyncOperationQueue()
        for _ in 0..<1000 { try await queue.run(options: .init(timeout: .seconds(3600))) { _ in } }
        // Others have limits, too.
        #expect(AlarmClock.shared.count < 1000)
    }

    @Test func `a sleep ends at its time or with its task`() async {
        #expect(await AlarmClock.shared.sleep(until: .now.advanced(by: .milliseconds(5))))
        let task = Task { await AlarmClock.shared.sleep(until: .now.advanced(by: .seconds(3600))) }
        task.cancel()
        #expect(await task.value == false)
    }

    /// The threads are released by what the limits do. In a process of its own, because the explorer stops threads of
    /// this one while they hold locks of the library, and needs the pool to go on.
    @Test func `a limit passes while all threads of the pool are blocked`() async {
        await #expect(processExitsWith: .success) {
            let limit = Duration.milliseconds(100)
            // More than the pool has threads.
            let blockers = (0..<Platform.processorCount + 2).map { _ in Platform.Sleeper() }
            // For each limit, true if a task of the pool says that it has passed.
            let passed = Record<Bool>()
            @Sendable func pass(inTask: Bool) {
                passed.add(inTask)
                if passed.entries.count >= 3 { for blocker in blockers { blocker.wake(at: .now) } }
            }
            let isUp = Meeting(of: 3)
            let begun = Crowd()
            let operation = AsyncOperation(options: .init(timeout: limit)) { context in
                begun.enter()
                context.onCancel { _ in pass(inTask: withUnsafeCurrentTask { $0 != nil }) }
                await isUp.come()
                await untilCancelled()
            }
            operation.addCompletion { _ in
                // On a busy machine the limit may pass before the body begins.
                guard begun.most == 0 else { return }
                pass(inTask: false)
                Task { await isUp.come() }
            }
            try operation.start()
            let call = Task {
                try await withTimeout(limit) {
                    await withTaskCancellationHandler {
                        await isUp.come()
                        await untilCancelled()
                    } onCancel: {
                        pass(inTask: withUnsafeCurrentTask { $0 != nil })
                    }
                }
            }
            await isUp.come()
            let session = try TaskTracker().begin(timeout: limit) { _ in
                pass(inTask: withUnsafeCurrentTask { $0 != nil })
            }
            let blocked = blockers.map { blocker in Task.detached { blocker.sleep() } }
            for task in blocked { await task.value }
            #expect(passed.entries.count == 3 && !passed.entries.dropFirst(2).contains(true))
            #expect(await operation.outcome == .timeout)
            await #expect(throws: OperationFailure<Never>.self) { try await call.value }
            #expect(session.startTask() == nil)
        }
    }
    /// In a process of its own for the same reason. What a limit stops here is told by the limit's thread, or the
    /// threads of the pool are never released.
    @Test func `so do those of a job, of a shutdown and after a completion that waits for the pool`() async {
        await #expect(processExitsWith: .success) {
            let limit = Duration.milliseconds(100)
            let blockers = (0..<Platform.processorCount + 2).map { _ in Platform.Sleeper() }
            let passed = Record<Bool>()
            let isUp = Meeting(of: 4)
            @Sendable func lastUntilStopped() async {
                await withTaskCancellationHandler {
                    await isUp.come()
                    await untilCancelled()
                } onCancel: {
                    passed.add(true)
                    if passed.entries.count >= 3 { for blocker in blockers { blocker.wake(at: .now) } }
                }
            }
            let job = Task {
                try await Waterfall<Int, Int, any Error>()
                    .then("job", timeout: limit) { number in
                        await lastUntilStopped()
                        return number
                    }.run(1)
            }
            let closing = AsyncOperationQueue()
            try closing.add { await lastUntilStopped() }
            let shutdown = Task { try await closing.shutdown(grace: limit) }
            let narrow = try AsyncOperationQueue(maxConcurrentOperationCount: 1)
            let limited = try narrow.add(options: .init(timeout: limit)) { await lastUntilStopped() }
            let waiting = try narrow.add {}
            waiting.addOutcomeCompletion { _ in }
            await isUp.come()
            while (try? closing.add {}) != nil { await Task.yield() }
            let asleep = Crowd()
            let blocked = blockers.map { blocker in
                Task.detached {
                    asleep.enter()
                    if asleep.now >= Platform.processorCount { try Platform.startThread { waiting.cancel() } }
                    blocker.sleep()
                }
            }
            for task in blocked { try await task.value }
            #expect(passed.entries.count == 3)
            await #expect(throws: (any Error).self) { try await job.value }
            #expect(try await shutdown.value.count >= 1)
            #expect(await limited.outcome == .timeout)
        }
    }
}
