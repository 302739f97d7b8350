import AsyncOperations
import FlowrunTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct DependencyTests {
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
                if case .notRun(let cause) = await dependent.result { #expect(cause == kind.0.id) }
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

    // F7
    @Test func `an operation cannot wait for itself`() async throws {
        let operation = nothing()
        #expect(throws: UsageError.selfDependency(operation.id)) { try operation.addDependency(on: operation) }
        try operation.start()
        try await operation.value
    }

    // F8
    @Test func `a cycle is refused with the way round, and changes nothing`() async throws {
        let (a, b, c) = (nothing("a"), nothing("b"), nothing("c"))
        try a.addDependency(on: b)
        try b.addDependency(on: c)
        #expect(throws: UsageError.cycle([c.id, a.id, b.id, c.id])) { try c.addDependency(on: a) }
        let queue = AsyncOperationQueue()
        try queue.add(a, b, c)
        try await queue.waitUntilIdle()
        #expect(await a.outcome == .success)
    }

    // F8
    @Test func `a cycle through what is around operations is refused too`() throws {
        let (a, b) = (nothing("a"), nothing("b"))
        let first = try CompoundOperation("first") { a }
        let second = try CompoundOperation("second") { b }
        #expect(throws: UsageError.cycle([a.id, first.id, a.id])) { try a.addDependency(on: first) }
        try first.addDependency(on: b)
        #expect(throws: UsageError.cycle([b.id, a.id, b.id])) { try b.addDependency(on: a) }
        #expect(throws: UsageError.cycle([second.id, a.id, b.id, second.id])) { try second.addDependency(on: a) }
        let outer = try CompoundOperation("outer")
        let member = nothing("member")
        try outer.addDependency(on: member)
        #expect(throws: UsageError.self) { try outer.add(member) }
        let waiting = nothing("waiting")
        try waiting.addDependency(on: outer)
        #expect(throws: UsageError.self) { try outer.add(waiting) }
    }

    @Test func `a cycle through a member that came with its own is refused`() throws {
        let (member, other) = (nothing("member"), nothing("other"))
        try member.addDependency(on: other)
        let inner = try CompoundOperation("inner") { member }
        let outer = try CompoundOperation("outer")
        try other.addDependency(on: outer)
        #expect(throws: UsageError.cycle([outer.id, inner.id, member.id, other.id, outer.id])) { try outer.add(inner) }
    }

    @Test(arguments: [true, false])
    func `what holds a place does not begin to wait, over other queues, for what needs one`(isMember: Bool) async throws
    {
        let (up, go) = (Latch(), Latch())
        let (running, late) = (holding("running", up: up, until: go), nothing("late"))
        let waiting = nothing("waiting")
        try waiting.addDependency(on: running)
        let first = try CompoundOperation("first") {
            running
            waiting
        }
        let second = nothing("second")
        let serial = try CompoundOperation("serial", mode: .serial) {
            first
            second
        }
        let elsewhere = nothing("elsewhere")
        try elsewhere.addDependency(on: second)
        try elsewhere.start()
        try serial.start()
        await up.wait()
        if isMember {
            try late.addDependency(on: elsewhere)
            let way = [first.id, late.id, elsewhere.id, second.id, first.id]
            #expect(throws: UsageError.cycle(way)) { try first.add(late) }
        } else {
            let way = [waiting.id, elsewhere.id, second.id, first.id, waiting.id]
            #expect(throws: UsageError.cycle(way)) { try waiting.addDependency(on: elsewhere) }
        }
        go.open()
        #expect(await serial.outcome == .success)
        #expect(await elsewhere.outcome == .success)
    }

    @Test(arguments: [true, false])
    func `a group does not take the only place while it waits, over another queue, for who needs that`(isLate: Bool)
        async throws
    {
        let (queue, other) = (AsyncOperationQueue(), AsyncOperationQueue())
        let order = Record<String>()
        func noted(_ name: String) -> AsyncOperation<Void, Never> { AsyncOperation(name) { _ in order.add(name) } }
        let (inside, second, elsewhere) = (noted("inside"), noted("second"), noted("elsewhere"))
        let serial = try CompoundOperation(mode: .serial) {
            try CompoundOperation { inside }
            second
        }
        try elsewhere.addDependency(on: second)
        queue.suspend()
        if !isLate { try inside.addDependency(on: elsewhere) }
        try queue.add(serial)
        if isLate { try inside.addDependency(on: elsewhere) }
        try other.add(elsewhere)
        queue.resume()
        #expect(await serial.outcome == .success)
        #expect(order.entries == ["second", "elsewhere", "inside"])
    }

    @Test(arguments: [true, false])
    func `two that need each other's inside are refused where one place is all there is`(isLate: Bool) throws {
        let (first, last) = (nothing("first"), nothing("last"))
        let second = nothing("second")
        let group = try CompoundOperation("group") {
            first
            last
        }
        let serial = try CompoundOperation("serial", mode: .serial) {
            group
            second
        }
        try second.addDependency(on: first)
        let queue = AsyncOperationQueue()
        queue.suspend()
        let cycle = UsageError.cycle([group.id, last.id, second.id, first.id, group.id])
        if isLate {
            try queue.add(serial)
            #expect(throws: cycle) { try last.addDependency(on: second) }
            #expect(last.dependencies.isEmpty)
        } else {
            try last.addDependency(on: second)
            #expect(throws: cycle) { try queue.add(serial) }
            #expect(queue.operationCount == 0)
        }
    }

    @Test func `what holds a mutex does not begin to wait for what wants it`() async throws {
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 4)
        let options = OperationOptions(mutexes: ["m"])
        let (up, go) = (Latch(), Latch())
        let holder = try CompoundOperation("holder", options: options) { holding(up: up, until: go) }
        let wanting = nothing("wanting", options: options)
        try queue.add(holder, wanting)
        await up.wait()
        let late = nothing("late")
        try late.addDependency(on: wanting)
        let way = [holder.id, late.id, wanting.id, holder.id]
        #expect(throws: UsageError.cycle(way)) { try holder.add(late) }
        go.open()
        #expect(await wanting.outcome == .success)
    }

    @Test(arguments: [true, false])
    func `what is added while the holder of its mutex waits for it is refused, or goes first`(hasStarted: Bool)
        async throws
    {
        let queue = AsyncOperationQueue()
        let options = OperationOptions(mutexes: ["m"])
        let (up, go) = (Latch(), Latch())
        let order = Record<String>()
        let wanting = AsyncOperation("wanting", options: options) { _ in order.add("wanting") }
        let late = AsyncOperation("late") { _ in order.add("late") }
        try late.addDependency(on: wanting)
        let holder = try CompoundOperation("holder", options: options) { holding(up: up, until: go) }
        if !hasStarted { queue.suspend() }
        try queue.add(holder)
        if hasStarted { await up.wait() }
        try holder.add(late)
        if hasStarted {
            let way = [wanting.id, holder.id, late.id, wanting.id]
            #expect(throws: UsageError.cycle(way)) { try queue.add(wanting) }
            try wanting.start()
        } else {
            try queue.add(wanting)
            queue.resume()
        }
        go.open()
        #expect(await holder.outcome == .success)
        #expect(order.entries == ["wanting", "late"])
    }

    @Test func `what runs beside retried rounds that wait for it is refused only where it would`() async throws {
        let options = OperationOptions(retry: RetryPolicy(attempts: 2))
        func parts() throws -> (CompoundOperation, AsyncOperation<Void, Never>, AsyncOperation<Void, Never>) {
            let (first, between, last) = (nothing("first"), nothing("between"), nothing("last"))
            try between.addDependency(on: first)
            let rounds = try CompoundOperation("rounds", options: options) {
                first
                last
            }
            try last.addDependency(on: between)
            return (rounds, between, last)
        }
        let (inside, joining, _) = try parts()
        try inside.add(joining)
        try inside.start()
        #expect(await inside.outcome == .success)

        let (outside, between, last) = try parts()
        #expect(throws: UsageError.cycle([between.id, outside.id, last.id, between.id])) { try between.start() }
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
        #expect(await operation.result == .notRun(rootCause: failed.id))
    }

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
        #expect(await consumer.result == .notRun(rootCause: producer.id))
        #expect(await last.result == .notRun(rootCause: producer.id))
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
        let isFailure = producer.resultOutput.map { $0 == .failure(TestError(7)) }
        let consumer = AsyncOperation(from: isFailure, never.resultOutput) { ($1, $2) }
        let queue = AsyncOperationQueue()
        try queue.add(consumer, never, producer)
        let (first, second) = try await consumer.value
        #expect(first && second == .notRun(rootCause: producer.id))
    }

    @Test func `the lists of a compound operation are an input too`() async throws {
        let (right, wrong) = (nothing("right"), failing("wrong"))
        let compound = try CompoundOperation {
            right
            wrong
        }
        let consumer = AsyncOperation(from: compound.resultOutput) { _, result in
            if case .failure(let failure) = result { failure.errors.map(\.name) } else { [String]() }
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
