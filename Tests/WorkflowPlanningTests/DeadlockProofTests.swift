import FlowrunTestSupport
import SourceDiagnostics
import Testing
import WorkflowModel
import WorkflowPlanning

/// The verdict on locks against every order in which small random workflows can run.
struct DeadlockProofTests {
    @Test func `no deadlock is missed, and what is refused can deadlock`() {
        var random = SeededGenerator(seed: 11)
        var stuck = 0
        var sound = 0
        for round in 0..<4_000 {
            var sketch = RandomLocks(hasFanOuts: round % 3 == 0, hasHooks: round % 4 == 0)
            let members = sketch.members(random: &random)
            let unfolded = WorkflowSketch.workflow(members.map(\.unfolded))
            guard unfolded.nodes.count <= LockExplorer.largestWorkflow else { continue }
            let canGetStuck = LockExplorer(unfolded).canGetStuck()
            let workflow = WorkflowSketch.workflow(members)
            let isRefused = Planner.findings(in: workflow).containErrors
            #expect(isRefused == canGetStuck, "\(workflow.file.text)")
            if canGetStuck { stuck += 1 } else { sound += 1 }
        }
        #expect(stuck > 700 && sound > 2_000)
    }
}

/// Members with needs that lead backwards only, so that nothing but locks can be wrong.
private struct RandomLocks {
    let hasFanOuts: Bool
    let hasHooks: Bool
    private var steps = 7
    private var groups = 3
    private var names = 0

    init(hasFanOuts: Bool, hasHooks: Bool) {
        self.hasFanOuts = hasFanOuts
        self.hasHooks = hasHooks
    }

    mutating func members(random: inout SeededGenerator) -> [NodeSketch] {
        var members: [NodeSketch] = []
        var before: [String] = []
        while steps > 0, members.count < 5 {
            let member = member(before: before, random: &random)
            before.append(member.id)
            members.append(member)
        }
        return members
    }

    private mutating func member(
        before: [String], held: [String] = [], random: inout SeededGenerator
    ) -> NodeSketch {
        names += 1
        let id = "n\(names)"
        let needs = before.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
        guard groups > 0, steps > 0, Int.random(in: 0..<5, using: &random) < 3 else {
            steps -= 1
            return NodeSketch.step(id, needs: needs).with(\.mutexes, mutexes(besides: held, random: &random))
        }
        groups -= 1
        let own = mutexes(besides: held, random: &random)
        var inside: [NodeSketch] = []
        var visible = before
        for _ in 0..<Int.random(in: 1...3, using: &random) where steps > 0 {
            let member = member(before: visible, held: held + own, random: &random)
            visible.append(member.id)
            inside.append(member)
        }
        var group = NodeSketch.group(id, needs: needs, inside).with(\.mutexes, own)
        group.isSequence = Int.random(in: 0..<6, using: &random) == 0
        if hasFanOuts, Int.random(in: 0..<2, using: &random) == 0 { group.forEach = ["x", "y"] }
        if hasHooks, steps > 0, Int.random(in: 0..<2, using: &random) == 0 {
            steps -= 1
            names += 1
            group.finally = [
                NodeSketch.step("n\(names)").with(\.mutexes, mutexes(besides: held + own, random: &random))
            ]
        }
        return group
    }

    /// Mostly one, and rarely one that is held around.
    private func mutexes(besides held: [String], random: inout SeededGenerator) -> [String] {
        let isAgain = Int.random(in: 0..<40, using: &random) == 0
        let names = ["m", "n", "o"].filter { isAgain || !held.contains($0) }.shuffled(using: &random)
        let count = [0, 0, 1, 1, 1, 2].randomElement(using: &random) ?? 0
        return Array(names.prefix(count))
    }
}
