import AsyncOperations
import FlowrunTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(20))) struct CallbackTests {
    /// An operation that was told to stop while it waits for its completion.
    private func stoppedOperation() async throws -> (AsyncOperation<Int, TestError>, Completion<Int, TestError>) {
        let (up, stopped) = (Latch(), Latch())
        let kept = Record<Completion<Int, TestError>>()
        let operation = AsyncOperation<Int, TestError>(whenStopped: .wait) { context, completion in
            kept.add(completion)
            context.onCancel { _ in stopped.open() }
            up.open()
        }
        try operation.start()
        await up.wait()
        operation.cancel()
        await stopped.wait()
        return (operation, kept.entries[0])
    }

    @Test func `a handler that is told to stop gets a completion that ends the body`() async throws {
        let up = Latch()
        let kept = Record<Completion<Int, TestError>>()
        let operation = AsyncOperation<Int, TestError>(whenStopped: .wait) { _, completion in
            kept.add(completion)
            completion.onStop { _, completion in completion.fail(TestError(3)) }
            up.open()
        }
        try operation.start()
        await up.wait()
        operation.cancel(.shutdown)
        #expect(await operation.result == .failure(.cancelled(.shutdown, underlying: TestError(3))))
        #expect(kept.entries[0].succeed(1) == false)
    }

    @Test func `a completion that everybody but such a handler has dropped is abandoned`() async throws {
        let told = Crowd()
        let operation = AsyncOperation<Int, Never>(whenStopped: .wait) { _, completion in
            completion.onStop { _, completion in
                told.enter()
                completion.succeed(1)
            }
        }
        try operation.start()
        #expect(await operation.result == .failure(.cancelled(.abandoned)))
        #expect(told.now == 0)
    }

    @Test func `a handler that comes after the request is called at once`() async throws {
        let (operation, completion) = try await stoppedOperation()
        let reasons = Record<AsyncOperationContext.CancellationReason>()
        completion.onStop { reason, completion in
            reasons.add(reason)
            completion.succeed(1)
        }
        #expect(reasons.entries == [.requested])
        #expect(await operation.outcome == .cancelled)
    }

    @Test func `work that is left behind ends its operation at once, and its late answer does not count`() async throws
    {
        let up = Latch()
        let kept = Record<Completion<Int, Never>>()
        let operation = AsyncOperation<Int, Never>(
            whenStopped: .leave,
            callback: { _, completion in
                kept.add(completion)
                up.open()
            })
        try operation.start()
        await up.wait()
        operation.cancel()
        #expect(await operation.result == .failure(.cancelled(.requested)))
        #expect(kept.entries[0].succeed(7) == false)
    }

    @Test func `work that is waited for ends its operation when it answers`() async throws {
        let (operation, completion) = try await stoppedOperation()
        #expect(operation.state == .executing)
        #expect(completion.fail(TestError(1)))
        #expect(await operation.result == .failure(.cancelled(.requested, underlying: TestError(1))))
    }

    @Test func `a limit leaves work behind too, and an answer in time counts all the same`() async throws {
        let clock = ManualClock()
        let kept = Record<Completion<Int, Never>>()
        func operation() -> AsyncOperation<Int, Never> {
            AsyncOperation(options: .init(timeout: .seconds(1)), whenStopped: .leave) { _, completion in
                kept.add(completion)
            }
        }
        let late = operation()
        try late.start(clock: clock)
        await clock.advance(by: .seconds(1))
        #expect(await late.result == .failure(.timedOut(limit: .seconds(1), scope: late.id)))
        let timely = operation()
        try timely.start(clock: clock)
        while kept.entries.count < 2 { await Task.yield() }
        #expect(kept.entries[1].succeed(5))
        #expect(await timely.result == .success(5))
    }
}
