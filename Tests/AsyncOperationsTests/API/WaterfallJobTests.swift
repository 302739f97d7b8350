import AsyncOperations
import FlowrunTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(20))) struct WaterfallJobTests {
    @Test func `a job's limit covers one attempt, which is told to stop and waited for`() async throws {
        let clock = ManualClock()
        let (told, go) = (Latch(), Latch())
        let operation = Waterfall(from: Int.self, failure: TestError.self)
            .then { $0 + 1 }
            .then("slow", timeout: .seconds(2)) { context, number throws(TestError) -> Int in
                context.onCancel { _ in told.open() }
                await go.wait()
                throw TestError(number)
            }
            .then { $0 + 1 }
            .operation(1)
        try operation.start(clock: clock)
        await clock.advance(by: .seconds(2))
        await told.wait()
        #expect(operation.state == .executing && !operation.isCancelled)
        go.open()
        let result = await operation.result
        #expect(result == .failure(.timedOut(limit: .seconds(2), scope: operation.id, underlying: TestError(2))))
    }

    @Test func `a job that ends in time leaves no sleeper behind and its limit ends nothing else`() async throws {
        let clock = ManualClock()
        let (up, go) = (Latch(), Latch())
        let operation = Waterfall(from: Int.self, failure: Never.self)
            .then(timeout: .seconds(1)) { $0 + 1 }
            .then { number in
                up.open()
                await go.wait()
                return number * 10
            }
            .operation(1)
        try operation.start(clock: clock)
        await up.wait()
        #expect(clock.sleeperCount == 0)
        clock.move(by: .seconds(3600))
        go.open()
        #expect(await operation.result == .success(20))
    }

    @Test func `the job alone is tried again, with its input, and its attempts are counted`() async throws {
        let first = Crowd()
        let attempts = Record<[Int]>()
        let names = Record<String>()
        let waterfall = Waterfall("all", from: Int.self, failure: TestError.self)
            .then { number in
                first.enter()
                return number + 1
            }
            .then("flaky", retry: RetryPolicy(attempts: 3)) { context, number throws(TestError) -> Int in
                attempts.add([context.attempt, number])
                names.add(context.name)
                if context.attempt < 3 { throw TestError(context.attempt) }
                return number * 10
            }
        #expect(try await waterfall.run(1) == 20)
        #expect(first.now == 1)
        #expect(attempts.entries == [[1, 2], [2, 2], [3, 2]])
        #expect(names.entries == ["flaky", "flaky", "flaky"])
        #expect(waterfall.jobNames == ["", "flaky"])
    }

    @Test func `the last attempt's error counts, and what the predicate refuses is not tried again`() async throws {
        let attempts = Crowd()
        let flaky = Waterfall(from: Void.self, failure: TestError.self)
            .then(retry: RetryPolicy(attempts: 3)) { () throws(TestError) -> Int in
                attempts.enter()
                throw TestError(attempts.now)
            }
        await #expect(throws: OperationFailure.failed(TestError(3))) { try await flaky.run(()) }
        let hopeless = Waterfall(from: Void.self, failure: TestError.self)
            .then(retry: RetryPolicy(attempts: 5), retriesError: { $0.number < 5 }) { () throws(TestError) -> Int in
                attempts.enter()
                throw TestError(attempts.now)
            }
        await #expect(throws: OperationFailure.failed(TestError(5))) { try await hopeless.run(()) }
    }

    @Test func `an attempt that timed out is followed by another, unless the policy does not want it`() async throws {
        let clock = ManualClock()
        func operation(_ retry: RetryPolicy) -> AsyncOperation<Int, Never> {
            Waterfall(from: Int.self, failure: Never.self)
                .then(timeout: .seconds(1), retry: retry) { context, number in
                    if context.attempt == 1 { await untilCancelled() }
                    return number + context.attempt
                }
                .operation(10)
        }
        let retried = operation(RetryPolicy(attempts: 2))
        try retried.start(clock: clock)
        await clock.advance(by: .seconds(1))
        #expect(await retried.result == .success(12))

        let stubborn = operation(RetryPolicy(attempts: 2, retriesTimeout: false))
        try stubborn.start(clock: clock)
        await clock.advance(by: .seconds(1))
        #expect(await stubborn.result == .failure(.timedOut(limit: .seconds(1), scope: stubborn.id)))
    }

    @Test func `the back-off is measured on the queue's clock and ends at once on a cancel`() async throws {
        let clock = ManualClock()
        let queue = AsyncOperationQueue(clock: clock)
        let attempts = Crowd()
        let operation = Waterfall(from: Void.self, failure: TestError.self)
            .then(retry: RetryPolicy(attempts: 9, backoff: .constant(.seconds(60)))) { () throws(TestError) -> Int in
                attempts.enter()
                throw TestError(attempts.now)
            }
            .operation(())
        try queue.add(operation)
        await clock.advance(by: .seconds(60))
        while attempts.now < 2 || clock.sleeperCount == 0 { await Task.yield() }
        operation.cancel()
        // The clock stands still.
        #expect(await operation.outcome == .cancelled)
        #expect(attempts.now == 2)
    }

    @Test func `no attempt starts while the queue is suspended`() async throws {
        let clock = ManualClock()
        let queue = AsyncOperationQueue(clock: clock)
        let order = Record<String>()
        let operation = Waterfall(from: Void.self, failure: TestError.self)
            .then(retry: RetryPolicy(attempts: 2, backoff: .constant(.seconds(1)))) { context, _ throws(TestError) in
                order.add("attempt \(context.attempt)")
                if context.attempt == 1 { throw TestError() }
            }
            .operation(())
        try queue.add(operation)
        while clock.sleeperCount == 0 { await Task.yield() }
        queue.suspend()
        clock.move(by: .seconds(1))
        for _ in 0..<100 { await Task.yield() }
        order.add("resumed")
        queue.resume()
        #expect(await operation.outcome == .success)
        #expect(order.entries == ["attempt 1", "resumed", "attempt 2"])
    }

    @Test func `the deadline of all attempts of a job ends the one that runs`() async throws {
        let clock = ManualClock()
        let retry = RetryPolicy(attempts: 5, deadline: .seconds(3))
        let operation = Waterfall(from: Void.self, failure: Never.self)
            .then(timeout: .seconds(2), retry: retry) { await untilCancelled() }
            .operation(())
        try operation.start(clock: clock)
        await clock.advance(by: .seconds(2))
        await clock.advance(by: .seconds(1))
        let result = await operation.result
        #expect(result == .failure(.timedOut(limit: .seconds(3), scope: operation.id)))
    }

    @Test func `a cancel reaches a job with a limit, and decides also when the limit passes then`() async throws {
        let clock = ManualClock()
        let (up, go) = (Latch(), Latch())
        let reasons = Record<AsyncOperationContext.CancellationReason>()
        let attempts = Crowd()
        let retry = RetryPolicy(attempts: 3)
        let operation = Waterfall(from: Void.self, failure: TestError.self)
            .then(timeout: .seconds(1), retry: retry) { context, _ throws(TestError) -> Void in
                attempts.enter()
                context.onCancel { reasons.add($0) }
                up.open()
                await untilCancelled()
                await go.wait()
                throw TestError(7)
            }
            .operation(())
        try operation.start(clock: clock)
        await up.wait()
        operation.cancel(.shutdown)
        clock.move(by: .seconds(2))
        go.open()
        #expect(await operation.result == .failure(.cancelled(.shutdown, underlying: TestError(7))))
        #expect(reasons.entries == [.shutdown])
        #expect(attempts.now == 1)
    }

    @Test func `a job with a limit knows why it is to stop, and the next one is not told`() async throws {
        let clock = ManualClock()
        let reasons = Record<AsyncOperationContext.CancellationReason?>()
        let operation = Waterfall(from: Void.self, failure: Never.self)
            .then(timeout: .seconds(1), retry: RetryPolicy(attempts: 2)) { context, _ in
                if context.attempt == 1 { await untilCancelled() }
                reasons.add(context.cancellationReason)
            }
            .then { context, _ in reasons.add(context.cancellationReason) }
            .operation(())
        try operation.start(clock: clock)
        await clock.advance(by: .seconds(1))
        #expect(await operation.outcome == .success)
        #expect(reasons.entries == [.deadline(operation.id), nil, nil])
    }

    @Test func `a job may listen to suspension, and only while it runs`() async throws {
        let queue = AsyncOperationQueue()
        let (up, paused, resumed, second, go) = (Latch(), Latch(), Latch(), Latch(), Latch())
        let heard = Record<Bool>()
        let operation = Waterfall(from: Void.self, failure: Never.self)
            .then { context, _ in
                context.onSuspend { isSuspended in
                    heard.add(isSuspended)
                    (isSuspended ? paused : resumed).open()
                }
                up.open()
                await paused.wait()
                await context.waitWhileSuspended()
                await resumed.wait()
            }
            .then {
                second.open()
                await go.wait()
            }
            .operation(())
        try queue.add(operation)
        await up.wait()
        queue.suspend()
        await paused.wait()
        queue.resume()
        await second.wait()
        queue.suspend()
        queue.resume()
        go.open()
        #expect(await operation.outcome == .success)
        #expect(heard.entries == [true, false])
    }

    @Test func `a callback job may be finished from anywhere, once`() async throws {
        let answers = Record<Bool>()
        let waterfall = Waterfall(from: Int.self, failure: TestError.self)
            .then("ask", whenStopped: .wait) { (number, completion: Completion<String, TestError>) in
                Task.detached {
                    answers.add(completion.succeed("\(number)"))
                    answers.add(completion.fail(TestError()))
                }
            }
            .then { $0 + "!" }
        #expect(try await waterfall.run(3) == "3!")
        while answers.entries.count < 2 { await Task.yield() }
        #expect(answers.entries == [true, false])
        let failing = Waterfall(from: Int.self, failure: TestError.self)
            .then(whenStopped: .wait) { (number, completion: Completion<Int, TestError>) in
                completion.fail(TestError(number))
            }
        await #expect(throws: OperationFailure.failed(TestError(4))) { try await failing.run(4) }
    }

    @Test func `a callback job whose completion is dropped is abandoned, and not tried again`() async throws {
        let attempts = Crowd()
        let waterfall = Waterfall(from: Void.self, failure: TestError.self)
            .then(retry: RetryPolicy(attempts: 3), whenStopped: .wait) { (_, _: Completion<Int, TestError>) in
                attempts.enter()
            }
        await #expect(throws: OperationFailure<TestError>.cancelled(.abandoned)) { try await waterfall.run(()) }
        #expect(attempts.now == 1)
    }

    @Test func `work behind a callback may be left behind when its limit passes`() async throws {
        let clock = ManualClock()
        let kept = Record<Completion<Int, Never>>()
        let operation = Waterfall(from: Void.self, failure: Never.self)
            .then(timeout: .seconds(1), whenStopped: .leave) { (_, _, completion: Completion<Int, Never>) in
                kept.add(completion)
            }
            .operation(())
        try operation.start(clock: clock)
        await clock.advance(by: .seconds(1))
        #expect(await operation.result == .failure(.timedOut(limit: .seconds(1), scope: operation.id)))
        #expect(kept.entries[0].succeed(1) == false)
    }

    @Test func `mutexes of all jobs are held from the start of the operation to its end`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 8)
        let crowd = Crowd()
        let waterfall = Waterfall(from: Void.self, failure: Never.self)
            .then {
                crowd.enter()
                await Task.yield()
            }
            .then(mutexes: ["m"]) { await Task.yield() }
            .then(mutexes: ["n"]) { crowd.leave() }
        for name in ["m", "n"] {
            for _ in 0..<20 {
                try queue.add(
                    waterfall.operation(()),
                    AsyncOperation(options: .init(mutexes: [name])) { _ in
                        crowd.enter()
                        await Task.yield()
                        crowd.leave()
                    })
                try await queue.waitUntilIdle()
            }
        }
        #expect(crowd.most == 1)
        let compound = try CompoundOperation(options: .init(mutexes: ["o", "n"])) { waterfall.operation(()) }
        #expect(throws: UsageError.self) { try queue.add(compound) }
        #expect(try await waterfall.run(()) == ())
    }

    @Test func `a limit of nothing is refused where the operation starts`() async throws {
        let base = Waterfall(from: Int.self, failure: Never.self).then { $0 + 1 }
        let waterfall = base.then(timeout: .zero) { $0 }.then(timeout: .seconds(1)) { $0 }
        let unretried = base.then(retry: RetryPolicy(attempts: 2, deadline: .zero)) { $0 }
        for waterfall in [waterfall, unretried] {
            let operation = waterfall.operation(1)
            #expect(throws: UsageError.invalidTimeout(operation.id, .zero)) { try operation.start() }
            #expect(throws: UsageError.invalidTimeout(operation.id, .zero)) {
                try AsyncOperationQueue().add(operation)
            }
            let failure = await #expect(throws: OperationFailure<Never>.self) { try await waterfall.run(1) }
            guard case .refused(.invalidTimeout(_, .zero)) = failure else {
                Issue.record("it ran: \(String(describing: failure))")
                continue
            }
        }
        #expect(try await base.run(1) == 2)
    }

    @TaskLocal static var local = "none"

    @Test func `jobs of a run have the priority and the task-local values of the caller`() async throws {
        let waterfall = Waterfall(from: Void.self, failure: Never.self)
            .then { [(Self.local, Task.currentPriority)] }
            .then(timeout: .seconds(3600)) { $0 + [(Self.local, Task.currentPriority)] }
            .then { context, seen in seen + [(Self.local, Task.currentPriority)] }
        for priority in [TaskPriority.low, .high] {
            let seen = try await Task(priority: priority) {
                try await Self.$local.withValue("set") { try await waterfall.run(()) }
            }.value
            #expect(seen.map(\.0) == ["set", "set", "set"])
            // A wait for the task here may raise it.
            #expect(seen.allSatisfy { $0.1 >= priority })
        }
        let operation = Waterfall(from: Void.self, failure: Never.self).then { Self.local }.operation(())
        try Self.$local.withValue("set") { try operation.start() }
        #expect(await operation.result == .success("set"))
    }

    @Test func `a cancelled caller does not enter the first job`() async throws {
        let runs = Crowd()
        let waterfall = Waterfall(from: Int.self, failure: Never.self).then { number in
            runs.enter()
            return number
        }
        let task = Task { () async throws(OperationFailure<Never>) in
            await untilCancelled()
            return try await waterfall.run(1)
        }
        task.cancel()
        await #expect(throws: OperationFailure<Never>.cancelled(.requested)) { try await task.value }
        #expect(runs.now == 0)
    }

    @Test func `a job with a limit that would wait for its own operation is refused`() async throws {
        let handle = Record<AsyncOperation<OperationOutcome, Never>>()
        let operation = Waterfall(from: Void.self, failure: Never.self)
            .then(timeout: .seconds(3600)) { await handle.entries[0].outcome }
            .operation(())
        handle.add(operation)
        try operation.start()
        #expect(await operation.result == .success(.cancelled))
    }

    @Test func `a later attempt of the operation begins with the first job`() async throws {
        let order = Record<String>()
        let attempts = Crowd()
        let operation = Waterfall(from: Void.self, failure: TestError.self)
            .then { order.add("first") }
            .then(retry: RetryPolicy(attempts: 2)) { () throws(TestError) in
                attempts.enter()
                order.add("second")
                if attempts.now < 3 { throw TestError(attempts.now) }
            }
            .operation((), options: .init(retry: RetryPolicy(attempts: 2)))
        try operation.start()
        #expect(await operation.outcome == .success)
        #expect(order.entries == ["first", "second", "second", "first", "second"])
    }

    @Test func `twenty thousand jobs with options do not recurse`() async throws {
        var waterfall = Waterfall(from: Int.self, failure: Never.self)
        for _ in 0..<20_000 { waterfall = waterfall.then(retry: RetryPolicy(attempts: 2)) { $0 + 1 } }
        #expect(try await waterfall.run(0) == 20_000)
    }
}
