// Programs with one thing less.

extension Program {
    /// How much there is to read.
    var weight: Int {
        operations.reduce(0) { $0 + $1.weight } + clients.reduce(0) { $0 + 1 + $1.count * 3 } + queues.count * 2
            + queues.count { $0.isSuspended }
    }

    var smaller: [Program] {
        var programs: [Program] = []
        for index in operations.indices { programs.append(without(index)) }
        for index in operations.indices {
            for operation in operations[index].smaller {
                var program = self
                program.operations[index] = operation
                programs.append(program)
            }
        }
        for (client, actions) in clients.enumerated() {
            if actions.isEmpty {
                var program = self
                program.clients.remove(at: client)
                programs.append(program)
            }
            for place in actions.indices {
                var program = self
                program.clients[client].remove(at: place)
                programs.append(program)
            }
        }
        if clients.count > 1 {
            var program = self
            program.clients = [clients[0] + clients[1]] + clients.dropFirst(2)
            programs.append(program)
        }
        for index in queues.indices where queues[index].isSuspended {
            var program = self
            program.queues[index].isSuspended = false
            programs.append(program)
        }
        if queues.count > 1, !isMentioned(queue: queues.count - 1) {
            var program = self
            program.queues.removeLast()
            programs.append(program)
        }
        return programs
    }

    private func isMentioned(queue: Int) -> Bool {
        actions.contains { $0.queue == queue }
            || operations.contains { $0.steps.contains { $0 == .awaitIdle(queue) || $0 == .run(queue) } }
    }

    /// Without an operation, what is inside it, and every mention of them.
    private func without(_ index: Int) -> Program {
        let gone = Set(inside(index))
        let kept = operations.indices.filter { !gone.contains($0) }
        let numbers = Dictionary(uniqueKeysWithValues: kept.enumerated().map { ($0.element, $0.offset) })
        var program = self
        program.operations = kept.map { old in
            var operation = operations[old]
            operation.parent = operation.parent.flatMap { numbers[$0] }
            operation.needs = operation.needs.compactMap { need in
                numbers[need.on].map { Need(on: $0, kind: need.kind) }
            }
            operation.input = operation.input.flatMap { numbers[$0] }
            operation.completion = operation.completion.compactMap { $0.renumbered(numbers) }
            operation.steps = operation.steps.compactMap { step in
                switch step {
                case .produce(let member): numbers[member].map(Step.produce)
                case .act(let action): action.renumbered(numbers).map(Step.act)
                case .await(let other): numbers[other].map(Step.await)
                case .awaitValue(let other): numbers[other].map(Step.awaitValue)
                default: step
                }
            }
            return operation
        }
        program.clients = clients.map { $0.compactMap { $0.renumbered(numbers) } }
        return program
    }
}

extension Program.Operation {
    fileprivate var weight: Int {
        10 + steps.count * 2 + needs.count * 2 + completion.count * 3 + min(failures, 1) + attempts
            + jobAttempts + (jobTimeout == nil ? 0 : 1) + (input == nil ? 0 : 2)
            + (heedsCancel ? 0 : 1) + (timeout == nil ? 0 : 1) + (mutex == nil ? 0 : 1) + units.values.reduce(0, +)
            + (priority == 0 ? 0 : 1)
            + (toleratesFailure ? 1 : 0) + (kind == .body ? 0 : 1)
    }

    fileprivate var smaller: [Program.Operation] {
        var operations: [Program.Operation] = []
        func add(_ change: (inout Program.Operation) -> Void) {
            var operation = self
            change(&operation)
            if operation != self { operations.append(operation) }
        }
        for place in steps.indices where kind == .body || steps.count > 1 { add { $0.steps.remove(at: place) } }
        for place in needs.indices { add { $0.needs.remove(at: place) } }
        for place in completion.indices { add { $0.completion.remove(at: place) } }
        if kind == .waterfall { add { $0.kind = .body } }
        if case .compound(let mode, true) = kind { add { $0.kind = .compound(mode, failsFast: false) } }
        add { $0.failures = 0 }
        add { $0.attempts = 1 }
        add { $0.jobAttempts = 1 }
        add { $0.jobTimeout = nil }
        add { $0.input = nil }
        add { $0.heedsCancel = true }
        add { $0.timeout = nil }
        add { $0.mutex = nil }
        add { $0.units = [:] }
        add { $0.units = $0.units.mapValues { _ in 1 } }
        add { $0.priority = 0 }
        add { $0.toleratesFailure = false }
        return operations
    }
}

extension Program.Action {
    /// The queue that it names.
    fileprivate var queue: Int? {
        switch self {
        case .add(_, let queue), .addTogether(_, let queue), .addBarrier(_, let queue), .suspendQueue(let queue),
            .resumeQueue(let queue),
            .cancelAll(let queue), .setWidth(let queue, _), .waitUntilIdle(let queue), .listen(let queue),
            .shutdown(let queue, _), .run(let queue), .watchQueue(let queue),
            .dropQueue(let queue):
            queue
        default: nil
        }
    }

    /// The same with new numbers; nil where an operation is gone.
    fileprivate func renumbered(_ numbers: [Int: Int]) -> Self? {
        switch self {
        case .add(let index, let queue): numbers[index].map { .add($0, queue: queue) }
        case .addTogether(let indices, let queue): .addTogether(indices.compactMap { numbers[$0] }, queue: queue)
        case .addBarrier(let index, let queue): numbers[index].map { .addBarrier($0, queue: queue) }
        case .addMember(let index, let other): pair(index, other, numbers).map { .addMember($0, to: $1) }
        case .start(let index): numbers[index].map { .start($0) }
        case .addDependency(let index, let other, let kind):
            pair(index, other, numbers).map { .addDependency($0, on: $1, kind) }
        case .removeDependency(let index, let other): pair(index, other, numbers).map { .removeDependency($0, on: $1) }
        case .suspend(let index): numbers[index].map { .suspend($0) }
        case .resume(let index): numbers[index].map { .resume($0) }
        case .cancel(let index): numbers[index].map { .cancel($0) }
        case .drop(let index): numbers[index].map { .drop($0) }
        case .wait(let index, let isCancelled): numbers[index].map { .wait($0, isCancelled: isCancelled) }
        case .watch(let index): numbers[index].map { .watch($0) }
        case .track(let index, let other, let timeout):
            pair(index, other, numbers).map { .track($0, $1, timeout: timeout) }
        case .suspendQueue, .resumeQueue, .cancelAll, .setWidth, .waitUntilIdle, .listen, .shutdown, .dropQueue, .run,
            .watchQueue:
            self
        }
    }

    private func pair(_ index: Int, _ other: Int, _ numbers: [Int: Int]) -> (Int, Int)? {
        guard let index = numbers[index], let other = numbers[other] else { return nil }
        return (index, other)
    }
}
