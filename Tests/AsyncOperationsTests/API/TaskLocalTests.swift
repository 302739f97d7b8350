import FlowrunTestSupport
import Testing

@testable import AsyncOperations

@Suite(.timeLimit(.minutes(20))) struct TaskLocalTests {
    private enum Span {
        @TaskLocal static var name = "none"
        @TaskLocal static var object: Object?
    }

    private final class Object: Sendable {}

    private func span(_ name: String = "", options: OperationOptions = .init()) -> AsyncOperation<String, Never> {
        AsyncOperation(name, options: options) { _ in Span.name }
    }

    @Test func `a body that a queue runs for the caller has the caller's values, at once or later`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let seen = try await Span.$name.withValue("outer") { try await queue.run { _ in Span.name } }
        #expect(seen == "outer")
        let (up, go) = (Latch(), Latch())
        let first = AsyncOperation { _ in
            up.open()
            await go.wait()
        }
        try queue.add(first)
        await up.wait()
        async let later = Span.$name.withValue("later") { try await queue.run { _ in Span.name } }
        while queue.operationCount < 2 { await Task.yield() }
        go.open()
        #expect(try await later == "later")
    }

    @Test func `each attempt of such a body has them`() async throws {
        struct Failed: Error {}
        let queue = AsyncOperationQueue()
        let seen = Record<String>()
        try await Span.$name.withValue("outer") {
            try await queue.run(options: .init(retry: RetryPolicy(attempts: 3))) { context in
                seen.add(Span.name)
                if context.attempt < 3 { throw Failed() }
            }
        }
        #expect(seen.entries == ["outer", "outer", "outer"])
    }

    @Test func `what is started by itself has the values of the caller`() async throws {
        let operation = span()
        try Span.$name.withValue("starter") { try operation.start() }
        #expect(try await operation.value == "starter")
        let awaited = span()
        #expect(try await Span.$name.withValue("awaiter") { try await awaited.value } == "awaiter")
    }

    @Test func `members have them whoever lets them begin`() async throws {
        let go = Latch()
        let outside = AsyncOperation { _ in await go.wait() }
        try outside.start()
        let (first, second, third) = (span(), span(), span())
        try second.addDependency(on: first)
        try third.addDependency(on: outside)
        let inner = try CompoundOperation { third }
        let compound = try CompoundOperation {
            first
            second
            inner
        }
        try Span.$name.withValue("starter") { try compound.start() }
        #expect(try await second.value == "starter")
        let late = span()
        try Span.$name.withValue("adder") { try compound.add(late) }
        #expect(try await late.value == "starter")
        Span.$name.withValue("opener") { go.open() }
        #expect(try await first.value == "starter")
        #expect(try await third.value == "starter")
        #expect(await compound.outcome == .success)
    }

    @Test func `members of what a queue runs for the caller have the caller's values`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let (first, second, deep, late) = (span(), span(), span(), span())
        try second.addDependency(on: first)
        let inner = try CompoundOperation { deep }
        let compound = try CompoundOperation {
            first
            second
            inner
        }
        queue.suspend()
        let run = Task { try await Span.$name.withValue("caller") { try await compound.run(on: queue) } }
        while queue.operationCount == 0 { await Task.yield() }
        try Span.$name.withValue("adder") { try compound.add(late) }
        Span.$name.withValue("resumer") { queue.resume() }
        _ = try await run.value
        for member in [first, second, deep, late] { #expect(try await member.value == "caller") }
    }

    @Test func `after a refused run the next one decides whose values they are`() async throws {
        let closed = AsyncOperationQueue()
        _ = try await closed.shutdown()
        let operation = span()
        let compound = try CompoundOperation { operation }
        await #expect(throws: OperationFailure<CompoundOperation.Failure>.self) {
            try await Span.$name.withValue("refused") { try await compound.run(on: closed) }
        }
        try Span.$name.withValue("starter") { try compound.start() }
        #expect(try await operation.value == "starter")
    }

    @Test func `what waits has them when it begins`() async throws {
        let before = AsyncOperation { _ in }
        let operation = span()
        try operation.addDependency(on: before)
        try Span.$name.withValue("starter") { try operation.start() }
        try Span.$name.withValue("other") { try before.start() }
        #expect(try await operation.value == "starter")
    }

    @Test func `a queue gives what is added to it no values`() async throws {
        let queue = AsyncOperationQueue()
        let operation = span()
        try Span.$name.withValue("adder") { try queue.add(operation) }
        #expect(try await operation.value == "none")
    }

    @Test func `a body that is run in a queue begins at the priority of the caller`() async throws {
        let queue = AsyncOperationQueue()
        for priority in [TaskPriority.low, .high] {
            let task = Task(priority: priority) { try await queue.run { _ in Task.basePriority } }
            while queue.operationCount > 0 { await Task.yield() }
            #expect(try await task.value == priority)
        }
    }

    @Test func `a start that is refused keeps none of them`() throws {
        let operation = AsyncOperation(options: .init(timeout: .zero)) {}
        weak var kept: Object?
        do {
            let object = Object()
            kept = object
            Span.$object.withValue(object) {
                #expect(throws: UsageError.self) { try operation.start() }
            }
        }
        #expect(kept == nil)
    }
}
