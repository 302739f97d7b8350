import AsyncOperations
import FlowrunTestSupport

// The same changes in other calls: together or one by one, in another order, before or after the start, by bodies.

extension Program {
    enum Pace: CaseIterable {
        /// Nothing starts before the last change.
        case suspended
        /// Everything starts as soon as it may, but members and dependencies come first.
        case running
        /// Everything starts as soon as it may, so that some changes come too late.
        case hasty
    }

    /// All changes of the only task as early and in as few calls as possible; nothing starts before the last.
    var together: Program {
        var program = self
        let calls = changes.filter { !$0.isStart } + changes.filter(\.isStart)
        var adds: [Action] = []
        for queue in queues.indices {
            program.queues[queue].isSuspended = true
            let added = calls.compactMap { if case .add(let index, queue) = $0 { index } else { nil } }
            if !added.isEmpty { adds.append(.addTogether(added, queue: queue)) }
        }
        let others = calls.filter { if case .add = $0 { false } else { true } }
        program.clients = [Self.suspendingStarts(others) + adds]
        return program
    }

    /// The changes in a random order, some in one call, some in tasks beside each other.
    func split(seed: UInt64, _ pace: Pace) -> Program {
        var random = SeededGenerator(seed: seed)
        var program = self
        for queue in queues.indices { program.queues[queue].isSuspended = pace == .suspended }
        let shuffled = changes.shuffled(using: &random)
        var first: [Action] = []
        var calls: [Action] = []
        for change in shuffled {
            if pace == .running, !change.isStart {
                first.append(change)
            } else if case .add(let index, let queue) = change, pace != .suspended, random.next() % 5 == 0 {
                // A body in the same queue adds it.
                calls.append(.add(program.operations.count, queue: queue))
                program.operations.append(Operation(steps: [.produce(index)]))
            } else if case .add(let index, let queue) = change, random.next() % 2 == 0,
                case .addTogether(let others, queue)? = calls.last
            {
                calls[calls.count - 1] = .addTogether(others + [index], queue: queue)
            } else if case .add(let index, let queue) = change, random.next() % 3 == 0 {
                calls.append(.addTogether([index], queue: queue))
            } else {
                calls.append(change)
            }
        }
        program.clients = [first + calls]
        // What comes first must be there before anything starts.
        if first.isEmpty, random.next() % 2 == 0 {
            let middle = calls.count / 2
            program.clients = [Array(calls[..<middle]), Array(calls[middle...])]
        }
        if pace == .suspended { program.clients = program.clients.map(Self.suspendingStarts) }
        return program
    }

    /// True if bodies wait for something or add something.
    var haveBodiesCalls: Bool {
        operations.contains { operation in
            operation.steps.contains { step in
                switch step {
                case .produce, .await, .awaitValue: true
                default: false
                }
            }
        }
    }

    var hasJoins: Bool { changes.contains { if case .addMember = $0 { true } else { false } } }

    private var changes: [Action] { clients.flatMap { $0 } }

    private static func suspendingStarts(_ calls: [Action]) -> [Action] {
        calls.flatMap { call -> [Action] in
            if case .start(let index) = call { [.suspend(index), call] } else { [call] }
        }
    }

    /// True if anything may hold a place or mutex that another wants.
    var isContended: Bool {
        operations.contains { operation in
            let isLimited =
                if case .compound(let mode, _) = operation.kind { mode != .concurrent } else { false }
            return isLimited || operation.mutex != nil
        }
    }
}

extension Program.Action {
    /// True if it may start something.
    fileprivate var isStart: Bool {
        switch self {
        case .add, .addTogether, .start: true
        default: false
        }
    }
}
