import FlowrunTestSupport
import Planning
import Syntax
import Testing

@testable import Workflow

struct DynamicFanOutTests {
    /// Its ids inside a fan-out are checked against the same workflow with the items in the file.
    private func members(_ fanOut: (NodeSketch, [String]) -> NodeSketch) -> [NodeSketch] {
        [
            .step("prepare"), .step("outside"),
            .group(
                "around",
                [
                    fanOut(
                        .group(
                            "build", needs: ["prepare"],
                            [
                                .step("compile", needs: ["outside"]),
                                .group(
                                    "check", needs: ["compile"], forEach: ["p", "q"], [.step("lint"), .step("run")]),
                                fanOut(
                                    .group(
                                        "test", needs: ["check"], [.step("one"), .step("two", needs: ["one", "tool"])]),
                                    ["1", "2"]),
                                .step("tool"), .step("size", needs: ["test"]),
                            ]
                        ).with(\.finally, [.step("clean")]), ["x", "y"])
                ]),
            .step("last", needs: ["around"]),
        ]
    }

    private func dynamicPlan() throws -> Plan {
        let workflow = WorkflowSketch.workflow(members { fanOut, _ in fanOut.with(\.items, "fromJSON('[]')") })
        return try #require(Planner.plan(workflow).plan)
    }

    private func instances(_ keys: [String]) -> [FanOut.Instance] {
        keys.map { FanOut.Instance(key: $0, variables: [Variable(name: "item", value: $0)]) }
    }

    @Test func `a fan-out that only the run knows has no instances in the plan, and one in its outline`() throws {
        let plan = try dynamicPlan()
        #expect(plan.ids == ["prepare", "outside", "around", "around.build", "last"])
        let build = try #require(plan.row("around.build"))
        #expect(plan.isDynamicFanOut(build))
        #expect(plan.members(of: build) == [])
        #expect(plan.outline.ids.contains("around.build[*].test[*].two"))
        #expect(plan.outline.ids.contains("around.build[*].finally.clean"))
        // Priorities and levels know what is to come.
        #expect(plan.level(of: "last") == 7)
        #expect(plan.row("prepare").map { plan.nodes[$0].remainingPath } == 8)
    }

    @Test func `expanded it is what it would be with its items in the file`() throws {
        let workflow = WorkflowSketch.workflow(members { $0.with(\.forEach, $1) })
        let expected = try #require(Planner.plan(workflow).plan)
        var plan = try dynamicPlan()
        let known = plan.rows.upperBound
        let build = try #require(plan.row("around.build"))
        let rows = plan.expand(build, into: instances(["x", "y"]))
        #expect(rows == known..<plan.rows.upperBound)
        for key in ["x", "y"] {
            let test = try #require(plan.row("around.build[\(key)].test"))
            let end = plan.rows.upperBound
            #expect(plan.expand(test, into: instances(["1", "2"])).lowerBound == end)
        }
        #expect(Set(plan.ids) == Set(expected.ids))
        #expect(plan.ids.count == expected.ids.count)
        for id in expected.ids {
            let row = try #require(plan.row(id))
            let other = try #require(expected.row(id))
            #expect(plan.needs(of: id) == expected.needs(of: id))
            #expect(plan.nodes[row].level == expected.nodes[other].level)
            #expect(plan.nodes[row].remainingPath == expected.nodes[other].remainingPath)
            #expect(plan.nodes[row].variables.map(\.value) == expected.nodes[other].variables.map(\.value))
            #expect(plan.nodes[row].hook == expected.nodes[other].hook)
            #expect(plan.item(of: row) == expected.item(of: other))
            #expect(
                plan.members(of: row).map { plan.nodes[$0].id }
                    == expected.members(of: other).map { expected.nodes[$0].id })
            #expect(
                Set(plan.rows(inside: row).map { plan.nodes[$0].id })
                    == Set(expected.rows(inside: other).map { expected.nodes[$0].id }))
            #expect(plan.nodes[plan.nodes[row].parent].id == expected.nodes[expected.nodes[other].parent].id)
        }
    }

    @Test func `another round's instances take the place of the first ones`() throws {
        var plan = try dynamicPlan()
        let build = try #require(plan.row("around.build"))
        let first = plan.expand(build, into: instances(["x", "y"]))
        let second = plan.expand(build, into: instances(["z"]))
        #expect(second.lowerBound == first.upperBound)
        #expect(plan.members(of: build).map { plan.nodes[$0].id } == ["around.build[z]"])
        #expect(plan.expand(build, into: []).isEmpty)
        #expect(plan.members(of: build) == [])
    }

    @Test func `edges of instances lead to the right rows of a choice`() throws {
        let workflow = WorkflowSketch.workflow([
            .step("unused"),
            .group(
                "g",
                [
                    .step("skipped"), .step("before"),
                    .group("d", [.step("a", needs: ["before", "deep"]), .step("b", needs: ["a"])]).with(
                        \.items, "fromJSON('[]')"),
                    .step("alone"),
                ]),
            .step("idle"), .step("deep"),
        ])
        var plan = try #require(Planner.plan(workflow).plan).restricted(to: ["g.d"])
        #expect(plan.ids == ["g", "g.before", "g.d", "deep"])
        let row = try #require(plan.row("g.d"))
        _ = plan.expand(row, into: instances(["k"]))
        #expect(plan.needs(of: "g.d[k].a") == ["g.before", "deep"])
        #expect(plan.needs(of: "g.d[k].b") == ["g.d[k].a"])
        #expect(plan.level(of: "g.d[k].b") == 2)
    }

    @Test(arguments: ["around.build[x]", "around.build[x].test", "around.build.check[p]"])
    func `an instance cannot be chosen, the whole and its members in all instances can`(name: String) throws {
        let plan = try dynamicPlan()
        let error = #expect(throws: UnknownTargets.self) { try plan.restricted(to: [name]) }
        #expect(
            error?.description
                == "`\(name)` cannot be chosen: only the run knows the copies of `around.build`; name `around.build`"
        )
        let whole = ["prepare", "outside", "around", "around.build"]
        #expect(try plan.restricted(to: ["around.build"]).ids == whole)
        #expect(try plan.restricted(to: ["around.build.compile"]).ids == whole)
    }

    @Test func `a hundred thousand instances are written in one piece`() throws {
        let workflow = WorkflowSketch.workflow([.step("d", needs: ["a"]).with(\.items, "fromJSON('[]')"), .step("a")])
        var plan = try #require(Planner.plan(workflow).plan)
        let row = try #require(plan.row("d"))
        let rows = plan.expand(row, into: instances((0..<100_000).map(String.init)))
        #expect(rows.count == 100_000)
        #expect(rows.last.map { plan.nodes[$0].id } == "d[99999]")
    }
}
