import AsyncOperations
import FlowrunTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(20))) struct DependencyTests {
    // F1, F2
    @Test func `nothing starts before what it needs is over, in whatever order it was added`() async throws {
        let order = Record<String>()
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 1)
        let names = ["a", "b", "c", "d"]
        let operations = names.map { name in AsyncOperation(name) { _ in order.add(name) } }
        for (earlier, later) in zip(operations, operations.dropFirst()) { try later.addDependency(on: earlier) }
        try queue.add(contentsOf: operations.reversed())
        try await queue.waitUntilIdle()
        #expect(order.entries == names)
    }

    // F3
    @Test func `in a diamond the shared one runs once and the last waits for both sides`() async throws {
        let runs = Record<String>()
        let top = AsyncOperation { _ in runs.add("top") }
        let sides = ["left", "right"].map { name in AsyncOperation { _ in runs.add(name) } }
        let bottom = AsyncOperation { _ in runs.add("bottom") }
        for side in sides {
            try side.addDependency(on: top)
            try bottom.addDependency(on: side)
        }
        let queue = AsyncOperationQueue()
        try queue.add(bottom, sides[1], sides[0], top)
        try await queue.waitUntilIdle()
        #expect(runs.entries.first == "top" && runs.entries.last == "bottom" && runs.entries.count == 4)
    }

    // F4
    @Test func `dependencies hold across queues and across compound operations`() async throws {
        let (up, go) = (Latch(), Latch())
        let needed = holding(up: up, until: go)
        let across = AsyncOperation { _ in needed.state }
        try across.addDependency(on: needed)
        let inside = AsyncOperation { _ in across.state }
        try inside.addDependency(on: across)
        let (one, two) = (AsyncOperationQueue(), AsyncOperationQueue())
        let compound = try CompoundOperation { inside }
        try two.add(across)
        try one.add(compound)
        #expect(across.state == .pending)
        try one.add(needed)
        await up.wait()
        go.open()
        #expect(await across.result == .success(.finished))
        #expect(await inside.result == .success(.finished))
        try await one.waitUntilIdle()
    }

    // F4, F10, F11, F13
    @Test func `an end elsewhere decides as one in the same queue does`() async throws {
        for hasEnded in [true, false] {
            let failed = failing()
            let cancelled = nothing()
            let kinds: [(any AsyncOperationProtocol, DependencyKind, OperationOutcome)] = [
                (failed, .ok, .notRun), (failed, .done, .success), (failed, .failure, .success),
                (cancelled, .ok, .notRun), (cancelled, .done, .success), (cancelled, .success, .notRun),
            ]
            let dependents = try kinds.map { other, kind, _ in
                let dependent = nothing()
                try dependent.addDependency(on: other.erased, kind)
                return dependent
            }
            let queue = AsyncOperationQueue()
            if hasEnded {
                try failed.start()
                cancelled.cancel()
                _ = await (failed.outcome, cancelled.outcome)
            }
            try queue.add(contentsOf: dependents)
            if !hasEnded {
                try failed.start()
                cancelled.cancel()
            }
            for (dependent, kind) in zip(dependents, kinds) {
                #expect(await dependent.outcome == kind.2, "\(kind.1)")
                if case .failure(.notRun(let cause)) = await dependent.result { #expect(cause == kind.0.id) }
            }
        }
    }

    // F5
    @Test func `taking away the last dependency makes it ready at once`() async throws {
        let go = Latch()
        let needed = holding(until: go)
        let operation = nothing()
        try operation.addDependency(on: needed)
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 2)
        try queue.add(needed, operation)
        try operation.removeDependency(on: needed)
        try await operation.value
        #expect(needed.state == .executing)
        go.open()
        try await needed.value
    }

    // F5
    @Test func `a dependency on what never comes can be taken away too`() async throws {
        let never = nothing()
        let operation = nothing()
        try operation.addDependency(on: never)
        let queue = AsyncOperationQueue()
        try queue.add(operation)
        try operation.removeDependency(on: never)
        try await operation.value
        try await queue.waitUntilIdle()
        #expect(never.state == .pending)
    }

    // F6
    @Test func `the same dependency named twice counts once`() async throws {
        let needed = nothing()
        let operation = nothing()
        try operation.addDependency(on: needed)
        try operation.addDependency(on: needed)
        try operation.removeDependency(on: needed)
        try operation.start()
        try await operation.value
        #expect(needed.state == .pending)
    }

    // F9
    @Test func `a chain of a hundred thousand, dropped or run, does not recurse`() async throws {
        func chain() throws -> [AsyncOperation<Void, Never>] {
            let operations = (0..<100_000).map { _ in nothing() }
            for (earlier, later) in zip(operations, operations.dropFirst()) { try later.addDependency(on: earlier) }
            return operations
        }
        _ = try chain()
        let operations = try chain()
        let queue = AsyncOperationQueue()
        try queue.add(contentsOf: operations.reversed())
        try await queue.waitUntilIdle()
        #expect(operations.allSatisfy { $0.isFinished })
    }

    // F12
    @Test func `failures outrank cancels in the cause`() async throws {
        let (failed, cancelled) = (failing(), nothing())
        let operation = nothing()
        try operation.addDependency(on: cancelled)
        try operation.addDependency(on: failed)
        let queue = AsyncOperationQueue(isSuspended: true)
        try queue.add(cancelled, failed, operation)
        cancelled.cancel()
        queue.resume()
        #expect(await operation.result == .failure(.notRun(rootCause: failed.id)))
    }

    /// What is said of a dependency on something that is over, and what comes of it.
    private struct Change {
        let fails: Bool
        var kinds: [DependencyKind] = []
        var isRemoved = false
        let outcome: OperationOutcome
    }

    @Test(arguments: [true, false], [true, false])
    func `a dependency on what is over still counts, changes its kind and can be taken away`(
        isElsewhere: Bool, rowsAreForgotten: Bool
    ) async throws {
        for comesLate in [true, false] { try await changeDependencies(isElsewhere, rowsAreForgotten, comesLate) }
    }

    private func changeDependencies(_ isElsewhere: Bool, _ rowsAreForgotten: Bool, _ comesLate: Bool) async throws {
        let changes = [
            Change(fails: false, outcome: .success),
            Change(fails: false, kinds: [.failure], outcome: .skipped),
            Change(fails: false, kinds: [.failure, .ok], outcome: .success),
            Change(fails: false, kinds: [.failure], isRemoved: true, outcome: .success),
            Change(fails: true, outcome: .notRun),
            Change(fails: true, kinds: [.done], outcome: .success),
            Change(fails: true, kinds: [.done, .success], outcome: .notRun),
            Change(fails: true, isRemoved: true, outcome: .success),
        ]
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 2)
        let (up, go) = (Latch(), Latch())
        let (good, bad, gate) = (nothing("good"), failing("bad"), holding("gate", up: up, until: go))
        let needed = { (change: Change) in change.fails ? bad.erased : good.erased }
        let waiting = try changes.map { change in
            let operation = nothing()
            if !comesLate { try operation.addDependency(on: needed(change)) }
            try operation.addDependency(on: gate)
            return operation
        }
        try queue.add(gate)
        await up.wait()
        try queue.add(contentsOf: waiting)
        if comesLate {
            for (operation, change) in zip(waiting, changes) { try operation.addDependency(on: needed(change)) }
        }
        for operation in [good.erased, bad.erased] {
            if isElsewhere { try operation.start() } else { try queue.add(operation) }
        }
        _ = await (good.outcome, bad.outcome)
        for _ in 0..<(rowsAreForgotten ? 1500 : 1) {
            let other = nothing()
            try queue.add(other)
            _ = await other.outcome
        }
        for (operation, change) in zip(waiting, changes) {
            for kind in change.kinds { try operation.addDependency(on: needed(change), kind) }
            if change.isRemoved { #expect(try operation.removeDependency(on: needed(change))) }
        }
        #expect(waiting.allSatisfy { $0.state == .pending })
        go.open()
        for (operation, change) in zip(waiting, changes) {
            #expect(await operation.outcome == change.outcome, "\(change), late: \(comesLate)")
        }
    }
}
