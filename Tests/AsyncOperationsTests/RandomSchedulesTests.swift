import Testing

@testable import AsyncOperations

/// A thousand random graphs in virtual time, each held against the invariants of research/seeds.md section 2.
@Suite struct RandomSchedulesTests {
    @Test func `the invariants hold for a thousand random scenarios`() {
        for seed in 0..<1000 {
            var random = SplitMix(seed: UInt64(seed))
            let scenario = Scenario(using: &random)
            let run = VirtualRun(scenario.graph, width: scenario.width, events: scenario.events) {
                scenario.behaviours[$0.row]
            }
            if let broken = InvariantCheck(run, scenario).firstBroken() {
                Issue.record("seed \(seed): \(broken)")
                return
            }
        }
    }
}

struct Scenario {
    var graph: OperationGraph
    var width: Int
    var events: [(Duration, OperationScheduler.Event)] = []
    var behaviours: [VirtualRun.Behaviour] = []

    init(using random: inout SplitMix) {
        width = Int.random(in: 1...4, using: &random)
        graph = OperationGraph(
            limit: Self.limit(&random), failFast: [.off, .off, .cancel, .drain].randomElement(using: &random)!,
            timeout: Self.timeout(&random, in: 40))
        Self.fill(&graph, depth: 0, &random)
        for _ in 0..<graph.count {
            let outcome: OperationOutcome = [.success, .success, .success, .failure, .skipped].randomElement(
                using: &random)!
            behaviours.append(
                .init(
                    duration: .seconds(Int.random(in: 0...8, using: &random)), outcome: outcome,
                    stopDuration: .seconds(Int.random(in: 0...3, using: &random))))
        }
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            let time = Duration.seconds(Int.random(in: 0...20, using: &random))
            let id = OperationID(row: Int.random(in: 0..<graph.count, using: &random))
            events.append(
                (time, Bool.random(using: &random) ? .cancel(id) : .width(Int.random(in: 1...5, using: &random))))
        }
    }

    private static func fill(_ graph: inout OperationGraph, depth: Int, _ random: inout SplitMix) {
        var siblings: [OperationID] = []
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let options = OperationGraph.Options(
                priority: UInt32.random(in: 0...3, using: &random), timeout: timeout(&random, in: 12),
                toleratesFailure: Int.random(in: 0..<6, using: &random) == 0)
            let id: OperationID
            if depth < 3, Int.random(in: 0..<3, using: &random) == 0 {
                let failFast: FailFast? = [nil, nil, .off, .cancel, .drain].randomElement(using: &random)!
                id = graph.beginGroup(options, limit: limit(&random), failFast: failFast)
                fill(&graph, depth: depth + 1, &random)
                graph.endGroup()
            } else {
                id = graph.addOperation(options)
            }
            for sibling in siblings where Int.random(in: 0..<4, using: &random) == 0 {
                let kind: EdgeKind = [.ok, .ok, .ok, .success, .failure, .done].randomElement(using: &random)!
                graph.addDependency(of: id, on: sibling, kind)
            }
            siblings.append(id)
        }
    }

    private static func limit(_ random: inout SplitMix) -> ConcurrencyLimit {
        let count = Int.random(in: 1...3, using: &random)
        return [.unlimited, .unlimited, .operations(count), .members(count)].randomElement(using: &random)!
    }

    private static func timeout(_ random: inout SplitMix, in range: Int) -> Duration? {
        Int.random(in: 0..<4, using: &random) == 0 ? .seconds(Int.random(in: 1...range, using: &random)) : nil
    }
}

/// Reads the command log of a run like the log of a real one.
struct InvariantCheck {
    let run: VirtualRun
    let scenario: Scenario

    init(_ run: VirtualRun, _ scenario: Scenario) {
        self.run = run
        self.scenario = scenario
    }

    func firstBroken() -> String? {
        let graph = run.graph
        var started: [OperationID: Int] = [:]
        var finished: [OperationID: Int] = [:]
        var stopped: [OperationID: Int] = [:]
        var running: Set<OperationID> = []
        var inProgress: Set<OperationID> = []
        var width = scenario.width
        let widths = scenario.events.compactMap { time, event in
            if case .width(let new) = event { (time, new) } else { nil }
        }
        for (index, entry) in run.log.enumerated() {
            for (time, new) in widths where time <= entry.time { width = max(width, new) }
            switch entry.command {
            case .start(let id, _), .groupStarted(let id, _):
                if started.updateValue(index, forKey: id) != nil { return "I2: \(id) started twice" }
                if finished[id] != nil { return "I2: \(id) started after its end" }
                for edge in graph.table.edges where edge.dependent == id && finished[edge.prerequisite] == nil {
                    return "I3: \(id) started before the end of \(edge.prerequisite)"
                }
                if id != .root, started[graph.table.rows[id.row].parent] == nil { return "\(id) started before its group" }
                for ancestor in ancestors(of: id) where stopped[ancestor] != nil {
                    return "I8: \(id) started after the stop of \(ancestor)"
                }
                inProgress.insert(id)
                if case .start = entry.command { running.insert(id) }
                if running.count > width { return "I6: \(running.count) run, width \(width)" }
                if let full = overfull(running, inProgress) { return "I6: limit of \(full) exceeded" }
            case .stop(let id, _):
                if stopped.updateValue(index, forKey: id) != nil { return "\(id) stopped twice" }
                if !running.contains(id) { return "\(id) stopped while not running" }
            case .groupStopping(let id, _):
                if stopped.updateValue(index, forKey: id) != nil { return "\(id) stopped twice" }
            case .finished(let id, let outcome, _):
                if finished.updateValue(index, forKey: id) != nil { return "I2: \(id) finished twice" }
                if outcome == .success, started[id] == nil { return "\(id) succeeded without a start" }
                running.remove(id)
                inProgress.remove(id)
                if graph.table.rows[id.row].isGroup {
                    for row in id.row + 1..<Int(graph.table.rows[id.row].subtreeEnd)
                    where finished[OperationID(row: row)] == nil {
                        return "I5: \(id) finished before its member #\(row)"
                    }
                }
            default:
                break
            }
        }
        if finished.count != graph.count { return "I2: \(graph.count - finished.count) never finished" }
        guard case .finished(.root, _, _) = run.log.last?.command else { return "I1: the root is not last" }
        return nil
    }

    private func ancestors(of id: OperationID) -> [OperationID] {
        var list: [OperationID] = []
        var next = id
        while next != .root {
            next = run.graph.table.rows[next.row].parent
            list.append(next)
        }
        return list
    }

    private func overfull(_ running: Set<OperationID>, _ inProgress: Set<OperationID>) -> OperationID? {
        for group in run.graph.table.groups {
            switch group.limit {
            case .unlimited: continue
            case .operations(let limit):
                if running.count(where: { ancestors(of: $0).contains(group.id) }) > limit { return group.id }
            case .members(let limit):
                let members = inProgress.count { $0 != .root && run.graph.table.rows[$0.row].parent == group.id }
                if members > limit { return group.id }
            }
        }
        return nil
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
}
