import FlowrunTestSupport
import Planning
import Syntax
import Testing
import Workflow

struct LockFindingTests {
    @Test func `locks that meet in any order need no word`() {
        let a = holder("a", "m", [.step("x").with(\.mutexes, ["n"])])
        let b = holder("b", "n", [.step("y", needs: ["s"]).with(\.mutexes, ["m"])])
        #expect(codes([.step("s").with(\.mutexes, ["n"]), a, b]) == [])
    }

    // H4
    @Test func `a mutex named again inside its holder is a warning with both places`() throws {
        let workflow = WorkflowSketch.workflow([
            holder("g", "m", [.group("h", [.step("x").with(\.mutexes, ["o", "m", "m"])])])
        ])
        let (plan, findings) = Planner.plan(workflow)
        #expect(plan != nil)
        let finding = try #require(findings.first)
        #expect(findings.count == 1)
        #expect(finding.code == .coveredMutex)
        #expect(finding.severity == .warning)
        #expect(
            finding.message
                == "`g.h.x` names the mutex `m`, which the group `g` around it holds for all its members")
        #expect(told(finding, workflow) == ["`g` holds `m` to its end: m"])
        #expect(finding.range != finding.notes[0].range)
        #expect(
            finding.fix?.description == "remove `m` from `g.h.x`, or from `g` if its members are to exclude each other")
    }

    @Test func `a group inside a holder that names the same mutex is told, too, with the nearest holder`() {
        let inner = holder("i", "m", [.step("x").with(\.mutexes, ["m"])])
        let findings = Planner.findings(in: WorkflowSketch.workflow([holder("g", "m", [inner])]))
        #expect(findings.map(\.code) == [.coveredMutex, .coveredMutex])
        #expect(findings.map { $0.notes.first?.message } == ["`g` holds `m` to its end", "`g.i` holds `m` to its end"])
    }

    @Test func `pools are declared, large enough and used`() throws {
        let workflow = WorkflowSketch.workflow(
            [
                .step("a").with(\.pools, [("emulator", 3)]), .step("b").with(\.pools, [("emulators", 1)]),
                .step("c").with(\.pools, [("emulator", 1), ("emulator", 1)]), .step("d").with(\.pools, [("other", 1)]),
            ], pools: [("emulator", 2), ("spare", 1)])
        let findings = Planner.findings(in: workflow)
        #expect(findings.map(\.code) == [.poolExceeded, .unknownPool, .unknownPool, .unusedPool])
        #expect(findings[0].message == "`a` asks for 3 of the pool `emulator`, so it could never start")
        #expect(findings[0].notes.map(\.message) == ["the pool has 2"])
        #expect(findings[1].fix?.description == "replace `emulators` by `emulator`")
        #expect(findings[2].fix?.description == "declare it at the top of the file: `pools: { other: SIZE }`")
        #expect(findings[3].severity == .warning)
    }

    @Test func `names of pools that nobody declares are compared with a bounded number of others`() {
        let names = (0..<500).map { String(repeating: "x", count: 125) + String(100 + $0) }
        let steps = names.enumerated().map { index, name in
            NodeSketch.step("s\(index)").with(\.pools, [(name + "y", 1)])
        }
        let workflow = WorkflowSketch.workflow(steps, pools: names.map { ($0, 1) })
        let unknown = Planner.findings(in: workflow).filter { $0.code == .unknownPool }
        #expect(unknown.count == 500)
        let suggested = unknown.count { $0.fix?.edits.isEmpty == false }
        #expect(suggested > 0 && suggested < 100)
    }

    private func holder(_ id: String, _ mutex: String, _ members: [NodeSketch]) -> NodeSketch {
        NodeSketch.group(id, members).with(\.mutexes, [mutex])
    }

    private func codes(_ members: [NodeSketch]) -> [DiagnosticCode] {
        Planner.findings(in: WorkflowSketch.workflow(members)).map(\.code)
    }

    private func told(_ finding: Diagnostic, _ workflow: Workflow) -> [String] {
        finding.notes.compactMap { note in note.range.map { "\(note.message): \(workflow.file.text(in: $0))" } }
    }
}
