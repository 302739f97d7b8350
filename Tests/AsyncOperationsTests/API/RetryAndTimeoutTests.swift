import AsyncOperations
import FlowrunTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(20))) struct RetryAndTimeoutTests {
    // L1
    @Test func `it is tried until it succeeds, and all attempts count`() async throws {
        let attempts = Record<Int>()
        let flaky = AsyncOperation(options: .init(retry: RetryPolicy(attempts: 5))) { context async throws(TestError) in
            attempts.add(context.attempt)
            if context.attempt < 3 { throw TestError(context.attempt) }
            return context.attempt
        }
        try flaky.start()
        #expect(await flaky.result == .success(3))
        #expect(attempts.entries == [1, 2, 3])
        let hopeless = AsyncOperation(options: .init(retry: RetryPolicy(attempts: 3))) {
            context async throws(TestError) -> Int in throw TestError(context.attempt)
        }
        try hopeless.start()
        #expect(await hopeless.result == .failure(.failed(TestError(3))))
    }

    // L2
    @Test func `back-offs grow as they are told`() {
        func delays(_ backoff: RetryPolicy.Backoff, _ count: Int) -> [Duration] {
            var generator = SystemRandomNumberGenerator()
            let policy = RetryPolicy(attempts: count + 1, backoff: backoff)
            return (2..<count + 2).map { policy.delay(beforeAttempt: $0, using: &generator) }
        }
        func seconds(_ numbers: Int...) -> [Duration] { numbers.map(Duration.seconds) }
        #expect(delays(.none, 3) == seconds(0, 0, 0))
        #expect(delays(.constant(.seconds(4)), 3) == seconds(4, 4, 4))
        #expect(delays(.linear(initial: .zero, step: .seconds(3)), 4) == seconds(0, 3, 6, 9))
        #expect(
            delays(.fibonacci(unit: .seconds(1), max: .seconds(30)), 10) == seconds(0, 1, 1, 2, 3, 5, 8, 13, 21, 30))
        #expect(
            delays(.exponential(factor: 2, initial: .seconds(1), max: .seconds(20)), 6) == seconds(1, 2, 4, 8, 16, 20))
    }

    // L2
    @Test func `chance stays within its bounds`() {
        var generator = SeededGenerator(seed: 7)
        let policy = RetryPolicy(attempts: 2, backoff: .constant(.seconds(10)), jitter: 0.2)
        for _ in 0..<100_000 {
            let delay = policy.delay(beforeAttempt: 2, using: &generator)
            #expect(delay >= .seconds(8) && delay <= .seconds(10))
        }
    }

    // L3
    @Test func `success and what the predicate refuses are not tried again`() async throws {
        let retry = RetryPolicy(attempts: 3)
        let successes = Crowd()
        let success = AsyncOperation(options: .init(retry: retry)) { _ in successes.enter() }
        let failures = Crowd()
        let options = OperationOptions(retry: retry) { ($0 as? TestError)?.number == 75 }
        let failure = AsyncOperation(options: options) { _ async throws(TestError) -> Void in
            failures.enter()
            throw TestError(3)
        }
        try success.start()
        try failure.start()
        try await success.value
        #expect(await failure.result.outcome == .failure)
        #expect(successes.now == 1 && failures.now == 1)
    }

    // L5
    @Test func `of several attempts only the last one's value counts`() async throws {
        let clock = ManualClock()
        let options = OperationOptions(timeout: .seconds(1), retry: RetryPolicy(attempts: 2))
        let operation = AsyncOperation(options: options) { context in
            if context.attempt == 1 { await untilCancelled() }
            return context.attempt
        }
        try operation.start(clock: clock)
        await clock.advance(by: .seconds(1))
        #expect(await operation.result == .success(2))
    }

    // L6
    @Test func `there is no delay after the last attempt`() async throws {
        let clock = ManualClock()
        let retry = RetryPolicy(attempts: 2, backoff: .constant(.seconds(3600)))
        let operation = failing(options: .init(retry: retry))
        try operation.start(clock: clock)
        await clock.advance(by: .seconds(3600))
        #expect(await operation.outcome == .failure)
        #expect(clock.now.offset == .seconds(3600))
    }

    // K2
    @Test func `what ends in time leaves no sleeper behind`() async throws {
        let clock = ManualClock()
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 4, clock: clock)
        for _ in 0..<1000 { try queue.add(nothing(options: .init(timeout: .seconds(3600)))) }
        try await queue.waitUntilIdle()
        while clock.sleeperCount > 0 { await Task.yield() }
        #expect(clock.sleeperCount == 0)
    }

    // K3
    @Test func `cancelled first, it is cancelled and not timed out`() async throws {
        let clock = ManualClock()
        let (up, go) = (Latch(), Latch())
        let operation = AsyncOperation(options: .init(timeout: .seconds(1))) { _ in
            up.open()
            await go.wait()
        }
        try operation.start(clock: clock)
        await up.wait()
        operation.cancel()
        clock.move(by: .seconds(2))
        go.open()
        #expect(await operation.outcome == .cancelled)
    }

    // K4
    @Test func `a limit of nothing is refused`() throws {
        let operation = nothing(options: .init(timeout: .zero))
        #expect(throws: UsageError.invalidTimeout(operation.id, .zero)) { try operation.start() }
        let retried = nothing(options: .init(retry: RetryPolicy(attempts: 2, deadline: .zero)))
        #expect(throws: UsageError.invalidTimeout(retried.id, .zero)) { try retried.start() }
        let compound = try CompoundOperation(options: .init(timeout: .seconds(-1))) { nothing() }
        let queue = AsyncOperationQueue()
        #expect(throws: UsageError.invalidTimeout(compound.id, .seconds(-1))) { try queue.add(nothing(), compound) }
    }

    // K5
    @Test func `of several limits the earliest counts and is named`() async throws {
        let clock = ManualClock()
        let member = hanging(options: .init(timeout: .seconds(3)))
        let compound = try CompoundOperation(options: .init(timeout: .seconds(1))) { member }
        try compound.start(clock: clock)
        await clock.advance(by: .seconds(1))
        #expect(await limit(of: compound) == [.seconds(1)])
        #expect(await member.result == .failure(.cancelled(.deadline(compound.id))))
    }

    // K6
    @Test func `the clock starts with the body, not in the queue`() async throws {
        let clock = ManualClock()
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1, clock: clock)
        let (up, go) = (Latch(), Latch())
        let queued = nothing(options: .init(timeout: .seconds(1)))
        try queue.add(holding(up: up, until: go), queued)
        await up.wait()
        clock.move(by: .seconds(100))
        go.open()
        #expect(await queued.outcome == .success)
    }

    // K7
    @Test func `one limit over a set of calls ends it once`() async throws {
        let clock = ManualClock()
        let ends = Record<OperationOutcome>()
        let compound = try CompoundOperation(options: .init(timeout: .seconds(10))) {
            hanging()
            nothing()
            hanging()
        }
        compound.addCompletion { ends.add($0.outcome) }
        try compound.start(clock: clock)
        await clock.advance(by: .seconds(10))
        #expect(await compound.outcome == .timeout)
        #expect(ends.entries == [.timeout])
    }

    // K9
    @Test func `a body that does not listen is waited for`() async throws {
        let clock = ManualClock()
        let (told, go) = (Latch(), Latch())
        let deaf = AsyncOperation(options: .init(timeout: .seconds(1))) { context in
            context.onCancel { _ in told.open() }
            await go.wait()
        }
        try deaf.start(clock: clock)
        await clock.advance(by: .seconds(1))
        await told.wait()
        #expect(deaf.state == .executing)
        go.open()
        #expect(await deaf.outcome == .timeout)
    }

    // K10
    @Test func `limit and end at the same instant make one outcome`() async throws {
        for _ in 0..<200 {
            let clock = ManualClock()
            let ends = Record<OperationOutcome>()
            let operation = AsyncOperation(options: .init(timeout: .seconds(1))) { context in
                try? await context.clock.sleep(for: .seconds(1))
            }
            operation.addCompletion { ends.add($0.outcome) }
            try operation.start(clock: clock)
            await clock.advance(by: .seconds(1))
            let outcome = await operation.outcome
            #expect(ends.entries == [outcome])
            #expect(outcome == .success || outcome == .timeout)
        }
    }
}
