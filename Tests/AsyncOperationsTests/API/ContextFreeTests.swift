import AsyncOperations
import FlowrunTestSupport
import Testing

/// Bodies with and without a context, of every kind of operation.
@Suite(.timeLimit(.minutes(20))) struct ContextFreeTests {
    @Test func `a body without a context runs, and its error keeps its type`() async throws {
        let queue = AsyncOperationQueue()
        #expect(try await queue.run { 1 } == 1)
        #expect(try await queue.run("named") { "x" } == "x")
        #expect(try await queue.run(AsyncOperation { 2 }) == 2)
        await #expect(throws: OperationFailure.failed(TestError(3))) {
            try await queue.run { () async throws(TestError) in throw TestError(3) }
        }
        let operation: AsyncOperation<Int, Never> = AsyncOperation { 4 }
        let blocking = AsyncOperation<Int, Never>.blocking { 5 }
        let callback = AsyncOperation<Int, Never>(whenStopped: .wait) { completion in completion.succeed(6) }
        try queue.add(operation, blocking, callback)
        #expect(await operation.result == .success(4))
        #expect(await blocking.result == .success(5))
        #expect(await callback.result == .success(6))
    }

    @Test func `a body that is added comes back as a handle, or not at all`() async throws {
        let queue = AsyncOperationQueue("q")
        let plain = try queue.add("plain") { 1 }
        let attempt = try queue.add("told", options: OperationOptions(priority: 1)) { context in context.attempt }
        try queue.add {}
        #expect(try await plain.value + attempt.value == 2)
        #expect(plain.name == "plain" && attempt.name == "told")
        try await queue.shutdown()
        #expect(throws: UsageError.closed(queue.id)) { try queue.add("late") { 1 } }
    }

    @Test func `one to six values arrive in their places, with a context before them or without`() async throws {
        let made = try (1...6).map { number in try AsyncOperationQueue().add { "\(number)" }.output }
        let (a, b, c, d, e, f) = (made[0], made[1], made[2], made[3], made[4], made[5])
        let consumers: [AsyncOperation<String, Never>] = [
            AsyncOperation("1", from: a) { $0 },
            AsyncOperation("2", from: a, b) { $0 + $1 },
            AsyncOperation("3", from: a, b, c) { $0 + $1 + $2 },
            AsyncOperation("4", from: a, b, c, d) { a, b, c, d in a + b + c + d },
            AsyncOperation("5", from: a, b, c, d, e) { a, b, c, d, e in [a, b, c, d, e].joined() },
            AsyncOperation("6", from: a, b, c, d, e, f) { a, b, c, d, e, f in [a, b, c, d, e, f].joined() },
            AsyncOperation("1", from: a) { context, a in "\(context.name): \(a)" },
            AsyncOperation("2", from: a, b) { context, a, b in "\(context.name): \(a + b)" },
            AsyncOperation("3", from: a, b, c) { context, a, b, c in "\(context.name): \(a + b + c)" },
            AsyncOperation("4", from: a, b, c, d) { context, a, b, c, d in "\(context.name): \(a + b + c + d)" },
            AsyncOperation("5", from: a, b, c, d, e) { context, a, b, c, d, e in
                "\(context.name): \([a, b, c, d, e].joined())"
            },
            AsyncOperation("6", from: a, b, c, d, e, f) { context, a, b, c, d, e, f in
                "\(context.name): \([a, b, c, d, e, f].joined())"
            },
        ]
        let queue = AsyncOperationQueue()
        try queue.add(contentsOf: consumers)
        for (index, consumer) in consumers.enumerated() {
            let joined = "123456".prefix(index % 6 + 1)
            #expect(try await consumer.value == (index < 6 ? "\(joined)" : "\(index - 5): \(joined)"))
        }
    }

    @Test func `of several inputs from one operation each is read, and one without a value is enough to stop`()
        async throws
    {
        let runs = Crowd()
        let number = AsyncOperation { 2 }
        let failed = failing()
        let product = AsyncOperation(from: number.output, number.output.map { $0 + 1 }) { $0 * $1 }
        let stopped = AsyncOperation(from: number.output, failed.output, number.output) { _, _, _ in runs.enter() }
        let queue = AsyncOperationQueue()
        try queue.add(product, stopped, failed, number)
        #expect(try await product.value == 6)
        #expect(await stopped.result == .failure(.notRun(rootCause: failed.id)))
        #expect(runs.now == 0 && product.dependencies.isEmpty)
    }

    @Test func `a callback job without a context takes the value before it`() async throws {
        let waterfall = Waterfall(from: Int.self, failure: Never.self)
            .then(whenStopped: .wait) { number, completion in completion.succeed("\(number)") }
            .then("length") { $0.count }
        #expect(try await waterfall.run(123) == 3)
    }
}
