@testable import Scheduling

/// A random graph with everything that a graph can have, and what happens to it.
struct Scenario {
    private(set) var graph: OperationGraph
    private(set) var width: Int
    let groupsWaitForTheirTurn: Bool
    private(set) var events: [(Duration, OperationScheduler.Event)] = []
    private let seed: UInt64
    private let isPlain: Bool
    private let size: Int
    private let pools: [LockRequest]
    private let foreseen: [OperationID: RowTable.Foreseen]

    /// Every fourth scenario has nothing but operations, groups, limits and cancels. `size` bounds the rows.
    init(seed: UInt64, size: Int = .max, isPlain isPlainAlways: Bool? = nil) {
        self.seed = seed
        self.size = size
        groupsWaitForTheirTurn = seed % 2 == 1
        var random = SplitMix(seed: seed)
        isPlain = isPlainAlways ?? (seed % 4 == 0)
        width = Int.random(in: 1...4, using: &random)
        let limit = Self.limit(&random)
        graph = OperationGraph(
            limit: limit, failFast: [.off, .off, .cancel, .drain].randomElement(using: &random)!,
            timeout: random.chance(4) ? .seconds(Int.random(in: 1...40, using: &random)) : nil,
            concludes: !isPlain && random.chance(4))
        var locks: [LockRequest] = []
        var mutexes: [LockID] = []
        if !isPlain {
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                mutexes.append(graph.addMutex())
                locks.append(LockRequest(lock: mutexes[mutexes.count - 1]))
            }
            if random.chance(2) {
                let units = Int.random(in: 1...3, using: &random)
                let pool = graph.addPool(of: units)
                locks.append(LockRequest(lock: pool, units: Int.random(in: 1...units, using: &random)))
            }
        }
        pools = locks.filter { !mutexes.contains($0.lock) }
        var filling = Filling(locks: locks, mutexes: mutexes, isPlain: isPlain, size: size)
        filling.hasExternals = seed % 3 == 1
        filling.fill(&graph, depth: 0, limit: limit, &random)
        foreseen = filling.foreseen
        addEvents(&random)
        addExternalEnds(filling.externals, &random)
    }

    func behaviour(of id: OperationID, attempt: Int) -> VirtualRun.Behaviour {
        var random = SplitMix(seed: seed &* 1_000_003 &+ UInt64(id.row) &* 31 &+ UInt64(attempt))
        let outcomes: [OperationOutcome] = [.success, .success, .success, .failure, .skipped]
        return VirtualRun.Behaviour(
            duration: .seconds(Int.random(in: 0...8, using: &random)), outcome: outcomes.randomElement(using: &random)!,
            stopDuration: .seconds(Int.random(in: 0...3, using: &random)), mayRetry: !random.chance(5))
    }

    var answers: VirtualRun.Answers {
        let (seed, pools, foreseen, size, table) = (seed, pools, foreseen, size, graph.table)
        return VirtualRun.Answers(
            decide: { id in
                var random = SplitMix(seed: seed &* 7919 &+ UInt64(id.row))
                return [.run, .run, .run, .skip, .fail].randomElement(using: &random)!
            },
            expand: { id, firstRow in
                var random = SplitMix(seed: seed &* 104_729 &+ UInt64(firstRow))
                guard !random.chance(8) else { return nil }
                var expansion = OperationGraph(joiningAt: firstRow)
                let known = foreseen[id] ?? RowTable.Foreseen(mutexes: [], needs: [])
                var filling = Filling(
                    locks: pools + known.mutexes.map { LockRequest(lock: $0) }, mutexes: known.mutexes, isPlain: false,
                    size: size)
                // Unknown here for a group that an expansion has added.
                let isJudged = id.row >= table.rows.count || table.rows[id.row].flags.contains(.judgesMembers)
                // Deep enough that expansions inside expansions stay few.
                filling.fill(
                    &expansion, depth: firstRow > 60 ? 3 : 2, limit: .members(1), reachable: known.needs,
                    mayHook: false, isJoining: true, isJudged: isJudged, &random)
                return expansion
            },
            conclude: { id, outcome in
                var random = SplitMix(seed: seed &* 15_485_863 &+ UInt64(id.row))
                return (random.chance(4) ? .failure : outcome, !random.chance(4))
            })
    }

    private mutating func addEvents(_ random: inout SplitMix) {
        var isSuspended = false
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let time = Duration.seconds(Int.random(in: 0...25, using: &random))
            let id = OperationID(row: Int.random(in: 0..<graph.count, using: &random))
            switch Int.random(in: 0..<(isPlain ? 2 : 8), using: &random) {
            case 0: events.append((time, .cancel(id)))
            case 1: events.append((time, .width(Int.random(in: 1...5, using: &random))))
            case 2: events.append((time, .cancel(.root)))
            case 3 where random.chance(2): events.append((time, .abort))
            case 4: events.append((time, .lingering(id)))
            case 5: events.append((time, .resume))
            default:
                isSuspended = true
                events.append((random.chance(5) ? .zero : time, .suspend))
            }
        }
        if isSuspended {
            events.append((.seconds(Int.random(in: 5...25, using: &random)), .resume))
            events.append((.seconds(1000), .resume))
        }
        events.sort { $0.0 < $1.0 }
    }

    /// Some of them end before a group around them starts, some after.
    private mutating func addExternalEnds(_ externals: [OperationID], _ random: inout SplitMix) {
        for id in externals {
            let outcome = OperationOutcome.allCases.randomElement(using: &random)!
            events.append((.seconds(Int.random(in: 0...25, using: &random)), .ended(id, outcome, mayRetry: false)))
        }
        events.sort { $0.0 < $1.0 }
    }

    /// Whether something names a mutex that a group around it names.
    var namesAreNested: Bool {
        graph.table.locks.contains { id, requests in
            var next = id
            while next != .root {
                next = graph.table.rows[next.row].parent
                if let held = graph.table.locks[next], held.contains(where: requests.contains) { return true }
            }
            return false
        }
    }

    static func limit(_ random: inout SplitMix) -> ConcurrencyLimit {
        let count = Int.random(in: 1...3, using: &random)
        return [.unlimited, .unlimited, .operations(count), .members(count)].randomElement(using: &random)!
    }
}

/// Builds random rows, of a graph or of what joins it.
private struct Filling {
    /// What rows may name: groups the mutexes, operations everything.
    let locks: [LockRequest]
    let mutexes: [LockID]
    let isPlain: Bool
    /// How many rows may still be added.
    var size: Int
    /// What members that join an expandable group will name and need, as it was foreseen.
    var foreseen: [OperationID: RowTable.Foreseen] = [:]
    /// Whether some rows run elsewhere, and those that do.
    var hasExternals = false
    var externals: [OperationID] = []

    /// `reachable` is what rows may need outside of the group they are in.
    mutating func fill(
        _ graph: inout OperationGraph, depth: Int, limit: ConcurrencyLimit, reachable: [OperationID] = [],
        mayHook: Bool = true, isJoining: Bool = false, isSequence: Bool = false, isJudged: Bool = false,
        _ random: inout SplitMix
    ) {
        var siblings: [OperationID] = []
        for _ in 0..<Int.random(in: 0...(depth == 0 ? 6 : 4), using: &random) where size > 0 {
            size -= 1
            if hasExternals, !isJoining, !isSequence, random.chance(8) {
                let id = graph.addExternal(toleratesFailure: random.chance(3))
                externals.append(id)
                siblings.append(id)
                continue
            }
            let isGroup = depth < 3 && random.chance(3)
            let options = options(isGroup: isGroup, isJudged: isJudged, &random)
            let id: OperationID
            if isGroup {
                let failFast: FailFast? = [nil, nil, .off, .cancel, .drain].randomElement(using: &random)!
                let isExpandable = !isPlain && random.chance(4)
                let isSequence = !isExpandable && random.chance(4)
                let judgesMembers = !isPlain && !isSequence && random.chance(4)
                let limit = Scenario.limit(&random)
                id = graph.beginGroup(
                    options, limit: limit, failFast: failFast, isExpandable: isExpandable,
                    concludes: !isPlain && random.chance(5), judgesMembers: judgesMembers, isSequence: isSequence)
                let around = isJudged ? reachable : reachable + siblings
                if isExpandable, !isJoining { foresee(id, around, in: &graph, &random) }
                fill(
                    &graph, depth: depth + 1, limit: limit, reachable: around, mayHook: mayHook, isJoining: isJoining,
                    isSequence: isSequence, isJudged: judgesMembers, &random)
                graph.endGroup()
            } else {
                id = graph.addOperation(options)
            }
            var isNeeded = false
            // Copies that are judged together never need each other, nor do their members: a copy whose condition is
            // false waits for the conditions of the others.
            for need in siblings where random.chance(4) && !isJudged {
                isNeeded = isNeeded || need == siblings.last
                addNeed(of: id, on: need, in: &graph, &random)
            }
            if isSequence, !isNeeded, let last = siblings.last { graph.addDependency(of: id, on: last, .done, .order) }
            for need in reachable where random.chance(8) { addNeed(of: id, on: need, in: &graph, &random) }
            siblings.append(id)
        }
        guard !isPlain, mayHook else { return }
        for hook in Hook.allCases where random.chance(4) {
            graph.beginHook(hook)
            fill(&graph, depth: max(depth + 1, 2), limit: .unlimited, mayHook: false, isJoining: true, &random)
            graph.endGroup()
        }
    }

    private func addNeed(
        of id: OperationID, on need: OperationID, in graph: inout OperationGraph, _ random: inout SplitMix
    ) {
        let kind: DependencyKind = [.ok, .ok, .ok, .success, .failure, .done].randomElement(using: &random)!
        graph.addDependency(of: id, on: need, kind)
    }

    private mutating func foresee(
        _ id: OperationID, _ reachable: [OperationID], in graph: inout OperationGraph, _ random: inout SplitMix
    ) {
        let named = mutexes.filter { _ in random.chance(2) }
        let needs = reachable.filter { _ in random.chance(3) }
        foreseen[id] = RowTable.Foreseen(mutexes: named, needs: needs)
        graph.foresee(named, needs: needs, in: id)
    }

    private func options(isGroup: Bool, isJudged: Bool, _ random: inout SplitMix) -> OperationGraph.Options {
        let isNaming = random.chance(isGroup ? 3 : 2)
        let count = random.chance(3) ? 2 : 1
        let wanted =
            !isNaming
            ? []
            : isGroup
                ? mutexes.shuffled(using: &random).prefix(count).map { LockRequest(lock: $0) }
                : Array(locks.shuffled(using: &random).prefix(count))
        var options = OperationGraph.Options(
            priority: UInt32.random(in: 0...3, using: &random),
            timeout: random.chance(4) ? .seconds(Int.random(in: 1...12, using: &random)) : nil,
            toleratesFailure: random.chance(6), locks: wanted)
        guard !isPlain else { return options }
        options.isConditional = isJudged ? !random.chance(5) : random.chance(5)
        // A group without a condition has that of the group which judges its members.
        options.waitsForAll = (options.isConditional || isGroup) && random.chance(3)
        if random.chance(3) {
            options.retry = RetryPolicy(
                attempts: Int.random(in: 1...3, using: &random),
                backoff: random.chance(3) ? .none : .constant(.seconds(Int.random(in: 0...4, using: &random))),
                jitter: random.chance(3) ? 0.5 : 0,
                deadline: random.chance(3) ? .seconds(Int.random(in: 1...20, using: &random)) : nil,
                retriesTimeout: !random.chance(3))
        }
        return options
    }
}

/// A small seeded generator, so that a failing seed can be run again.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// True once in so many times.
    mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
}
