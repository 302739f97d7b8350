@testable import OperationScheduling

/// A random graph with everything that a graph can have, and what happens to it.
struct Scenario {
    private(set) var graph: OperationGraph
    private(set) var width: Int
    private(set) var events: [(Duration, OperationScheduler.Event)] = []
    private let seed: UInt64
    private let isPlain: Bool
    private let innermost: LockRequest?

    /// Every fourth scenario has nothing but operations, groups, limits and cancels.
    init(seed: UInt64) {
        self.seed = seed
        var random = SplitMix(seed: seed)
        isPlain = seed % 4 == 0
        width = Int.random(in: 1...4, using: &random)
        graph = OperationGraph(
            limit: Self.limit(&random), failFast: [.off, .off, .cancel, .drain].randomElement(using: &random)!,
            timeout: random.chance(4) ? .seconds(Int.random(in: 1...40, using: &random)) : nil,
            concludes: !isPlain && random.chance(4))
        var locks: [LockRequest] = []
        if !isPlain {
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let capacity = random.chance(2) ? 1 : Int.random(in: 1...3, using: &random)
                let lock = graph.addLock(capacity: capacity)
                locks.append(LockRequest(lock: lock, units: Int.random(in: 1...capacity, using: &random)))
            }
        }
        innermost = isPlain ? nil : LockRequest(lock: graph.addLock(capacity: 2), units: 1)
        var filling = Filling(innermost: innermost, isPlain: isPlain)
        filling.fill(&graph, depth: 0, available: locks, &random)
        addEvents(&random)
    }

    func behaviour(of id: OperationID, attempt: Int) -> VirtualRun.Behaviour {
        var random = SplitMix(seed: seed &* 1_000_003 &+ UInt64(id.row) &* 31 &+ UInt64(attempt))
        let outcomes: [OperationOutcome] = [.success, .success, .success, .failure, .skipped]
        return VirtualRun.Behaviour(
            duration: .seconds(Int.random(in: 0...8, using: &random)), outcome: outcomes.randomElement(using: &random)!,
            stopDuration: .seconds(Int.random(in: 0...3, using: &random)), mayRetry: !random.chance(5))
    }

    var answers: VirtualRun.Answers {
        let (seed, innermost) = (seed, innermost)
        return VirtualRun.Answers(
            decide: { id in
                var random = SplitMix(seed: seed &* 7919 &+ UInt64(id.row))
                return [.run, .run, .run, .skip, .fail].randomElement(using: &random)!
            },
            expand: { id, firstRow in
                var random = SplitMix(seed: seed &* 104_729 &+ UInt64(firstRow))
                guard !random.chance(8) else { return nil }
                var expansion = OperationGraph.Expansion(firstRow: firstRow)
                var filling = Filling(innermost: innermost, isPlain: false)
                // Deep enough that expansions inside expansions stay few.
                filling.fill(&expansion, depth: firstRow > 60 ? 3 : 2, available: [], mayHook: false, &random)
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
            switch Int.random(in: 0..<(isPlain ? 2 : 9), using: &random) {
            case 0: events.append((time, .cancel(id)))
            case 1: events.append((time, .width(Int.random(in: 1...5, using: &random))))
            case 2: events.append((time, .cancel(.root)))
            case 3 where random.chance(2): events.append((time, .abort))
            case 4: events.append((time, .frozen(.seconds(Int.random(in: 0...9, using: &random)))))
            case 5: events.append((time, .lingering(id)))
            case 6: events.append((time, .resume))
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

    static func limit(_ random: inout SplitMix) -> ConcurrencyLimit {
        let count = Int.random(in: 1...3, using: &random)
        return [.unlimited, .unlimited, .operations(count), .members(count)].randomElement(using: &random)!
    }
}

/// Builds random rows, of a graph or of an expansion.
private struct Filling {
    /// What only operations may ask for, so that it is never held while something waits inside.
    let innermost: LockRequest?
    let isPlain: Bool

    mutating func fill(
        _ graph: inout some Fillable, depth: Int, available: [LockRequest], mayHook: Bool = true,
        _ random: inout SplitMix
    ) {
        var siblings: [OperationID] = []
        for _ in 0..<Int.random(in: 0...(depth == 0 ? 6 : 4), using: &random) {
            let isGroup = depth < 3 && random.chance(3)
            // A lock that is held already must not be asked for again inside: that is a deadlock by construction.
            // Members of a holder ask for locks that come later, so that no cycle of waits can be built.
            let index = Int.random(in: 0..<max(available.count, 1), using: &random)
            let wanted = available.isEmpty || !random.chance(3) ? [] : [available[index]]
            let inside = wanted.isEmpty ? available : Array(available[(index + 1)...])
            let last = isGroup || !wanted.isEmpty || !random.chance(3) ? nil : innermost
            let options = options(last.map { [$0] } ?? wanted, &random)
            let id: OperationID
            if isGroup {
                let failFast: FailFast? = [nil, nil, .off, .cancel, .drain].randomElement(using: &random)!
                let isExpandable = !isPlain && random.chance(4)
                id = graph.beginGroup(
                    options, limit: Scenario.limit(&random), failFast: failFast, isExpandable: isExpandable,
                    concludes: !isPlain && random.chance(5), isOpen: false)
                fill(&graph, depth: depth + 1, available: inside, mayHook: mayHook, &random)
                graph.endGroup()
            } else {
                id = graph.addOperation(options)
            }
            for sibling in siblings where random.chance(4) {
                let kind: EdgeKind = [.ok, .ok, .ok, .success, .failure, .done].randomElement(using: &random)!
                graph.addDependency(of: id, on: sibling, kind)
            }
            siblings.append(id)
        }
        guard !isPlain, mayHook else { return }
        for hook in Hook.allCases where random.chance(4) {
            graph.beginHook(hook)
            fill(&graph, depth: max(depth + 1, 2), available: available, mayHook: false, &random)
            graph.endGroup()
        }
    }

    private func options(
        _ wanted: [LockRequest], _ random: inout SplitMix
    ) -> OperationGraph.Options {
        var options = OperationGraph.Options(
            priority: UInt32.random(in: 0...3, using: &random),
            timeout: random.chance(4) ? .seconds(Int.random(in: 1...12, using: &random)) : nil,
            toleratesFailure: random.chance(6), locks: wanted)
        guard !isPlain else { return options }
        options.isConditional = random.chance(5)
        options.waitsForAll = options.isConditional && random.chance(3)
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

private protocol Fillable {
    mutating func addOperation(_ options: OperationGraph.Options) -> OperationID
    mutating func beginGroup(
        _ options: OperationGraph.Options, limit: ConcurrencyLimit, failFast: FailFast?, isExpandable: Bool,
        concludes: Bool, isOpen: Bool
    ) -> OperationID
    @discardableResult mutating func beginHook(_ kind: Hook) -> OperationID
    mutating func endGroup()
    mutating func addDependency(of dependent: OperationID, on prerequisite: OperationID, _ kind: EdgeKind)
}

extension OperationGraph: Fillable {}
extension OperationGraph.Expansion: Fillable {}

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
