import FlowrunTestSupport
import Synchronization
import Testing

@testable import AsyncOperations

@Suite(.timeLimit(.minutes(20))) struct ProgressTests {
    private func done(_ completed: Int, of total: Int) -> OperationProgress {
        OperationProgress(completed: completed, total: total)
    }

    @Test func `a waterfall counts its jobs, and a failed one stays where it was`() async throws {
        let seen = Record<OperationProgress>()
        let handle = Record<AsyncOperation<Int, TestError>>()
        let waterfall = Waterfall(from: Int.self, failure: TestError.self)
            .then { number in
                seen.add(handle.entries[0].progress)
                return number
            }
            .then("limited", timeout: .seconds(3600)) { context, number in
                context.report(completed: 70, total: 100)
                seen.add(handle.entries[0].progress)
                return number
            }
        let operation = waterfall.operation(1)
        handle.add(operation)
        #expect(operation.progress == done(0, of: 2))
        try operation.start()
        _ = await operation.result
        #expect(seen.entries == [done(0, of: 2), done(1, of: 2)])
        #expect(operation.progress == done(2, of: 2))

        let failing = Waterfall(from: Int.self, failure: TestError.self)
            .then { $0 }
            .then { number throws(TestError) -> Int in throw TestError(number) }
            .then { $0 }
            .operation(1)
        try failing.start()
        _ = await failing.result
        #expect(failing.progress == done(1, of: 3))
    }

    @Test func `any other body is nothing of one, then one of one, or what it says`() async throws {
        let (up, go) = (Latch(), Latch())
        let held = holding(up: up, until: go)
        try held.start()
        await up.wait()
        #expect(held.progress == done(0, of: 1))
        go.open()
        _ = await held.result
        #expect(held.progress == done(1, of: 1))
        let cancelled = nothing()
        cancelled.cancel()
        #expect(cancelled.progress == done(1, of: 1))

        let (said, goOn) = (Latch(), Latch())
        let context = Record<AsyncOperationContext>()
        let reporting = AsyncOperation {
            context.add($0)
            $0.report(completed: 30, total: 100)
            said.open()
            await goOn.wait()
        }
        try reporting.start()
        await said.wait()
        #expect(reporting.progress == done(30, of: 100))
        goOn.open()
        _ = await reporting.result
        context.entries[0].report(completed: 1, total: 2)
        #expect(reporting.progress == done(100, of: 100))
    }

    @Test func `a compound operation counts its direct members that are over of those that it has`() async throws {
        let (up, go) = (Latch(), Latch())
        let inner = try CompoundOperation { for _ in 0..<5 { nothing() } }
        let failed = failing()
        let gone = nothing()
        gone.cancel()
        let compound = try CompoundOperation {
            holding(up: up, until: go)
            inner
            failed
        }
        #expect(compound.progress == done(0, of: 3))
        try compound.start()
        await up.wait()
        _ = await (inner.result, failed.result)
        #expect(compound.progress == done(2, of: 3))
        try compound.add(hanging("more"))
        #expect(compound.progress == done(2, of: 4))
        compound.cancel()
        go.open()
        _ = await compound.result
        #expect(compound.progress == done(4, of: 4))
    }

    @Test func `updates begin with the present value, go up, and end with the end`() async throws {
        let steps = (0..<4).map { _ in (up: Latch(), go: Latch()) }
        var waterfall = Waterfall(from: Void.self, failure: Never.self)
        for step in steps {
            waterfall = waterfall.then {
                step.up.open()
                await step.go.wait()
            }
        }
        let operation = waterfall.operation(())
        var updates = operation.progressUpdates().makeAsyncIterator()
        #expect(await updates.next() == done(0, of: 4))
        try operation.start()
        for (index, step) in steps.enumerated().dropLast() {
            await step.up.wait()
            step.go.open()
            #expect(await updates.next() == done(index + 1, of: 4))
        }
        steps[3].go.open()
        #expect(await updates.next() == done(4, of: 4))
        #expect(await updates.next() == nil)
        // A late listener gets the last one.
        #expect(await all(operation.progressUpdates()) == [done(4, of: 4)])
    }

    private func all(_ updates: AsyncStream<OperationProgress>) async -> [OperationProgress] {
        var all: [OperationProgress] = []
        for await update in updates { all.append(update) }
        return all
    }

    @Test func `whoever does not read keeps the newest value only`() async throws {
        let operation = AsyncOperation { context in
            for number in 0...100_000 { context.report(completed: number, total: 100_000) }
        }
        let updates = operation.progressUpdates()
        try operation.start()
        _ = await operation.result
        #expect(await all(updates) == [done(100_000, of: 100_000)])
        let compound = try CompoundOperation { for _ in 0..<1000 { nothing() } }
        let compoundUpdates = compound.progressUpdates()
        try compound.start()
        _ = await compound.result
        #expect(await all(compoundUpdates) == [done(1000, of: 1000)])
    }

    @Test func `updates of what is never started, or is cancelled before, end too`() async throws {
        let updates: AsyncStream<OperationProgress>
        do { updates = nothing().progressUpdates() }
        #expect(await all(updates).last == done(1, of: 1))
        let compound = try CompoundOperation {
            nothing()
            nothing()
        }
        let compoundUpdates = compound.progressUpdates()
        compound.cancel()
        #expect(await all(compoundUpdates) == [done(2, of: 2)])
    }

    @Test func `a member that is tried again with what is around it is not over before`() async throws {
        let retry = RetryPolicy(attempts: 2)
        let runs = Crowd()
        let member = AsyncOperation { _ async throws(TestError) in
            runs.enter()
            if runs.now == 1 { throw TestError() }
        }
        let compound = try CompoundOperation(options: .init(retry: retry)) { member }
        let updates = compound.progressUpdates()
        try compound.start()
        #expect(await compound.outcome == .success)
        #expect(compound.progress == done(1, of: 1) && member.progress == done(1, of: 1))
        #expect(await all(updates).last == done(1, of: 1))
    }

    @Test func `a queue counts what was added since it last had nothing to do`() async throws {
        let queue = AsyncOperationQueue(isSuspended: true)
        #expect(queue.progress == done(0, of: 0))
        try queue.add(nothing(), failing(), try CompoundOperation { for _ in 0..<3 { nothing() } })
        #expect(queue.progress == done(0, of: 3))
        queue.resume()
        try await queue.waitUntilIdle()
        #expect(queue.progress == done(3, of: 3))
        let (up, go) = (Latch(), Latch())
        let held = holding(up: up, until: go)
        try queue.add(held)
        await up.wait()
        #expect(queue.progress == done(0, of: 1))
        try queue.add(nothing())
        #expect(queue.progress.total == 2)
        go.open()
        try await queue.waitUntilIdle()
        #expect(queue.progress == done(2, of: 2))
    }

    @Test func `updates of a queue end with a shutdown, and with the queue`() async throws {
        let queue = AsyncOperationQueue(isSuspended: true)
        var updates = queue.progressUpdates().makeAsyncIterator()
        #expect(await updates.next() == done(0, of: 0))
        let unread = queue.progressUpdates()
        try queue.add(nothing(), nothing())
        #expect(await updates.next() == done(0, of: 2))
        queue.resume()
        try await queue.shutdown()
        #expect(await updates.next() == done(2, of: 2))
        #expect(await updates.next() == nil)
        #expect(await all(unread) == [done(2, of: 2)])
        #expect(await all(queue.progressUpdates()) == [done(2, of: 2)])

        let (up, go) = (Latch(), Latch())
        let dropped: AsyncStream<OperationProgress>
        do {
            let queue = AsyncOperationQueue()
            dropped = queue.progressUpdates()
            try queue.add(holding(up: up, until: go))
        }
        await up.wait()
        go.open()
        #expect(await all(dropped).last == done(1, of: 1))
    }

    @Test func `a stream that is dropped is forgotten`() async throws {
        let queue = AsyncOperationQueue()
        let (up, go) = (Latch(), Latch())
        let held = AsyncOperation { context in
            up.open()
            await go.wait()
            context.report(completed: 1, total: 2)
        }
        try queue.add(held)
        await up.wait()
        for _ in 0..<1000 { _ = (held.progressUpdates(), queue.progressUpdates()) }
        let task = Task { [updates = held.progressUpdates()] in for await _ in updates {} }
        task.cancel()
        await task.value
        #expect(hasNoListener(held) && queue.core.state.withLock { $0.progressListeners.isEmpty })
        go.open()
        #expect(await held.outcome == .success)
    }

    private func hasNoListener(_ operation: AsyncOperation<Void, Never>) -> Bool {
        operation.core.state.withLock { $0.rare?.progressListeners.isEmpty ?? true }
    }
}
