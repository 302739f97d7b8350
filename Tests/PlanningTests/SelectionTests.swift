import FlowrunTestSupport
import Planning
import Syntax
import Testing

@testable import Workflow

struct SelectionTests {
    private let plan: Plan

    init() throws {
        let workflow = WorkflowSketch.workflow([
            .step("prepare"), .step("lint"),
            .group(
                "build", needs: ["prepare"], forEach: ["x86", "3.9"],
                [.step("compile"), .step("smoke", needs: ["compile"]), .step("size")]),
            .group("tail", isSequence: true, [.step("one"), .step("two"), .step("three")]),
            .step("publish", needs: ["build", "lint"]),
        ])
        plan = try #require(Planner.plan(workflow).plan)
    }

    @Test func `no names mean everything`() throws {
        #expect(try plan.restricted(to: []).ids == plan.ids)
    }

    @Test func `a step brings what it needs, groups whole`() throws {
        #expect(try plan.restricted(to: ["publish"]).ids == plan.ids.filter { !$0.hasPrefix("tail") })
        #expect(try plan.restricted(to: ["lint"]).ids == ["lint"])
    }

    @Test func `a member keeps the groups around it and what they need`() throws {
        let chosen = try plan.restricted(to: ["build[3.9].smoke"])
        #expect(chosen.ids == ["prepare", "build", "build[3.9]", "build[3.9].compile", "build[3.9].smoke"])
        #expect(chosen.needs(of: "build[3.9].smoke") == ["build[3.9].compile"])
        #expect(chosen.needs(of: "build") == ["prepare"])
        #expect(chosen.members(of: .root).map { chosen.nodes[$0].id } == ["prepare", "build"])
        #expect(chosen.level(of: "build[3.9].smoke") == 2)
        #expect(chosen.nodes[0].remainingPath == 3)
    }

    @Test func `a path of definitions means every instance`() throws {
        #expect(
            try plan.restricted(to: ["build.size"]).ids
                == ["prepare", "build", "build[x86]", "build[x86].size", "build[3.9]", "build[3.9].size"])
    }

    @Test func `a name of an instance that is not there is told what instances there are`() throws {
        func message(_ name: String) -> String? {
            do { return try plan.restricted(to: [name]).ids.first } catch { return error.description }
        }
        #expect(message("build[x8]") == "no step or group `build[x8]`; did you mean `build[x86]`?")
        #expect(message("build[arm64]") == "`build` has no copy `build[arm64]`: it has build[x86], build[3.9]")
        let workflow = WorkflowSketch.workflow([
            .step("a", forEach: ["linux"]), .step("m", forEach: ["linux,3", "mac,3"]),
        ])
        let other = try #require(Planner.plan(workflow).plan)
        #expect(throws: UnknownTargets.self) { try other.restricted(to: ["m[linux]"]) }
        do { _ = try other.restricted(to: ["m[linux]"]) } catch {
            #expect(!error.description.contains("a[linux]"))
        }
    }

    @Test func `an instance is chosen whole`() throws {
        let ids = ["prepare", "build", "build[x86]", "build[x86].compile", "build[x86].smoke", "build[x86].size"]
        #expect(try plan.restricted(to: ["build[x86]"]).ids == ids)
        #expect(try plan.restricted(to: ["build[x86].size", "build[x86]", "prepare"]).ids == ids)
    }

    @Test func `a member of a sequence brings those before it`() throws {
        #expect(try plan.restricted(to: ["tail.two"]).ids == ["tail", "tail.one", "tail.two"])
    }

    @Test func `the length of the remaining path is that of the choice`() throws {
        let chosen = try plan.restricted(to: ["prepare"])
        #expect(chosen.row("prepare").map { chosen.nodes[$0].remainingPath } == 1)
    }

    @Test(arguments: [
        ("publsh", "publish"), ("compile", "build.compile"), ("build.smok", "build.smoke"),
        ("build[x68].size", "build[x86].size"), ("qqqqqqqq", nil), ("", nil), ("build[x86", "build[x86]"),
        ("publish.inner", nil), ("publish[1]", nil), (".", nil),
    ])
    func `an unknown name is answered with a suggestion`(name: String, suggestion: String?) {
        let error = #expect(throws: UnknownTargets.self) { try plan.restricted(to: ["lint", name]) }
        #expect(error?.names.map(\.name) == [name])
        #expect(error?.names.first?.suggestion == suggestion)
        #expect(error?.description.hasPrefix("no step or group `\(name)`") == true)
    }
}

/// `default` and `manual`.
struct `What runs when nobody says` {
    private func ids(
        _ members: [NodeSketch], names: [String] = [], defaultSteps: [String] = []
    ) throws -> [String] {
        let workflow = WorkflowSketch.workflow(members, defaultSteps: defaultSteps)
        return try #require(Planner.plan(workflow).plan).restricted(to: names).ids
    }

    private let members: [NodeSketch] = [
        .step("build"), .step("test", needs: ["build"]),
        .step("release", needs: ["test"]).with(\.isManual, true), .step("announce", needs: ["release"]),
        .step("clean").with(\.isManual, true),
        .group("docs", [.step("write"), .step("publish").with(\.isManual, true)]).with(\.isManual, true),
        .group("check", [.step("lint"), .step("fuzz", needs: ["lint"]).with(\.isManual, true)]),
    ]

    @Test func `everything but what is manual, unless something needs it`() throws {
        #expect(try ids(members) == ["build", "test", "release", "announce", "check", "check.lint"])
        #expect(try ids(Array(members.filter { $0.id != "announce" })) == ["build", "test", "check", "check.lint"])
    }

    @Test func `what default names, with all it needs`() throws {
        #expect(try ids(members, defaultSteps: ["test"]) == ["build", "test"])
        #expect(
            try ids(members, defaultSteps: ["clean", "check.fuzz"]) == ["clean", "check", "check.lint", "check.fuzz"])
        #expect(try ids(members, names: ["check"], defaultSteps: ["test"]) == ["check", "check.lint"])
    }

    @Test func `the name of a group is not that of its manual members`() throws {
        #expect(try ids(members, names: ["docs"]) == ["docs", "docs.write"])
        #expect(try ids(members, names: ["docs.publish"]) == ["docs", "docs.publish"])
        #expect(try ids(members, names: ["docs", "docs.publish"]) == ["docs", "docs.write", "docs.publish"])
    }

    @Test func `hooks run with their group, their manual steps do not`() throws {
        let group = NodeSketch.group("g", [.step("a")]).with(
            \.finally, [.step("clean"), .step("wipe").with(\.isManual, true)])
        #expect(try ids([group]) == ["g", "g.a", "g.finally", "g.finally.clean"])
        #expect(try ids([group], names: ["g.finally.wipe"]).contains("g.finally.wipe"))
    }

    @Test func `copies of a fan-out go with it`() throws {
        let fanOut = NodeSketch.group("t", forEach: ["x", "y"], [.step("a"), .step("b").with(\.isManual, true)])
        #expect(try ids([fanOut]) == ["t", "t[x]", "t[x].a", "t[y]", "t[y].a"])
        #expect(try ids([fanOut], names: ["t[y].b"]) == ["t", "t[y]", "t[y].b"])
        #expect(try ids([fanOut.with(\.isManual, true), .step("c")]) == ["c"])
        #expect(
            try ids([fanOut.with(\.isManual, true), .step("c")], names: ["t"]) == [
                "t", "t[x]", "t[x].a", "t[y]", "t[y].a",
            ])
    }

    @Test func `copies that the run makes have what is chosen of them`() throws {
        func plan(_ names: [String]) throws -> Plan {
            let fanOut = NodeSketch.group(
                "t", needs: ["before"],
                [
                    .step("a"), .step("tool", needs: ["far"]).with(\.isManual, true),
                    .step("b", needs: ["a"]).with(\.isManual, true), .step("c", needs: ["a"]),
                    .group("inner", needs: ["c"], forEach: ["p", "q"], [.step("d"), .step("e", needs: ["d"])]),
                    .step("last", needs: ["inner"]),
                ])
            let members = [
                NodeSketch.step("far").with(\.isManual, true), .step("before"),
                fanOut.with(\.items, "fromJSON('[]')"), .step("after", needs: ["t"]),
            ]
            var plan = try #require(Planner.plan(WorkflowSketch.workflow(members)).plan).restricted(to: names)
            let row = try #require(plan.row("t"))
            #expect(
                plan.outsideNeeds(ofInstancesOf: row).map { plan.nodes[$0].id }
                    == (plan.row("far") == nil ? [] : ["far"]))
            _ = plan.expand(row, into: [FanOut.Instance(key: "k", variables: [])])
            return plan
        }
        let whole = try plan([])
        #expect(
            whole.ids == [
                "before", "t", "after", "t[k]", "t[k].a", "t[k].c", "t[k].inner", "t[k].inner[p]", "t[k].inner[p].d",
                "t[k].inner[p].e", "t[k].inner[q]", "t[k].inner[q].d", "t[k].inner[q].e", "t[k].last",
            ])
        #expect(whole.needs(of: "t[k].c") == ["t[k].a"])
        #expect(whole.needs(of: "t[k].inner[q].e") == ["t[k].inner[q].d"])
        #expect(whole.needs(of: "t[k].last") == ["t[k].inner"])
        let one = try plan(["t.b"])
        #expect(one.ids == ["before", "t", "t[k]", "t[k].a", "t[k].b"])
        #expect(one.needs(of: "t[k].b") == ["t[k].a"])
        let tool = try plan(["t.tool"])
        #expect(tool.ids == ["far", "before", "t", "t[k]", "t[k].tool"])
        #expect(tool.needs(of: "t[k].tool") == ["far"])
    }

    @Test func `names in undoes are those of members of the hook's own body`() {
        let planned = Planned(
            """
            build: { run: x }
            g:
              steps:
                deploy: { run: x }
                each: { for-each: [a, b], steps: { in: { run: x } } }
              finally:
                back: { run: x, undoes: [deploy, each, 2️⃣deplyo, 3️⃣build, 4️⃣finally, 5️⃣each.in, 6️⃣'each[a]'] }
                none: { run: x, undoes: [] }
                all: { undoes: [deploy], steps: { a: { run: x } }, finally: { b: { run: x, undoes: [7️⃣deploy, a] } } }
            """, top: "finally: { top: { run: x, undoes: [build, g, 1️⃣deploy] } }")
        func finding(_ name: String, _ body: String) -> String {
            "FR0223 `undoes` names `\(name)`, and \(body), whose hook this is, has no such step or group"
        }
        #expect(
            planned.summary == [
                "1️⃣ \(finding("deploy", "the workflow"))", "2️⃣ \(finding("deplyo", "`g`"))",
                "3️⃣ \(finding("build", "`g`"))", "4️⃣ \(finding("finally", "`g`"))",
                "5️⃣ \(finding("each.in", "`g`"))", "6️⃣ \(finding("each[a]", "`g`"))",
                "7️⃣ \(finding("deploy", "`g.finally.all`"))",
            ])
        #expect(planned.diagnostics.dropFirst().first?.fix?.description == "did you mean `deploy`?")
    }

    @Test func `names in default are checked`() {
        let planned = Planned(
            """
            build: { run: x }
            t: { matrix: { os: [a, b] }, run: x }
            each: { for-each: "${{ fromJSON('[1]') }}", steps: { a: { run: x } } }
            """, top: "default: [1️⃣biuld, 't[a]', 2️⃣'t[c]', each.a, 3️⃣'each[1].a', 4️⃣a]")
        #expect(
            planned.summary == [
                "1️⃣ FR0223 `default` names `biuld`, and there is no such step or group",
                "2️⃣ FR0223 `default` names `t[c]`, and there is no such step or group",
                "3️⃣ FR0223 `default` cannot name `each[1].a`: only the run knows the copies of `each`",
                "4️⃣ FR0223 `default` names `a`, and there is no such step or group",
            ])
        #expect(
            planned.diagnostics.compactMap(\.fix?.description) == [
                "did you mean `build`?",
                "write the id of a step or group, with those of its enclosing groups: `build.compile`", "name `each`",
                "did you mean `each.a`?",
            ])
    }

    @Test func `what reads a manual member says what it is without it`() {
        let planned = Planned(
            """
            g:
              outputs: { v: "${{ steps.1️⃣m.outputs.v }}", w: "${{ steps.m.outputs.v ?? 'none' }}" }
              steps: { m: { manual: true, run: x, outputs: { v: string } } }
            """)
        #expect(planned.diagnostics.map(\.code) == [.possiblyAbsent])
    }
}
