import AsyncOperations
import FlowrunTestSupport

/// Programs by chance whose operations need one another in any direction: from inside compound operations to outside
/// and back, from one queue to another. The only task makes all changes, in no order that matters: each may be made
/// alone or in one call with others, before or after any other.
///
/// Most have no ring, apart from those that places, mutexes and rounds close: every body has a rank, and needs those of
/// lower rank.
struct EntangledProgram {
    private var random: SeededGenerator
    private let size: Int
    /// Every other operation wants one of two mutexes, so that what one holds another wants and the other way round.
    private let isCrowded: Bool
    private var program = Program()
    /// Where each operation is, or is about to join.
    private var parents: [Int?] = []
    private var ranks: [ClosedRange<UInt64>] = []

    /// Bodies end as a table says, so that the ends are the same whatever comes first.
    static func settled(seed: UInt64) -> Program {
        var generator = EntangledProgram(seed)
        generator.generate()
        return generator.program
    }

    /// The same with everything whose time matters: cancels, limits of time, failing fast, bodies that wait.
    static func unsettled(seed: UInt64) -> Program {
        var generator = EntangledProgram(seed)
        generator.generate()
        generator.unsettle()
        return generator.program
    }

    private init(_ seed: UInt64) {
        random = SeededGenerator(seed: seed ^ 0xE27A)
        size = 3 + Int(seed % 8)
        isCrowded = seed % 3 == 0
    }

    private mutating func generate() {
        program.queues = (0..<(1 + below(3))).map { _ in Program.Queue(width: 1 + below(4)) }
        program.clients = [[]]
        while program.operations.count < size { addOperation(inside: nil, depth: 0) }
        for index in program.operations.indices.reversed() { ranks[index] = rank(of: index) }
        for index in program.operations.indices {
            for _ in 0..<below(3) { addNeed(of: index) }
            if !program.operations[index].isCompound, isOne(in: 6) { addSafeWait(to: index) }
        }
        for index in program.operations.indices { addHome(index) }
    }

    private mutating func below(_ bound: Int) -> Int { bound <= 1 ? 0 : Int(random.next() % UInt64(bound)) }
    private mutating func isOne(in count: UInt64) -> Bool { random.next() % count == 0 }
}

extension EntangledProgram {
    private mutating func addOperation(inside parent: Int?, depth: Int) {
        let index = program.operations.count
        var operation = Program.Operation()
        if depth < 3, index + 1 < size, isOne(in: depth == 0 ? 2 : 3) {
            let modes: [CompoundOperation.ConcurrencyMode] = [
                .concurrent, .concurrent, .serial, .limited(2), .limited(3),
            ]
            operation.kind = .compound(modes[below(modes.count)], failsFast: false)
            if isOne(in: 5) { operation.attempts = 2 + below(2) }
        } else {
            if isOne(in: 5) { operation.failures = isOne(in: 3) ? 9 : 1 }
            if isOne(in: 8) { operation.attempts = 2 }
            if isOne(in: 4) { operation.steps = [isOne(in: 2) ? .yield : .sleep(1 + below(8))] }
        }
        let taken = around(parent).map { program.operations[$0].mutex }
        let mutex = ["m", "n", "m"][below(isCrowded ? 2 : 3)]
        if isOne(in: isCrowded ? 2 : 3), !taken.contains(mutex) { operation.mutex = mutex }
        if !operation.isCompound, isOne(in: 6) {
            let pool = below(Program.pools.count)
            operation.units[pool] = 1 + below(Program.pools[pool])
        }
        if isOne(in: 12) { operation.priority = 1 }
        program.operations.append(operation)
        parents.append(parent)
        ranks.append(1...1)
        guard operation.isCompound else { return }
        for _ in 0..<(1 + below(3)) where program.operations.count < size {
            addOperation(inside: index, depth: depth + 1)
        }
    }

    /// The operation and everything that it is inside of.
    private func around(_ index: Int?) -> [Int] {
        Array(
            sequence(state: index) { next in
                defer { next = next.flatMap { parents[$0] } }
                return next
            })
    }

    /// From the lowest to the highest of what is inside.
    private mutating func rank(of index: Int) -> ClosedRange<UInt64> {
        let inside = parents.indices.filter { parents[$0] == index }.map { ranks[$0] }
        guard let low = inside.map(\.lowerBound).min(), let high = inside.map(\.upperBound).max() else {
            let rank = random.next()
            return rank...rank
        }
        return low...high
    }

    /// Something that an operation may wait for.
    private mutating func prerequisite(of index: Int) -> Int? {
        let own = around(index)
        let isFree = isOne(in: 16)
        let others = program.operations.indices.filter { other in
            let theirs = around(other)
            if theirs.contains(index) || own.contains(other) { return false }
            let lastRound = theirs.last { program.operations[$0].attempts > 1 && !own.contains($0) } ?? other
            return isFree || max(ranks[other].upperBound, ranks[lastRound].upperBound) < ranks[index].lowerBound
        }
        return others.isEmpty ? nil : others[below(others.count)]
    }

    private mutating func addSafeWait(to index: Int) {
        guard let other = prerequisite(of: index) else { return }
        program.operations[index].steps.append(isOne(in: 2) ? .await(other) : .awaitValue(other))
    }

    private mutating func addNeed(of index: Int) {
        guard let other = prerequisite(of: index) else { return }
        let kinds: [DependencyKind] = [.ok, .ok, .ok, .done, .done, .success, .failure]
        let kind = kinds[below(kinds.count)]
        let isKnown =
            program.operations[index].needs.contains { $0.on == other }
            || program.clients[0].contains {
                if case .addDependency(index, other, _) = $0 { true } else { false }
            }
        guard !isKnown else { return }
        if isOne(in: 3) {
            program.clients[0].append(.addDependency(index, on: other, kind))
        } else {
            program.operations[index].needs.append(Program.Need(on: other, kind: kind))
        }
    }

    /// A body that is entered once and may come before the operation, in a queue.
    private mutating func producer(of index: Int) -> Int? {
        let others = program.operations.indices.filter { other in
            let operation = program.operations[other]
            return parents[other] == nil && !operation.isCompound && operation.attempts == 1
                && ranks[other].upperBound < ranks[index].lowerBound
        }
        return others.isEmpty ? nil : others[below(others.count)]
    }

    /// What gets it to run: the compound operation that it is in, a queue, a body, or itself.
    private mutating func addHome(_ index: Int) {
        if let parent = parents[index] {
            if isOne(in: 6) {
                program.clients[0].append(.addMember(index, to: parent))
            } else {
                program.operations[index].parent = parent
            }
        } else if isOne(in: 6) {
            program.clients[0].append(.start(index))
        } else if isOne(in: 8), let producer = producer(of: index) {
            program.operations[producer].steps.append(.produce(index))
            if isOne(in: 3) { program.operations[producer].steps.append(.await(index)) }
        } else {
            program.clients[0].append(.add(index, queue: below(program.queues.count)))
        }
    }
}

extension EntangledProgram {
    private mutating func unsettle() {
        for index in program.operations.indices {
            program.operations[index].toleratesFailure = isOne(in: 8)
            if program.operations[index].isCompound {
                if case .compound(let mode, _) = program.operations[index].kind, isOne(in: 5) {
                    program.operations[index].kind = .compound(mode, failsFast: true)
                }
                if isOne(in: 12) { program.operations[index].timeout = 2 + below(8) }
                continue
            }
            if isOne(in: 4) { addWait(to: index) }
            if isOne(in: 20) { program.operations[index].timeout = 2 + below(8) }
            program.operations[index].heedsCancel = !isOne(in: 3)
        }
        for _ in 0..<below(3) {
            let index = below(program.operations.count)
            let queue = below(program.queues.count)
            let other = program.operations[index].needs.first?.on
            let actions: [Program.Action] = [
                .cancel(index), .cancel(index), .suspendQueue(queue), .resumeQueue(queue), .cancelAll(queue),
                .setWidth(queue, 1 + below(3)), other.map { .removeDependency(index, on: $0) } ?? .cancel(index),
                .wait(index, isCancelled: isOne(in: 2)),
            ]
            program.clients[0].append(actions[below(actions.count)])
        }
    }

    private mutating func addWait(to index: Int) {
        let other = below(program.operations.count)
        let queue = below(program.queues.count)
        let steps: [Program.Step] = [.await(other), .await(other), .awaitValue(other), .awaitIdle(queue), .run(queue)]
        program.operations[index].steps.append(steps[below(steps.count)])
    }
}
