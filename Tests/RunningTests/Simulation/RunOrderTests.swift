import FlowrunTestSupport
import Planning
import Scheduling
import Testing
import Workflow

@testable import Running

/// The order in which ready steps start, judged in virtual time.
struct RunOrderTests {
    /// A random graph of steps, each with its needs and its duration.
    private struct Graph {
        var needs: [[Int]] = []
        var lengths: [Int] = []
        var jobs: Int

        init(seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            jobs = Int.random(in: 2...3, using: &random)
            for step in 0..<Int.random(in: 3...8, using: &random) {
                lengths.append(Int.random(in: 1...9, using: &random))
                needs.append((0..<step).filter { _ in Int.random(in: 0..<4, using: &random) == 0 })
            }
        }

        var plan: Plan? {
            let steps = lengths.indices.map { step in
                NodeSketch.step("s\(step)", needs: needs[step].map { "s\($0)" })
            }
            return Planner.plan(WorkflowSketch.workflow(steps)).plan
        }

        func durations(of plan: Plan) -> [Duration] {
            plan.rows.map { $0 == .root ? .zero : .seconds(lengths[$0.offset - 1]) }
        }

        /// The shortest of all schedules, including those in which a slot waits for a step that is not ready yet.
        var optimum: Int {
            var best = lengths.reduce(0, +)
            func go(_ now: Int, _ ended: Int, _ running: [(step: Int, end: Int)]) {
                let rest = lengths.indices.filter { ended & 1 << $0 == 0 }
                if rest.isEmpty {
                    best = min(best, now)
                    return
                }
                let waiting = rest.filter { step in !running.contains { $0.step == step } }
                let work = waiting.reduce(0) { $0 + lengths[$1] } + running.reduce(0) { $0 + $1.end - now }
                guard now + (work + jobs - 1) / jobs < best else { return }
                guard (running.map(\.end).max() ?? 0) < best else { return }
                let ready = waiting.filter { needs[$0].allSatisfy { ended & 1 << $0 != 0 } }
                for subset in 0..<(1 << ready.count) {
                    let chosen = ready.indices.filter { subset & 1 << $0 != 0 }.map { ready[$0] }
                    guard running.count + chosen.count <= jobs, !(chosen.isEmpty && running.isEmpty) else { continue }
                    let all = running + chosen.map { ($0, now + lengths[$0]) }
                    guard let next = all.map(\.end).min() else { continue }
                    let left = all.filter { $0.end > next }
                    go(next, all.filter { $0.end == next }.reduce(ended) { $0 | 1 << $1.step }, left)
                }
            }
            go(0, 0, [])
            return best
        }
    }

    @Test func `an order is never longer than the longest path first, and nearly always as short as can be`() throws {
        var sum = 0.0
        let count = 150
        for seed in 0..<UInt64(count) {
            let graph = Graph(seed: seed)
            let plan = try #require(graph.plan)
            let durations = graph.durations(of: plan)
            let order = RunOrder(plan, jobs: graph.jobs, durations: durations, known: .none)
            var byPath = SimulatedRun.graph(of: plan)
            byPath.prioritize(plan.remainingPaths { graph.lengths[max(0, $0.offset - 1)] })
            let plain = SimulatedRun(byPath, of: plan, jobs: graph.jobs, durations: durations, known: .none)
            #expect(order.run.makespan <= plain.makespan, "graph \(seed)")
            sum += order.run.makespan / Duration.seconds(graph.optimum)
        }
        #expect(sum / Double(count) <= 1.002)
    }

    @Test func `the same plan and durations make the same order`() throws {
        for seed in 0..<20 as Range<UInt64> {
            let graph = Graph(seed: seed)
            let plan = try #require(graph.plan)
            let runs = (0..<2).map { _ in
                RunOrder(plan, jobs: graph.jobs, durations: graph.durations(of: plan), known: .none).run
            }
            #expect(runs[0].spans == runs[1].spans)
        }
    }

    /// `early` and `gate` end together. One after the other, `short` would take the slot of the first before `long` is
    /// ready.
    @Test func `all ends of one moment come before any start`() throws {
        let workflow = WorkflowSketch.workflow([
            .step("early"), .step("gate"), .step("long", needs: ["gate"]), .step("short"), .step("short2"),
        ])
        let plan = try #require(Planner.plan(workflow).plan)
        let lengths = [0, 2, 2, 5, 1, 4]
        var graph = SimulatedRun.graph(of: plan)
        graph.prioritize([0, 9, 9, 5, 1, 4])
        let run = SimulatedRun(
            graph, of: plan, jobs: 2, durations: lengths.map { .seconds($0) }, known: .none)
        #expect(run.spans[3]?.start == .seconds(2))
        #expect(run.makespan == .seconds(7))
    }

    @Test func `with one step at a time the longest path in steps comes first`() throws {
        let workflow = WorkflowSketch.workflow([.step("a"), .step("b"), .step("c", needs: ["b"])])
        let plan = try #require(Planner.plan(workflow).plan)
        let order = RunOrder(plan, jobs: 1, durations: [.zero, .seconds(9), .seconds(1), .seconds(1)], known: .none)
        #expect(order.run.spans[2]?.start == .zero)
        #expect(order.priorities(of: plan, outline: plan) == nil)
    }
}
