import AsyncOperations
import FlowrunTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(20))) struct DependencyValueTests {
    // F14, F17
    @Test func `a value is there when its consumer starts`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 4)
        for number in 0..<1000 {
            let producer = AsyncOperation { _ in number }
            let consumer = AsyncOperation(from: producer.output) { _, value in value + 1 }
            try queue.add(consumer, producer)
            #expect(await consumer.result == .success(number + 1))
        }
    }

    // F14
    @Test func `several values of several types arrive in their places`() async throws {
        let number = AsyncOperation { _ in 2 }
        let text = AsyncOperation { _ in "x" }
        let flag = AsyncOperation { _ in true }
        let all = AsyncOperation(from: number.output, text.output, flag.output.map { !$0 }) { _, number, text, flag in
            "\(number) \(text) \(flag)"
        }
        let queue = AsyncOperationQueue()
        try queue.add(all, flag, text, number)
        #expect(await all.result == .success("2 x false"))
    }

    // F13, F15
    @Test func `without a value the consumer's body is not entered, nor that of what consumes it`() async throws {
        let runs = Crowd()
        let producer = AsyncOperation { _ async throws(TestError) -> Int in throw TestError() }
        let consumer = AsyncOperation(from: producer.output) { _, value in
            runs.enter()
            return value
        }
        let last = AsyncOperation(from: consumer.output) { _, _ in runs.enter() }
        let queue = AsyncOperationQueue()
        try queue.add(producer, consumer, last)
        #expect(await consumer.result == .failure(.notRun(rootCause: producer.id)))
        #expect(await last.result == .failure(.notRun(rootCause: producer.id)))
        #expect(runs.now == 0)
    }

    @Test func `whoever takes an optional output starts after any end, with nil for all but a success`() async throws {
        let (made, failed, cancelled) = (AsyncOperation { _ in 1 }, failing(), AsyncOperation { _ in 3 })
        let consumer = AsyncOperation(
            from: made.output.map { $0 + 1 }.optional, failed.output.optional, cancelled.output.optional,
            Output(4).optional
        ) { _, made, failed, cancelled, given in
            [made, failed == nil ? nil : 0, cancelled, given]
        }
        let afterwards = AsyncOperation(from: consumer.output.map { $0.compactMap(\.self) }) { _, values in values }
        let queue = AsyncOperationQueue()
        cancelled.cancel()
        try queue.add(afterwards, consumer, made, failed)
        #expect(await consumer.result == .success([2, nil, nil, 4]))
        #expect(await afterwards.result == .success([2, 4]))
    }

    @Test func `what a body returns after it was told to stop is no value`() async throws {
        let (up, go) = (Latch(), Latch())
        let producer = AsyncOperation { _ in
            up.open()
            await go.wait()
            return 1
        }
        let consumer = AsyncOperation(from: producer.output.optional, producer.resultOutput) { _, value, result in
            (value, result.outcome)
        }
        let queue = AsyncOperationQueue()
        try queue.add(consumer, producer)
        await up.wait()
        producer.cancel()
        go.open()
        let (value, outcome) = try await consumer.value
        #expect(value == nil && outcome == .cancelled)
    }

    @Test func `a result as an input tells the end, whichever it is`() async throws {
        let producer = failing("", 7)
        let never = AsyncOperation(from: producer.output) { _, _ in 0 }
        let isFailure = producer.resultOutput.map { $0 == .failure(.failed(TestError(7))) }
        let consumer = AsyncOperation(from: isFailure, never.resultOutput) { ($1, $2) }
        let queue = AsyncOperationQueue()
        try queue.add(consumer, never, producer)
        let (first, second) = try await consumer.value
        #expect(first && second == .failure(.notRun(rootCause: producer.id)))
    }

    @Test func `the lists of a compound operation are an input too`() async throws {
        let (right, wrong) = (nothing("right"), failing("wrong"))
        let compound = try CompoundOperation {
            right
            wrong
        }
        let consumer = AsyncOperation(from: compound.resultOutput) { _, result in
            if case .failure(.failed(let failure)) = result { failure.errors.map(\.name) } else { [String]() }
        }
        let queue = AsyncOperationQueue()
        try queue.add(consumer, compound)
        #expect(await consumer.result == .success(["wrong"]))
    }

    @Test(arguments: [true, false])
    func `whoever needs a value and the end of the same operation waits for a success`(isEndFirst: Bool) async throws {
        let runs = Crowd()
        let producer = AsyncOperation { _ async throws(TestError) -> Int in throw TestError() }
        let consumer =
            isEndFirst
            ? AsyncOperation(from: producer.resultOutput, producer.output) { _, _, _ in runs.enter() }
            : AsyncOperation(from: producer.output, producer.output.optional) { _, _, _ in runs.enter() }
        let queue = AsyncOperationQueue()
        try queue.add(producer, consumer)
        #expect(await consumer.outcome == .notRun)
        #expect(runs.now == 0)
    }

    @Test func `an output made into something else a hundred thousand times does not recurse`() async throws {
        let producer = AsyncOperation { _ in 0 }
        var output = producer.output
        for _ in 0..<100_000 { output = output.map { $0 + 1 } }
        let branch = output.map { "\($0)" }
        output = output.map { $0 + 1 }
        let consumer = AsyncOperation(from: output, branch) { _, number, text in "\(number) \(text)" }
        let queue = AsyncOperationQueue()
        try queue.add(producer, consumer)
        #expect(await consumer.result == .success("100001 100000"))
    }

    // F16
    @Test func `an explicit input takes the place of an output`() async throws {
        let operation = AsyncOperation(from: Output(5), Output("y")) { _, number, text in "\(number)\(text)" }
        #expect(Output(5).producer == nil)
        try operation.start()
        #expect(await operation.result == .success("5y"))
    }

    // F18
    @Test func `reports of a success stand in the order of the members, not of their ends`() async throws {
        let latches = (0..<4).map { _ in Latch() }
        let members = (0..<4).map { number in holding("m\(number)", until: latches[number]) }
        for number in 1..<4 { members[number].addCompletion { _ in latches[number - 1].open() } }
        let compound = try CompoundOperation { members }
        try compound.start()
        latches[3].open()
        #expect(try await compound.value.map(\.name) == ["m0", "m1", "m2", "m3"])
        #expect(compound.reports.map(\.name) == ["m3", "m2", "m1", "m0"])
    }

    // F22
    @Test func `a consumer that only waits for the end may put a default in the place of the value`() async throws {
        let clock = ManualClock()
        let producer = AsyncOperation(options: .init(timeout: .seconds(1))) { _ -> Int in
            await untilCancelled()
            return 1
        }
        let consumer = AsyncOperation { _ in (try? await producer.value) ?? 9 }
        try consumer.addDependency(on: producer, .done)
        let queue = AsyncOperationQueue(clock: clock)
        try queue.add(producer, consumer)
        await clock.advance(by: .seconds(1))
        #expect(await consumer.result == .success(9))
    }
}
