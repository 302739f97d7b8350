import FlowrunTestSupport
import Planning
import Syntax
import Testing
import Workflow

/// The planner against a naive execution of the definitions, on random nested workflows.
struct RandomGraphTests {
    @Test func `a graph is refused exactly when its execution gets stuck, and a plan runs to its end`() {
        var random = SeededGenerator(seed: 1)
        var refused = 0
        for _ in 0..<1_500 {
            let workflow = WorkflowSketch.workflow(members(of: 12, depth: 0, backward: 15, random: &random))
            let (plan, findings) = Planner.plan(workflow)
            let finishes = NaiveRun(workflow).finishes(without: [])
            #expect((plan != nil) == finishes)
            #expect(findings.containErrors == !finishes)
            if let plan { expectConsistent(plan) } else { refused += 1 }
        }
        #expect((300..<1_200).contains(refused))
    }

    @Test func `the cut is as small as an exhaustive search says`() {
        var random = SeededGenerator(seed: 2)
        var sizes: [Int: Int] = [:]
        for _ in 0..<1_500 {
            let workflow = WorkflowSketch.workflow(members(of: 7, depth: 0, needs: 3, backward: 50, random: &random))
            let findings = Planner.plan(workflow).diagnostics.filter { $0.code == .dependencyCycle }
            let size = findings.flatMap(\.notes).count { $0.message.hasPrefix("the smallest cut") }
            let entries = workflow.nodes.indices.flatMap { row in
                (0..<workflow.needs(of: row).count).map { NaiveRun.Entry(row: row, position: $0) }
            }
            #expect(size == smallestCut(of: workflow, entries))
            // Removing what the finding names is enough.
            let named = Set(
                findings.flatMap { $0.notes.filter { $0.message.hasPrefix("the smallest cut") }.map(\.range) })
            let cut = entries.filter { named.contains(workflow.need($0.position, of: $0.row).range) }
            #expect(NaiveRun(workflow).finishes(without: Set(cut)))
            sizes[size, default: 0] += 1
        }
        #expect(sizes[1, default: 0] > 50 && sizes[2, default: 0] > 50 && sizes[3, default: 0] > 10)
    }

    private func smallestCut(of workflow: Workflow, _ entries: [NaiveRun.Entry]) -> Int {
        let run = NaiveRun(workflow)
        for size in 0...entries.count where subsets(of: entries[...], size: size, run, chosen: []) { return size }
        return entries.count
    }

    private func subsets(
        of entries: ArraySlice<NaiveRun.Entry>, size: Int, _ run: NaiveRun, chosen: Set<NaiveRun.Entry>
    ) -> Bool {
        if size == 0 { return run.finishes(without: chosen) }
        guard entries.count >= size, let first = entries.first else { return false }
        return subsets(of: entries.dropFirst(), size: size - 1, run, chosen: chosen.union([first]))
            || subsets(of: entries.dropFirst(), size: size, run, chosen: chosen)
    }

    /// Members that need random siblings of their own or of a group around them; `backward` is how many in a hundred
    /// needs may lead anywhere, the others lead to what stands before.
    private func members(
        of budget: Int, depth: Int, before: [String] = [], around: [String] = [], needs: Int = 2, backward: Int,
        random: inout SeededGenerator
    ) -> [NodeSketch] {
        let count = Int.random(in: 1...max(1, budget / 2), using: &random)
        let ids = (0..<count).map { "n\(depth)\($0)" }
        var before = before
        var members: [NodeSketch] = []
        for id in ids {
            var wanted: Set<String> = []
            for _ in 0..<Int.random(in: 0...needs, using: &random) {
                let isAnywhere = Int.random(in: 0..<100, using: &random) < backward
                if let name = (isAnywhere ? ids + around : before).randomElement(using: &random) { wanted.insert(name) }
            }
            if depth < 3, budget > 2, Int.random(in: 0..<3, using: &random) == 0 {
                let inside = self.members(
                    of: budget / 2, depth: depth + 1, before: before, around: ids + around, needs: needs,
                    backward: backward, random: &random)
                let isSequence = Int.random(in: 0..<4, using: &random) == 0
                let values = Int.random(in: 0..<4, using: &random) == 0 ? ["x", "y"] : nil
                members.append(
                    .group(id, needs: wanted.sorted(), isSequence: isSequence, forEach: values, inside))
            } else {
                members.append(.step(id, needs: wanted.sorted()))
            }
            before.append(id)
        }
        return members
    }

    /// Runs the rows of a plan and compares levels with the order in which they become ready.
    private func expectConsistent(_ plan: Plan) {
        var ended = [Bool](repeating: false, count: plan.nodes.count)
        var started = ended
        for wave in 0...plan.nodes.count {
            var isMoving = true
            // Groups start and end without taking a wave; steps that start in one wave end after it.
            while isMoving {
                isMoving = false
                for row in plan.rows where !started[row] && plan.nodes[row].role != .step {
                    guard canStart(row, plan, started, ended) else { continue }
                    started[row] = true
                    isMoving = true
                    #expect(Int(plan.nodes[row].level) == wave)
                }
                for row in plan.rows where started[row] && !ended[row] && plan.nodes[row].role != .step {
                    guard plan.members(of: row).allSatisfy({ ended[$0] }) else { continue }
                    ended[row] = true
                    isMoving = true
                }
            }
            let ready = plan.rows.filter {
                plan.nodes[$0].role == .step && !started[$0] && canStart($0, plan, started, ended)
            }
            for row in ready {
                started[row] = true
                ended[row] = true
                #expect(Int(plan.nodes[row].level) == wave)
            }
            if ready.isEmpty { break }
        }
        #expect(ended.allSatisfy { $0 })
        expectRemainingPaths(plan)
    }

    private func canStart(_ row: PlanIndex, _ plan: Plan, _ started: [Bool], _ ended: [Bool]) -> Bool {
        (row == .root || started[plan.nodes[row].parent]) && plan.edges(of: row).allSatisfy { ended[$0.target] }
    }

    private func expectRemainingPaths(_ plan: Plan) {
        let path = plan.criticalPath()
        #expect(path.count == plan.nodes[0].remainingPath)
        #expect(path.count == (plan.nodes.filter { $0.role == .step }.map(\.level).max().map { $0 + 1 } ?? 0))
        for (position, row) in path.enumerated() {
            #expect(Int(plan.nodes[row].level) == position)
            #expect(Int(plan.nodes[row].remainingPath) == path.count - position)
        }
        for row in plan.rows {
            let node = plan.nodes[row]
            #expect(node.level + node.remainingPath <= plan.nodes[0].remainingPath)
            for edge in plan.edges(of: row) {
                let target = plan.nodes[edge.target]
                #expect(target.remainingPath >= node.remainingPath + (target.role == .step ? 1 : 0))
            }
        }
    }
}

/// Runs definitions as the file describes them, names looked up one by one, until nothing moves.
private struct NaiveRun {
    struct Entry: Hashable {
        let row: Int
        let position: Int
    }

    let workflow: Workflow

    init(_ workflow: Workflow) { self.workflow = workflow }

    func finishes(without removed: Set<Entry>) -> Bool {
        let nodes = workflow.nodes
        var started = [Bool](repeating: false, count: nodes.count)
        var ended = started
        started[0] = true
        var isMoving = true
        while isMoving {
            isMoving = false
            for row in nodes.indices where row != 0 && !started[row] {
                guard started[nodes[row].parent.row] else { continue }
                let needs = (0..<nodes[row].needs.count).filter { !removed.contains(Entry(row: row, position: $0)) }
                guard needs.allSatisfy({ ended[target(workflow.need($0, of: row).name, of: row)] }) else { continue }
                if let before = before(row), !ended[before] { continue }
                started[row] = true
                isMoving = true
            }
            for row in nodes.indices where started[row] && !ended[row] {
                guard workflow.members(of: NodeIndex(row)).allSatisfy({ ended[$0.row] }) else { continue }
                ended[row] = true
                isMoving = true
            }
        }
        return ended[0]
    }

    private func target(_ name: String, of row: Int) -> Int {
        var scope = row
        while scope != 0 {
            scope = workflow.nodes[scope].parent.row
            for member in workflow.members(of: NodeIndex(scope)) where workflow[member].id == name { return member.row }
        }
        return 0
    }

    private func before(_ row: Int) -> Int? {
        let group = workflow.nodes[row].parent
        guard workflow[group].settings?.isSequence == true else { return nil }
        return workflow.members(of: group).map(\.row).last { $0 < row }
    }
}
