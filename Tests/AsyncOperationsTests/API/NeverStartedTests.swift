import FlowrunTestSupport
import Testing

@testable import AsyncOperations

@Suite(.timeLimit(.minutes(20))) struct NeverStartedTests {
    @Test func `waiting for a value starts an operation that belongs to no queue`() async throws {
        #expect(try await AsyncOperation("a") { _ in 1 }.value == 1)
        #expect(await AsyncOperation("a") { _ in 1 }.result == .success(1))
        #expect(await AsyncOperation("a") { _ in 1 }.outcome == .success)
    }

    @Test func `waiting for a value starts what it depends on`() async throws {
        let a = AsyncOperation("a") { _ in 1 }
        let b = AsyncOperation("b", from: a.output) { _, a in a + 1 }
        let c = AsyncOperation("c", from: a.output, b.output) { _, a, b in a + b }
        #expect(try await c.value == 3)
        #expect(a.isFinished && b.isFinished)
    }

    @Test func `waiting for a compound operation starts it`() async throws {
        let before = AsyncOperation("before") { _ in }
        let member = AsyncOperation("member") { _ in 7 }
        try member.addDependency(on: before)
        let compound = try CompoundOperation("all") { member }
        #expect(await compound.outcome == .success)
        #expect(try await member.value == 7)
    }

    @Test func `in a body, too`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let inner = AsyncOperation("inner") { _ in 2 }
        let value = try await queue.run { _ in try await inner.value }
        #expect(value == 2)
    }

    @Test func `waiting for a member starts the compound operation around it`() async throws {
        for waitsOutside in [false, true] {
            let (member, sibling) = (AsyncOperation("member") { _ in 1 }, AsyncOperation("sibling") { _ in 2 })
            let inner = try CompoundOperation("inner") { member }
            let outer = try CompoundOperation("outer") {
                inner
                sibling
            }
            let outside = AsyncOperation("outside", from: member.output) { _, value in value }
            #expect(try await (waitsOutside ? outside : member).value == 1)
            #expect(await outer.outcome == .success)
            #expect(sibling.isFinished)
        }
    }

    @Test func `a wait whose options are invalid is refused`() async throws {
        let operation = AsyncOperation("a", options: .init(timeout: .zero)) { _ in 1 }
        await #expect(throws: OperationFailure<Never>.refused(.invalidTimeout(operation.id, .zero))) {
            _ = try await operation.value
        }
        #expect(await operation.result == .failure(.refused(.invalidTimeout(operation.id, .zero))))
        let compound = try CompoundOperation(options: .init(timeout: .zero))
        guard case .failure(let failure) = await compound.result else { return #expect(Bool(false), "it is refused") }
        guard case .refused(.invalidTimeout(compound.id, .zero)) = failure else {
            return #expect(Bool(false), "\(failure)")
        }
        #expect(failure.outcome == nil)
    }

    @Test func `a wait goes on although something before cannot start`() async throws {
        let invalid = AsyncOperation("invalid", options: .init(timeout: .zero)) { _ in }
        let next = AsyncOperation("next") { _ in 1 }
        try next.addDependency(on: invalid, .done)
        let waiter = Task { await next.result }
        while next.core.lifecycle.queue == nil { await Task.yield() }
        invalid.cancel()
        #expect(await waiter.value == .success(1))
    }

    @Test func `what waits for an operation that was never added ends when that is dropped`() async throws {
        let queue = AsyncOperationQueue()
        var a: AsyncOperation<Int, Never>? = AsyncOperation("a") { _ in 1 }
        let b = try AsyncOperation("b", from: #require(a).output) { _, a in a }
        try queue.add(b)
        let path = try #require(b.waitingFor)
        #expect(path.operations == [b.id, a?.id] && path.need == .toBeStarted)
        #expect(path.description.hasPrefix("`b`") && path.description.hasSuffix("which was never started"))
        let id = try #require(a).id
        a = nil
        #expect(await b.result == .failure(.notRun(rootCause: id)))
    }

    @Test func `an operation explains what it waits for`() async throws {
        let queue = try AsyncOperationQueue("queue", maxConcurrentOperationCount: 1)
        let (up, go) = (Latch(), Latch())
        let first = AsyncOperation("first") { _ in
            up.open()
            await go.wait()
        }
        let second = AsyncOperation("second") { _ in }
        let third = AsyncOperation("third") { _ in }
        try third.addDependency(on: second)
        let holder = try CompoundOperation("holder", options: .init(mutexes: ["m"])) { first }
        let rival = AsyncOperation("rival", options: .init(mutexes: ["m"])) { _ in }
        try queue.add(holder, second, third, rival)
        await up.wait()
        #expect(first.waitingFor == nil)
        #expect(holder.waitingFor == WaitPath(operations: [holder.id, first.id], need: .toEnd))
        #expect(second.waitingFor == WaitPath(operations: [second.id], need: .aPlace(in: queue.id)))
        #expect(third.waitingFor == WaitPath(operations: [third.id, second.id], need: .aPlace(in: queue.id)))
        queue.suspend()
        #expect(third.waitingFor == WaitPath(operations: [third.id, second.id], need: .toBeResumed(queue.id)))
        queue.resume()
        try queue.setMaxConcurrentOperationCount(8)
        #expect(await third.outcome == .success)
        #expect(rival.waitingFor == WaitPath(operations: [rival.id, holder.id, first.id], need: .toEnd))
        go.open()
        #expect(await rival.outcome == .success)
        #expect(rival.waitingFor == nil)
    }

    @Test func `a member of a compound operation that was never added explains that`() throws {
        let member = AsyncOperation("member") { _ in }
        let inner = try CompoundOperation("inner") { member }
        let outer = try CompoundOperation("outer") { inner }
        let path = try #require(member.waitingFor)
        #expect(path.operations == [member.id, outer.id] && path.need == .toBeStarted)
    }

    @Test func `a body that waits explains for what`() async throws {
        let queue = AsyncOperationQueue()
        let (up, go) = (Latch(), Latch())
        let inner = AsyncOperation("inner") { _ in
            up.open()
            await go.wait()
        }
        let outer = AsyncOperation("outer") { _ in _ = await inner.result }
        try queue.add(outer)
        await up.wait()
        while outer.waitingFor == nil { await Task.yield() }
        #expect(outer.waitingFor == WaitPath(operations: [outer.id, inner.id], need: .toEnd))
        go.open()
        #expect(await outer.outcome == .success)
    }
}
