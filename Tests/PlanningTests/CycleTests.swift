import FlowrunTestSupport
import Planning
import Syntax
import Testing
import Workflow

struct CycleTests {
    // F8
    @Test func `a cycle of four through two groups has four places and four reasons`() throws {
        let workflow = WorkflowSketch.workflow([
            .group("g1", [.step("a", needs: ["g2"]), .step("other")]),
            .group("g2", [.step("c", needs: ["g1"])]),
        ])
        let finding = try #require(cycles(workflow).first)
        #expect(
            finding.message
                == "dependency cycle, which could never finish: `g1.a` -> `g2` -> `g2.c` -> `g1` -> `g1.a`")
        #expect(
            told(finding, workflow) == [
                "`g1.a` needs `g2`: g2",
                "`g2` ends only when its member `c` has ended: c",
                "`g2.c` needs `g1`: g1",
                "`g1` ends only when its member `a` has ended: a",
            ])
        #expect(finding.range == finding.notes[0].range)
        #expect(Set(finding.notes.prefix(4).map(\.range)).count == 4)
        #expect(cutNotes(finding) == ["the smallest cut: remove `g2` from the needs of `g1.a`"])
    }

    // F7
    @Test func `a step that needs itself is a cycle of one hop`() throws {
        let workflow = WorkflowSketch.workflow([.step("a", needs: ["a"])])
        let finding = try #require(cycles(workflow).first)
        #expect(finding.message == "`a` waits for itself, so it can never start")
        #expect(told(finding, workflow) == ["`a` needs `a`: a"])
        #expect(finding.fix?.description == "remove `a` from the needs of `a`")
    }

    @Test func `a group that needs itself is a cycle of one hop`() throws {
        let workflow = WorkflowSketch.workflow([.group("g", needs: ["g"], [.step("a"), .step("b")])])
        #expect(told(try #require(cycles(workflow).first), workflow) == ["`g` needs `g`: g"])
    }

    @Test func `a member that needs the group around it is a cycle`() throws {
        let workflow = WorkflowSketch.workflow([.group("g", [.group("h", [.step("a", needs: ["g"])])])])
        #expect(
            told(try #require(cycles(workflow).first), workflow) == [
                "`g.h.a` needs `g`: g",
                "`g` ends only when its member `h` has ended: h",
                "`g.h` ends only when its member `a` has ended: a",
            ])
    }

    @Test func `what a group needs counts for its members, which are not told as hops`() throws {
        let workflow = WorkflowSketch.workflow([
            .group("g", needs: ["x"], [.step("a"), .step("b", needs: ["a"])]), .step("x", needs: ["x2"]),
            .step("x2", needs: ["g"]),
        ])
        let finding = try #require(cycles(workflow).first)
        #expect(told(finding, workflow) == ["`g` needs `x`: x", "`x` needs `x2`: x2", "`x2` needs `g`: g"])
    }

    @Test func `the order of a sequence is a reason, and the order key is shown`() throws {
        let workflow = WorkflowSketch.workflow([
            .group("s", isSequence: true, [.step("a", needs: ["c"]), .step("b"), .step("c")])
        ])
        let finding = try #require(cycles(workflow).first)
        #expect(
            told(finding, workflow) == [
                "`s.a` needs `c`: c",
                "`s.c` runs after `b` because their group is a sequence: c",
                "`s.b` runs after `a` because their group is a sequence: b",
                "`s` is made a sequence here: order",
            ])
        #expect(cutNotes(finding) == ["the smallest cut: remove `c` from the needs of `s.a`"])
    }

    @Test func `the workflow itself can be the sequence`() throws {
        let place = SourceRange(start: 0, end: 7)
        let workflow = WorkflowSketch.workflow(
            [.step("a", needs: ["b"]), .step("b")], settings: Settings([.order: place]))
        let finding = try #require(cycles(workflow).first)
        #expect(finding.notes.contains { $0.message == "the workflow is made a sequence here" && $0.range == place })
    }

    @Test func `a figure eight is one finding with its shortest loop, the rest and one cut`() throws {
        // b is on both loops: b -> a -> b, and b -> c -> d -> b.
        let workflow = WorkflowSketch.workflow([
            .step("c", needs: ["d"]), .step("d", needs: ["b"]), .step("a", needs: ["b"]),
            .step("b", needs: ["a", "c"]),
        ])
        let findings = cycles(workflow)
        #expect(findings.count == 1)
        let finding = try #require(findings.first)
        #expect(told(finding, workflow) == ["`a` needs `b`: b", "`b` needs `a`: a"])
        #expect(finding.notes.contains { $0.message == "2 more steps or groups are caught in it" })
        #expect(cutNotes(finding).count == 2)
        #expect(cutNotes(finding).allSatisfy { $0.hasPrefix("the smallest cut, ") })
    }

    @Test func `every component is a finding of its own, in file order`() {
        let workflow = WorkflowSketch.workflow([
            .step("p", needs: ["q"]), .step("free"), .group("g", [.step("a", needs: ["b"]), .step("b", needs: ["a"])]),
            .step("q", needs: ["p", "g"]), .step("after", needs: ["q"]),
        ])
        let findings = cycles(workflow)
        #expect(findings.map(\.notes.first?.message) == ["`p` needs `q`", "`g.a` needs `b`"])
    }

    @Test func `cycles and wrong names are reported together`() {
        let workflow = WorkflowSketch.workflow([
            .step("a", needs: ["b", "nowhere"]), .step("b", needs: ["a"]), .step("c", needs: ["c"]),
        ])
        let (plan, findings) = Planner.plan(workflow)
        #expect(plan == nil)
        #expect(findings.map(\.code) == [.dependencyCycle, .unknownDependency, .dependencyCycle])
    }

    // F8, F9
    @Test func `a ring of a hundred thousand is told by its ends and cut by one entry`() throws {
        let count = 100_000
        let steps = (0..<count).map { NodeSketch.step("s\($0)", needs: ["s\(($0 + 1) % count)"]) }
        let finding = try #require(cycles(WorkflowSketch.workflow(steps)).first)
        #expect(finding.notes.count < 300)
        #expect(finding.notes.contains { $0.message.contains("99800 more hops") })
        #expect(cutNotes(finding).count == 1)
    }

    @Test func `a dense component of many steps is answered all the same`() throws {
        var random = SeededGenerator(seed: 5)
        let steps = (0..<2_000).map { _ in "" }.indices.map { index in
            NodeSketch.step(
                "s\(index)", needs: Set((0..<5).map { _ in "s\(Int.random(in: 0..<2_000, using: &random))" }).sorted())
        }
        let finding = try #require(cycles(WorkflowSketch.workflow(steps)).first)
        #expect(finding.notes.contains { $0.message.hasPrefix("one possible cut, 1 of") })
    }

    private func cycles(_ workflow: Workflow) -> [Diagnostic] {
        let (plan, findings) = Planner.plan(workflow)
        #expect(plan == nil)
        return findings.filter { $0.code == .dependencyCycle }
    }

    /// The notes before the cut that have a place, with the text there.
    private func told(_ finding: Diagnostic, _ workflow: Workflow) -> [String] {
        finding.notes.filter { !$0.message.contains(" cut") }
            .compactMap { note in note.range.map { "\(note.message): \(workflow.file.text(in: $0))" } }
    }

    private func cutNotes(_ finding: Diagnostic) -> [String] {
        finding.notes.map(\.message).filter { $0.contains(" cut") }
    }
}
