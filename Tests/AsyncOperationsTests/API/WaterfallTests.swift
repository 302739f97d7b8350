import AsyncOperations
import FlowrunTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(20))) struct WaterfallTests {
    // M1
    @Test func `jobs run in order and each gets what the one before returned, of whatever type`() async throws {
        let order = Record<String>()
        let waterfall = Waterfall(from: Int.self, failure: Never.self)
            .then { number in
                order.add("double")
                return number * 2
            }
            .then { number async in
                order.add("print")
                await Task.yield()
                return "\(number)"
            }
            .then { text in Optional(text.count) }
            .then { count in count.map { $0 + 40 } }
        #expect(try await waterfall.run(21) == 42)
        #expect(order.entries == ["double", "print"])
    }

    // M2
    @Test func `without jobs it gives back its input, and it can begin without one`() async throws {
        #expect(try await Waterfall(from: String.self, failure: Never.self).run("in") == "in")
        #expect(try await Waterfall(from: Void.self, failure: Never.self).then { 3 }.run(()) == 3)
    }

    // M3
    @Test func `an error ends it at once, and the rest is not entered`() async throws {
        let runs = Crowd()
        let waterfall = Waterfall(from: Int.self, failure: TestError.self)
            .then { $0 + 1 }
            .then { number throws(TestError) -> Int in throw TestError(number) }
            .then { number in
                runs.enter()
                return number
            }
        await #expect(throws: OperationFailure<TestError>.failed(TestError(6))) { try await waterfall.run(5) }
        #expect(runs.now == 0)
    }

    // M5
    @Test func `a cancel reaches the job that runs, the rest never starts, and the end is told`() async throws {
        let up = Latch()
        let runs = Crowd()
        let ends = Record<OperationOutcome>()
        let operation = Waterfall(from: Int.self, failure: Never.self)
            .then { number in
                up.open()
                await untilCancelled()
                return number
            }
            .then { number in
                runs.enter()
                return number
            }
            .operation(1)
        operation.addCompletion { ends.add($0.outcome) }
        try operation.start()
        await up.wait()
        operation.cancel()
        #expect(await operation.result == .failure(.cancelled(.requested)))
        #expect(ends.entries == [.cancelled])
        #expect(runs.now == 0)
    }

    // M5
    @Test func `cancelling the calling task cancels it`() async throws {
        let up = Latch()
        let waterfall = Waterfall(from: Int.self, failure: Never.self).then { number in
            up.open()
            await untilCancelled()
            return number
        }
        let task = Task { () async throws(OperationFailure<Never>) in try await waterfall.run(1) }
        await up.wait()
        task.cancel()
        await #expect(throws: OperationFailure<Never>.cancelled(.requested)) { try await task.value }
    }

    // M7
    @Test func `it goes on when its handle is dropped`() async throws {
        let (up, go) = (Latch(), Latch())
        let results = Record<Result<Int, OperationFailure<Never>>>()
        let ended = Latch()
        do {
            let operation = Waterfall(from: Int.self, failure: Never.self)
                .then { number in
                    up.open()
                    await go.wait()
                    return number + 1
                }
                .operation(1)
            operation.addCompletion { result in
                results.add(result)
                ended.open()
            }
            try operation.start()
        }
        await up.wait()
        go.open()
        await ended.wait()
        #expect(results.entries == [.success(2)])
    }

    // M8
    @Test func `it is itself a job, and a member`() async throws {
        let inner = Waterfall(from: Int.self, failure: OperationFailure<TestError>.self).then { $0 + 1 }
        let outer = Waterfall(from: Int.self, failure: OperationFailure<OperationFailure<TestError>>.self)
            .then { number throws(OperationFailure<OperationFailure<TestError>>) in try await inner.run(number) }
            .then { $0 * 10 }
        #expect(try await outer.run(1) == 20)
        let operations = [1, 2].map { inner.operation($0) }
        let compound = try CompoundOperation(mode: .serial) { operations }
        try compound.start()
        #expect(try await compound.value.count == 2)
        #expect(await operations[1].result == .success(3))
    }

    // M9
    @Test func `a hundred thousand jobs do not recurse`() async throws {
        var waterfall = Waterfall(from: Int.self, failure: Never.self)
        for _ in 0..<100_000 { waterfall = waterfall.then { $0 + 1 } }
        #expect(try await waterfall.run(0) == 100_000)
    }

    @Test func `a longer waterfall leaves the one it was made of as it was`() async throws {
        let base = Waterfall(from: Int.self, failure: Never.self).then { $0 + 1 }
        let (left, right) = (base.then { $0 * 2 }, base.then { $0 * 3 })
        #expect(try await [base.run(1), left.run(1), right.run(1)] == [2, 4, 6])
    }

    // J3
    @Test func `resuming what was never started starts it`() async throws {
        let operation = Waterfall(from: Int.self, failure: Never.self).then { $0 + 1 }.operation(1)
        try operation.resume()
        #expect(await operation.result == .success(2))
    }

    // J4
    @Test func `suspended, no further job starts until it is resumed`() async throws {
        let (up, go, heard) = (Latch(), Latch(), Latch())
        let order = Record<String>()
        let queue = AsyncOperationQueue()
        let operation = Waterfall(from: Int.self, failure: Never.self)
            .then { number in
                up.open()
                await go.wait()
                return number
            }
            .then { number in
                order.add("second")
                return number
            }
            .operation(1)
        let listener = AsyncOperation { context in
            context.onSuspend { _ in heard.open() }
            await heard.wait()
        }
        try queue.add(operation, listener)
        await up.wait()
        while !listener.isRunning { await Task.yield() }
        queue.suspend()
        await heard.wait()
        go.open()
        try await listener.value
        order.add("resumed")
        queue.resume()
        #expect(await operation.result == .success(1))
        #expect(order.entries == ["resumed", "second"])
    }

    // J5
    @Test func `resuming what was cancelled revives nothing`() async throws {
        let operation = Waterfall(from: Int.self, failure: Never.self).then { $0 + 1 }.operation(1)
        operation.cancel()
        #expect(throws: UsageError.alreadyFinished(operation.id)) { try operation.resume() }
        #expect(await operation.result == .failure(.cancelled(.requested)))
    }

    // J1
    @Test func `suspended before its start, it waits for its resume`() async throws {
        let operation = Waterfall(from: Int.self, failure: Never.self).then { $0 + 1 }.operation(1)
        try operation.suspend()
        #expect(operation.isSuspended)
        try operation.start()
        #expect(operation.isSuspended && !operation.isFinished)
        try operation.resume()
        #expect(await operation.result == .success(2))
    }

    @Test func `in a queue, it is the queue that is suspended`() async throws {
        let queue = AsyncOperationQueue(isSuspended: true)
        let operation = nothing()
        try queue.add(operation)
        #expect(throws: UsageError.alreadyEnqueued(operation.id)) { try operation.suspend() }
        queue.resume()
        try await operation.value
    }
}
