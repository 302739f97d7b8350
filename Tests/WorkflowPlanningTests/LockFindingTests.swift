import FlowrunTestSupport
import SourceDiagnostics
import Testing
import WorkflowModel
import WorkflowPlanning

struct LockFindingTests {
    @Test func `two groups that want each other's mutex are refused with every hop`() throws {
        let workflow = WorkflowSketch.workflow([
            holder("a", "registry", [.step("push").with(\.mutexes, ["database"])]),
            .step("between"),
            holder("b", "database", [.step("dump", needs: ["check"]), .step("check").with(\.mutexes, ["registry"])]),
        ])
        let finding = try #require(only(workflow))
        #expect(finding.code == .lockDeadlock)
        #expect(
            finding.message
                == "possible deadlock: `a` holds `registry` and waits for `database`, `b` holds `database` and waits for "
                + "`registry`")
        #expect(
            told(finding, workflow) == [
                "`a` holds `registry` to its end: registry",
                "`a` ends only when its member `push` has ended: push",
                "`a.push` waits for `database`, which `b` holds: database",
                "`b` holds `database` to its end: database",
                "`b` ends only when its member `check` has ended: check",
                "`b.check` waits for `registry`, which `a` holds: registry",
            ])
        #expect(Set(finding.notes.map(\.range)).count == 6)
        #expect(
            finding.fix?.description
                == "order `a` and `b` with `needs`, or let each take `mutex: [registry, database]` when it starts, not its members"
        )
    }

    @Test func `an order between the groups, a common mutex or disjoint names make them sound`() {
        let a = holder("a", "m", [.step("x").with(\.mutexes, ["n"])])
        let b = holder("b", "n", [.step("y").with(\.mutexes, ["m"])])
        #expect(codes([a, b]) == [.lockDeadlock])
        #expect(codes([a, b.with(\.needs, [("a", .done)])]) == [])
        #expect(codes([.group("g", isSequence: true, [a, b])]) == [])
        #expect(codes([a, .step("s", needs: ["a"]), .group("g", needs: ["s"], [b])]) == [])
        #expect(codes([holder("p", "all", [a]), holder("q", "all", [b])]) == [])
        #expect(codes([a, holder("b", "o", [.step("y").with(\.mutexes, ["m"])])]) == [])
    }

    @Test func `a circle of three is told whole`() throws {
        let workflow = WorkflowSketch.workflow([
            holder("a", "m", [.step("x").with(\.mutexes, ["n"])]),
            holder("b", "n", [.step("x").with(\.mutexes, ["o"])]),
            holder("c", "o", [.step("x").with(\.mutexes, ["m"])]),
        ])
        let finding = try #require(only(workflow))
        #expect(finding.notes.count == 9)
        #expect(finding.notes.last?.message == "`c.x` waits for `m`, which `a` holds")
    }

    @Test func `a holder whose member needs something that wants the mutex is refused`() throws {
        let workflow = WorkflowSketch.workflow([
            .step("x").with(\.mutexes, ["m"]),
            .group("around", [holder("g", "m", [.step("inside", needs: ["x"])])]),
        ])
        let finding = try #require(only(workflow))
        #expect(
            finding.message == "deadlock: `around.g` holds `m` and waits for `x`, which wants `m` too")
        #expect(
            told(finding, workflow) == [
                "`around.g` holds `m` to its end: m",
                "`around.g` ends only when its member `inside` has ended: inside",
                "`around.g.inside` needs `x`: x",
                "`x` waits for `m`, which `around.g` holds: m",
            ])
        #expect(
            codes([
                .step("x").with(\.mutexes, ["m"]),
                holder("g", "m", [.step("inside", needs: ["x"])]).with(\.needs, [("x", .ok)]),
            ]) == [])
    }

    @Test func `instances of a fan-out meet each other where one alone is in order`() throws {
        let inside: [NodeSketch] = [
            holder("a", "m", [.step("x").with(\.mutexes, ["n"])]),
            holder("b", "n", [.step("y").with(\.mutexes, ["m"])]).with(\.needs, [("a", .ok)]),
        ]
        let workflow = WorkflowSketch.workflow([.group("f", forEach: ["1", "2"], inside)])
        let finding = try #require(only(workflow))
        #expect(finding.notes.last?.message == "the instances of `f` run at the same time")
        #expect(codes([.group("f", forEach: ["1"], inside)]) == [])
        #expect(codes([.group("f", forEach: ["1", "2"], inside).with(\.maxParallel, 1)]) == [])
        #expect(codes([.group("f", inside).with(\.items, "fromJSON('[]')")]) == [.lockDeadlock])
        #expect(codes([.group("f", inside).with(\.items, "fromJSON('[]')").with(\.maxItems, 1)]) == [])
        #expect(codes([.group("f", forEach: ["1", "2"], inside).with(\.mutexes, ["one-at-a-time"])]) == [])
    }

    @Test func `a hook waits and holds like everything else`() {
        let a = holder("a", "m", [.step("x")]).with(\.finally, [.step("clean").with(\.mutexes, ["n"])])
        let b = holder("b", "n", [.step("y").with(\.mutexes, ["m"])])
        #expect(codes([a, b]) == [.lockDeadlock])
        #expect(codes([.group("g", [a]).with(\.finally, [b])]) == [])
    }

    @Test func `a mutex wanted again inside its holder is told with both places`() throws {
        let workflow = WorkflowSketch.workflow([
            holder("g", "m", [.group("h", [.step("x").with(\.mutexes, ["o", "m"])])])
        ])
        let finding = try #require(only(workflow))
        #expect(finding.code == .lockWantedAgain)
        #expect(finding.message == "`g.h.x` wants the mutex `m`, which the group `g` around it holds")
        #expect(told(finding, workflow) == ["`g` holds `m` to its end, without sharing it: m"])
        #expect(finding.range != finding.notes[0].range)
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

    @Test func `thousands of entangled holders are answered in time`() {
        var random = SeededGenerator(seed: 3)
        let names = (0..<1_000).map { "m\($0)" }
        let groups = (0..<3_000).map { index in
            holder(
                "g\(index)", names[index % 1_000],
                (0..<3).map { .step("s\($0)").with(\.mutexes, [names.randomElement(using: &random) ?? "m0"]) })
        }
        #expect(Set(codes(groups)).isSubset(of: [.lockDeadlock, .lockWantedAgain]))
        #expect(codes(groups).contains(.lockDeadlock))
    }

    private func holder(_ id: String, _ mutex: String, _ members: [NodeSketch]) -> NodeSketch {
        NodeSketch.group(id, members).with(\.mutexes, [mutex])
    }

    private func codes(_ members: [NodeSketch]) -> [DiagnosticCode] {
        Planner.findings(in: WorkflowSketch.workflow(members)).map(\.code)
    }

    private func only(_ workflow: Workflow) -> Diagnostic? {
        let (plan, findings) = Planner.plan(workflow)
        #expect(plan == nil)
        #expect(findings.count == 1)
        return findings.first
    }

    private func told(_ finding: Diagnostic, _ workflow: Workflow) -> [String] {
        finding.notes.compactMap { note in note.range.map { "\(note.message): \(workflow.file.text(in: $0))" } }
    }
}
