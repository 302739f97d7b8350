import AsyncOperations
import FlowrunTestSupport

/// Programs by chance: the same for the same seed. Each has a theme, so that what belongs together meets often enough.
struct ProgramGenerator {
    enum Theme: UInt64, CaseIterable {
        /// Completions that add and start what needs their operation.
        case completions
        /// Suspend and resume beside bodies that listen to it.
        case suspension
        /// Compound operations that get members while they start, end or are cancelled.
        case members
        /// Serial and limited ones in each other.
        case turns
        /// Limits of time, attempts, back-offs.
        case time
        /// Bodies that wait for others and for queues.
        case waiting
        /// Compound operations that are tried again.
        case rounds
        case everything
    }

    private var random: SeededGenerator
    private let theme: Theme
    private let size: Int
    private var program = Program()
    /// What clients or compound operations may be given while they run: simple and needed by nothing.
    private var spares: [Int] = []
    /// Whether nothing is stopped or taken away.
    private var isCalm = false

    /// `size` is about how many operations there are.
    static func program(seed: UInt64, size: Int, theme: Theme? = nil) -> Program {
        var generator = ProgramGenerator(seed: seed, size: size, theme: theme)
        return generator.generate()
    }

    /// Mostly few operations, now and then many.
    static func size(for seed: UInt64) -> Int { seed % 16 == 15 ? 14 : 2 + Int(seed % 8) }

    private init(seed: UInt64, size: Int, theme: Theme?) {
        random = SeededGenerator(seed: seed)
        let drawn = Theme(rawValue: random.next() % UInt64(Theme.allCases.count)) ?? .everything
        self.theme = theme ?? drawn
        self.size = size
    }

    private mutating func generate() -> Program {
        isCalm = isOne(in: theme == .waiting ? 2 : 8)
        let queues = theme == .completions || theme == .waiting ? 2 : below(3)
        program.queues = (0..<max(1, queues)).map { _ in
            Program.Queue(
                width: 1 + below(theme == .waiting ? 2 : 3), isSuspended: isOne(in: theme == .suspension ? 3 : 8))
        }
        program.clients = (0..<(1 + below(size > 3 ? 3 : 2))).map { _ in [] }
        while program.operations.count < size { addOperation(inside: nil, depth: 0) }
        addWaits()
        for index in program.operations.indices where program.operations[index].parent == nil { addHome(index) }
        for _ in 0..<(1 + below(size + 2)) {
            let action = action()
            place(action, below: nil)
        }
        return program
    }
}

// Operations.

extension ProgramGenerator {
    private mutating func addOperation(inside parent: Int?, depth: Int) {
        let index = program.operations.count
        var operation = Program.Operation(parent: parent)
        let prefersCompounds = theme == .members || theme == .turns || theme == .rounds
        if depth < 3, index + 1 < size, isOne(in: prefersCompounds ? 2 : 5) {
            operation.kind = .compound(mode(), failsFast: !isCalm && isOne(in: 6))
            if isOne(in: theme == .rounds ? 2 : 12) { operation.attempts = 2 }
        } else if isOne(in: 8) {
            operation.kind = .waterfall
        }
        operation.steps = operation.isCompound ? [] : (0..<below(3)).map { _ in step() }
        if operation.kind == .waterfall {
            operation.steps.append(.yield)
            if isOne(in: 3) { operation.jobAttempts = 2 }
            if !isCalm, isOne(in: 4) { operation.jobTimeout = 1 + below(6) }
        }
        if isOne(in: theme == .completions || theme == .rounds ? 2 : 5) { operation.failures = isOne(in: 3) ? 1 : 9 }
        if operation.isCompound || operation.kind == .waterfall { operation.failures = min(operation.failures, 1) }
        if operation.isCompound { operation.failures = 0 }
        operation.heedsCancel = !isOne(in: 3)
        if operation.kind == .body, isOne(in: theme == .time ? 2 : 10) { operation.attempts = 2 + below(2) }
        if !isCalm, isOne(in: theme == .time ? 2 : 16) { operation.timeout = 2 + below(8) }
        if isOne(in: operation.isCompound ? 12 : theme == .waiting ? 4 : 8), operation.kind != .waterfall {
            operation.mutex = ["m", "n"][below(2)]
        }
        if !operation.isCompound, isOne(in: theme == .waiting ? 4 : 8) {
            let pool = below(Program.pools.count)
            operation.units[pool] = 1 + below(Program.pools[pool])
            if isOne(in: 4) { operation.units = operation.units.merging([1 - pool: 1]) { $1 } }
        }
        if isOne(in: 10) { operation.priority = UInt32(1 + below(2)) }
        operation.toleratesFailure = isOne(in: 8)
        program.operations.append(operation)
        addNeeds(of: index)
        addInput(of: index)
        if operation.isCompound {
            for _ in 0..<below(4) where program.operations.count < size {
                addOperation(inside: index, depth: depth + 1)
            }
        } else if parent == nil, isOne(in: theme == .members ? 2 : 6), program.operations[index].needs.isEmpty {
            spares.append(index)
        }
    }

    private mutating func mode() -> CompoundOperation.ConcurrencyMode {
        switch below(theme == .turns ? 3 : 4) {
        case 0, 1: .serial
        case 2: .limited(1 + below(2))
        default: .concurrent
        }
    }

    /// On what stands before it: beside it, or outside of everything around it.
    private mutating func addNeeds(of index: Int) {
        guard isOne(in: theme == .completions ? 1 : 3) else { return }
        let parent = program.operations[index].parent
        let candidates = (0..<index).filter { other in
            if spares.contains(other) { return false }
            let isBeside = program.operations[other].parent == parent
            let isOutermost = program.operations[other].parent == nil && !program.around(index).contains(other)
            return isBeside || isOutermost || parent == nil
        }
        for _ in 0..<(1 + below(2)) {
            guard !candidates.isEmpty else { return }
            let need = Program.Need(on: candidates[below(candidates.count)], kind: kind())
            if !program.operations[index].needs.contains(where: { $0.on == need.on }) {
                program.operations[index].needs.append(need)
            }
        }
    }

    /// The value of something before it.
    private mutating func addInput(of index: Int) {
        guard program.operations[index].kind == .body, isOne(in: 8) else { return }
        let known = program.operations[index].needs.map(\.on) + spares
        let candidates = (0..<index).filter { !program.operations[$0].isCompound && !known.contains($0) }
        if !candidates.isEmpty { program.operations[index].input = candidates[below(candidates.count)] }
    }

    /// Waits of bodies for whatever there is, before or after them, around or beside them.
    private mutating func addWaits() {
        for index in program.operations.indices where !program.operations[index].isCompound {
            guard isOne(in: theme == .waiting ? 2 : 10) else { continue }
            let other = below(program.operations.count)
            let queue = below(program.queues.count)
            let step: Program.Step =
                switch below(8) {
                case 0...3: .await(other)
                case 4, 5: .awaitValue(other)
                case 6: .awaitIdle(queue)
                default: .run(queue)
                }
            program.operations[index].steps.insert(step, at: below(program.operations[index].steps.count + 1))
        }
    }

    private mutating func kind() -> DependencyKind { [.ok, .ok, .success, .failure, .done, .done][below(6)] }

    private mutating func step() -> Program.Step {
        switch below(theme == .suspension ? 5 : 11) {
        case 0, 1: .waitWhileSuspended
        case 2: isCalm ? .yield : .act(steering())
        case 3, 4: .yield
        case 5: .sleep(1 + below(8))
        case 6: !isCalm && isOne(in: 3) ? .hang : .yield
        case 7: .report(below(5))
        case 8: .sleepLimited(1 + below(6))
        default: spares.isEmpty ? .yield : .produce(spares[below(spares.count)])
        }
    }
}

// Calls.

extension ProgramGenerator {
    /// The call by which an outermost operation gets to run.
    private mutating func addHome(_ index: Int) {
        let queue = below(program.queues.count)
        switch below(spares.contains(index) ? 8 : 6) {
        case 0...2: place(.add(index, queue: queue), below: index)
        case 3: place(isOne(in: 3) ? .addBarrier(index, queue: queue) : .add(index, queue: queue), below: index)
        case 4, 5: place(.start(index), below: index)
        default: place(memberAction(index) ?? .start(index), below: index)
        }
    }

    private mutating func memberAction(_ index: Int) -> Program.Action? {
        let compounds = program.operations.indices.filter { program.operations[$0].isCompound }
        return compounds.isEmpty ? nil : .addMember(index, to: compounds[below(compounds.count)])
    }

    /// Somewhere: in a client, or in the body or completion of an operation that stands before.
    private mutating func place(_ action: Program.Action, below limit: Int?) {
        let hosts = (limit ?? program.operations.count)
        if hosts > 0, isOne(in: theme == .completions ? 2 : 5) {
            let host = below(hosts)
            if program.operations[host].kind == .body, isOne(in: 3) {
                program.operations[host].steps.append(.act(action))
            } else {
                program.operations[host].completion.append(action)
            }
        } else {
            program.clients[below(program.clients.count)].append(action)
        }
    }

    private mutating func action() -> Program.Action {
        while true {
            let action = anyAction()
            if !isCalm || action.isCalm { return action }
        }
    }

    private mutating func anyAction() -> Program.Action {
        let index = below(max(1, program.operations.count))
        let queue = below(program.queues.count)
        switch below(14) {
        case 0...3: return steering()
        case 4: return .wait(index, isCancelled: isOne(in: 2))
        case 5: return .drop(index)
        case 6:
            if let spare = spares.isEmpty ? nil : spares[below(spares.count)], let action = memberAction(spare) {
                return action
            }
            return .cancel(index)
        case 7:
            let dependent = program.operations[index]
            guard index > 0, dependent.parent == nil, !spares.contains(index) else { return .cancel(index) }
            let others = (0..<index).filter { !spares.contains($0) }
            guard !others.isEmpty else { return .cancel(index) }
            return .addDependency(index, on: others[below(others.count)], kind())
        case 8:
            guard let need = program.operations[index].needs.first else { return .cancel(index) }
            return .removeDependency(index, on: need.on)
        case 9:
            return isOne(in: 3)
                ? .shutdown(queue, grace: isOne(in: 2) ? nil : 3)
                : isOne(in: 2) ? .listen(queue) : .waitUntilIdle(queue)
        case 12: return [.run(queue), .watch(index), .watchQueue(queue)][below(3)]
        case 13: return .track(index, below(program.operations.count), timeout: isOne(in: 2) ? nil : 3)
        case 10: return isOne(in: 3) ? .dropQueue(queue) : .setWidth(queue, 1 + below(3))
        default: return .start(index)
        }
    }

    /// Suspend, resume, cancel.
    private mutating func steering() -> Program.Action {
        let index = below(max(1, program.operations.count))
        let queue = below(program.queues.count)
        switch below(theme == .suspension ? 7 : 10) {
        case 0, 1: return .suspendQueue(queue)
        case 2, 3: return .resumeQueue(queue)
        case 4: return .suspend(index)
        case 5: return .resume(index)
        case 6: return isOne(in: 3) ? .cancelAll(queue) : .cancel(index)
        default: return .cancel(index)
        }
    }

    private mutating func below(_ bound: Int) -> Int { bound <= 1 ? 0 : Int(random.next() % UInt64(bound)) }
    private mutating func isOne(in count: UInt64) -> Bool { random.next() % count == 0 }
}
