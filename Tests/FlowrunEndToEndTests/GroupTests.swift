import FlowrunTestSupport
import Testing

/// What a group promises of its members, and how it ends.
struct GroupTests {
    private static func hold(_ name: String, then end: String = "exit 0") -> String {
        "'echo up > \(name).up; read _ < \(name).go; \(end)'"
    }

    // D1
    @Test func `a group ends after its last member, however many ended at once`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g: { steps: { a: { run: ["true"] }, held: { run: \(Self.hold("held")) }, c: { run: ["true"] } } }
              after: { needs: [g], run: "true" }
            """)
        let gate = try test.gate("held.go")
        let running = try await test.start("run", "workflow.yml", "--log", "json", "-j", "4")
        try await running.waitForFile("held.up")
        for step in ["g.a", "g.c"] { try await running.waitForEvent("step.finished", step: step) }
        gate.open()
        let result = try await running.finish()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.all("step.finished").compactMap(\.step).suffix(2) == ["g.held", "after"])
        LogInvariants.check(log, needs: ["after": ["g": .success]], steps: ["g.a", "g.held", "g.c", "after"])
    }

    // D2
    @Test func `an empty group and a fan-out over nothing succeed at once`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              empty: { steps: {} }
              outer: { needs: { empty: success }, steps: { inner: { steps: {} } } }
              none: { for-each: [], run: touch ran }
              after: { needs: { outer: success, none: success }, run: "true" }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        for group in ["empty", "outer", "outer.inner", "none"] {
            #expect(log.all("group.started", group: group).count == 1)
            #expect(log.all("group.finished", group: group).map(\.outcome) == ["success"])
        }
        #expect(log.outcomes == ["after": "success"])
        #expect(!test.exists("ran"))
        LogInvariants.check(
            log, needs: ["outer": ["empty": .success], "after": ["outer": .success, "none": .success]])
    }

    // D2
    @Test func `a file without any step is refused instead of succeeding`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: {}\n")
        let result = try await test.runLogged()
        result.expect(exit: 2, stdout: "")
        result.expect(stderr: "error[FR0216]: `steps` contains no step")
    }

    // D4
    @Test func `a limited group runs as many as it may, and no more`() async throws {
        // Each pair ends only when both of it run.
        func meet(_ name: String, _ other: String) -> String { "'echo > \(other).met; read _ < \(name).met'" }
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                max-parallel: 2
                steps:
                  a: { run: \(meet("a", "b")) }
                  b: { run: \(meet("b", "a")) }
                  c: { run: \(meet("c", "d")) }
                  d: { run: \(meet("d", "c")) }
            """)
        let gates = try ["a", "b", "c", "d"].map { try test.gate("\($0).met") }
        let result = try await test.runLogged("-j", "8")
        withExtendedLifetime(gates) {}
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.maximumRunning() == 2)
        LogInvariants.check(log)
    }

    // D11
    @Test func `failing members leave their siblings alone, and all of them are listed as they ended`() async throws {
        let members = (1...5).map { "f\($0): { run: \(Self.hold("f\($0)", then: "exit \($0)")) }" }
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                steps:
                  \(members.joined(separator: "\n      "))
                  held: { run: \(Self.hold("held")) }
                  later: { needs: [held], run: "true" }
            """)
        let gates = try (1...5).map { try test.gate("f\($0).go") }
        let last = try test.gate("held.go")
        let running = try await test.start("run", "workflow.yml", "--log", "json", "-j", "8")
        for number in [3, 1, 5, 2, 4] {
            gates[number - 1].open()
            try await running.waitForEvent("step.finished", step: "g.f\(number)")
        }
        last.open()
        let result = try await running.finish()
        result.expect(exit: 1)
        let log = try result.log()
        let failed = ["g.f3", "g.f1", "g.f5", "g.f2", "g.f4"]
        #expect(log.errors == failed)
        #expect(log.first("group.finished", group: "g")?["errors"]?.strings == failed)
        #expect(log.first("group.finished", group: "g")?.outcome == "failure")
        #expect(log.outcomes["g.held"] == "success" && log.outcomes["g.later"] == "success")
        LogInvariants.check(log, needs: ["g.later": ["g.held": .ok]])
    }

    // C9, D12, D15
    @Test func `fail-fast ends the siblings of the first failure, which stays the only error`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                fail-fast: true
                steps:
                  bad: { run: \(Self.hold("bad", then: "exit 1")) }
                  hangs: { run: \(Self.hold("hangs")) }
                  objects: { run: "trap 'exit 3' TERM; echo up > objects.up; read _ < objects.go" }
                  later: { needs: [hangs], run: "true" }
            """)
        let gates = try ["bad", "hangs", "objects"].map { try test.gate("\($0).go") }
        let running = try await test.start("run", "workflow.yml", "--log", "json", "-j", "4")
        for name in ["bad", "hangs", "objects"] { try await running.waitForFile("\(name).up") }
        gates[0].open()
        let result = try await running.finish()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.errors == ["g.bad"])
        let group = try #require(log.first("group.finished", group: "g"))
        #expect(group.outcome == "failure")
        #expect(group["errors"]?.strings == ["g.bad"])
        for step in ["g.hangs", "g.objects", "g.later"] {
            #expect(log.finished(step)?.outcome == "cancelled")
            #expect(log.finished(step)?.cause?.kind == "fail-fast")
            #expect(log.finished(step)?.cause?.rootStep == "g.bad")
        }
        #expect(log.finished("g.objects")?["exit_code"]?.int == 3)
        #expect(log.startOrder.contains("g.later") == false)
        #expect(test.survivors() == [])
        LogInvariants.check(log, needs: ["g.later": ["g.hangs": .ok]])
    }

    // D14
    @Test func `a nested group is one cause outside and a list of its own inside`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              outer:
                steps:
                  inner: { steps: { x: { run: exit 3 }, y: { needs: { x: done }, run: exit 4 } } }
                  z: { needs: { inner: done }, run: exit 5 }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 1)
        let log = try result.log()
        let all = ["outer.inner.x", "outer.inner.y", "outer.z"]
        #expect(log.errors == all)
        #expect(log.first("group.finished", group: "outer.inner")?["errors"]?.strings == Array(all.prefix(2)))
        let outer = try #require(log.first("group.finished", group: "outer"))
        #expect(outer["errors"]?.strings == all)
        let chain = try #require(outer.cause).links
        #expect(chain.map { $0["kind"]?.string } == ["member", "member", "exit"])
        #expect(chain[0]["group"]?.string == "outer.inner")
        #expect(chain[1]["step"]?.string == "outer.inner.x")
        LogInvariants.check(log, needs: ["outer.inner.y": ["outer.inner.x": .done], "outer.z": ["outer.inner": .done]])
    }

    // D15
    @Test func `what members say to the end of their group's time is no error of theirs`() async throws {
        try await withLongEnoughLimit { limit, _ in
            let test = try FlowrunTest(
                """
                version: 1
                steps:
                  g:
                    timeout: \(limit)
                    steps:
                      a: { run: "trap 'exit 3' TERM; echo > a.up; read _ < a.go" }
                      b: { run: "trap 'exit 0' TERM; echo > b.up; read _ < b.go" }
                """)
            let gates = try ["a.go", "b.go"].map { try test.gate($0) }
            let result = try await test.runLogged("-j", "2")
            withExtendedLifetime(gates) {}
            guard test.exists("a.up"), test.exists("b.up") else { return false }
            result.expect(exit: 1)
            let log = try result.log()
            #expect(log.errors == ["g"])
            #expect(log.first("group.finished", group: "g")?["errors"]?.strings == [])
            #expect(log.outcomes == ["g.a": "cancelled", "g.b": "cancelled"])
            #expect(log.finished("g.a")?["exit_code"]?.int == 3 && log.finished("g.b")?["exit_code"]?.int == 0)
            LogInvariants.check(log)
            return true
        }
    }

    // D19
    @Test func `groups in groups in groups need one slot, not one each`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a:
                steps:
                  b:
                    steps:
                      c: { steps: { x: { run: "true" }, y: { run: "true" } } }
                      after: { needs: [c], run: "true" }
                  after: { needs: [b], run: "true" }
              other: { steps: { d: { steps: { x: { run: "true" } } } } }
            """)
        let result = try await test.runLogged("-j", "1")
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.maximumRunning() == 1)
        #expect(log.outcomes.count == 5)
        LogInvariants.check(log, needs: ["a.b.after": ["a.b.c": .success], "a.after": ["a.b": .success]])
    }

    // D22
    @Test func `a member whose failure is tolerated is told, and its group succeeds`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g: { steps: { bad: { continue-on-error: true, run: exit 4 }, good: { needs: [bad], run: "true" } } }
              after: { needs: { g: success }, run: "true" }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.outcomes == ["g.bad": "failure", "g.good": "success", "after": "success"])
        #expect(log.first("group.finished", group: "g")?.outcome == "success")
        #expect(log.first("group.finished", group: "g")?["errors"]?.strings == [])
        #expect(log.runFinished?["tolerated"]?.strings == ["g.bad"])
        LogInvariants.check(log, needs: ["g.good": ["g.bad": .ok], "after": ["g": .success]])
    }

    // D23
    @Test func `a failing member counts once towards the end of its group`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g: { steps: { bad: { run: exit 1 }, held: { run: \(Self.hold("held")) } } }
              after: { needs: { g: done }, run: "true" }
            """)
        let gate = try test.gate("held.go")
        let running = try await test.start("run", "workflow.yml", "--log", "json", "-j", "4")
        try await running.waitForEvent("step.finished", step: "g.bad")
        gate.open()
        let result = try await running.finish()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.outcomes["after"] == "success" && log.outcomes["g.held"] == "success")
        #expect(log.errors == ["g.bad"])
        LogInvariants.check(log, needs: ["after": ["g": .done]])
    }
    // D15
    @Test func `what members say to the cancel of their group is no error`() async throws {
        let member = "\"trap 'exit 3' TERM; echo up >> ups; read _ < go\""
        let test = try FlowrunTest(
            "version: 1\nsteps: { g: { steps: { a: { run: \(member) }, b: { run: \(member) } } } }\n")
        let gate = try test.gate("go")
        let running = try await test.start("workflow.yml", "--log", "json", "-j", "2")
        try await running.waitForLines(in: "ups", 2)
        try await test.ask("ctl", "cancel", "g").expect(exit: 0)
        let result = try await running.finish()
        withExtendedLifetime(gate) {}
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.errors == [])
        #expect(log.all("step.attempt").allSatisfy { $0["exit_code"]?.int == 3 })
        let group = try #require(log.first("group.finished", group: "g"))
        #expect(group.outcome == "cancelled" && group["errors"]?.strings == [])
        #expect(group["cancelled"]?.strings?.sorted() == ["g.a", "g.b"])
        LogInvariants.check(log)
    }

    // D17
    @Test(arguments: [
        (["success"], "success"), (["success", "skipped"], "success"), (["tolerated", "success"], "success"),
        (["cancelled", "success", "tolerated"], "cancelled"), (["timeout", "success"], "timeout"),
        (["timeout", "cancelled"], "timeout"), (["failure", "cancelled"], "failure"),
        (["success", "cancelled", "timeout", "failure"], "failure"),
    ])
    func `of its members' outcomes the worst is the group's and the run's`(members: [String], outcome: String)
        async throws
    {
        let steps = members.map { member in
            let body =
                switch member {
                case "failure": "run: exit 1"
                case "tolerated": "run: exit 1, continue-on-error: true"
                case "timeout": "timeout: 100ms, run: read _ < go"
                case "cancelled": "run: read _ < go"
                case "skipped": "if: 1 > 2, run: 'true'"
                default: "run: 'true'"
                }
            return "      \(member): { \(body) }\n"
        }
        let test = try FlowrunTest("version: 1\nsteps:\n  g:\n    steps:\n\(steps.joined())")
        let gate = try test.gate("go")
        let running = try await test.start("workflow.yml", "--log", "json", "-j", "4")
        if members.contains("cancelled") {
            for member in members where member != "cancelled" {
                try await running.waitForEvent("step.finished", step: "g.\(member)")
            }
            try await test.ask("ctl", "cancel", "g.cancelled").expect(exit: 0)
        }
        let result = try await running.finish()
        withExtendedLifetime(gate) {}
        result.expect(exit: outcome == "success" ? 0 : 1)
        let log = try result.log()
        for member in members {
            #expect(log.outcomes["g.\(member)"] == (member == "tolerated" ? "failure" : member))
        }
        #expect(log.first("group.finished", group: "g")?.outcome == outcome)
        #expect(log.runFinished?.outcome == outcome)
        LogInvariants.check(log)
    }

    // D20
    @Test(arguments: [false, true])
    func `of two groups in a row the second starts after the first one's last member`(isCancelled: Bool) async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              second: { needs: { first: done }, steps: { c: { run: "true" }, d: { run: "true" } } }
              first: { steps: { a: { run: \(Self.hold("a")) }, b: { run: "true" } } }
            """)
        let gate = try test.gate("a.go")
        let running = try await test.start("workflow.yml", "--log", "json", "-j", "1")
        try await running.waitForFile("a.up")
        if isCancelled { try await test.ask("ctl", "cancel", "first").expect(exit: 0) } else { gate.open() }
        let result = try await running.finish()
        withExtendedLifetime(gate) {}
        result.expect(exit: isCancelled ? 1 : 0)
        let log = try result.log()
        #expect(log.startOrder == ["first.a"] + (isCancelled ? [] : ["first.b"]) + ["second.c", "second.d"])
        #expect(log.first("group.finished", group: "first")?.outcome == (isCancelled ? "cancelled" : "success"))
        LogInvariants.check(
            log, needs: ["second": ["first": .done]], steps: ["first.a", "first.b", "second.c", "second.d"])
    }

    // B2, F17
    @Test(arguments: 1...10)
    func `in a hundred groups at once, members end before their group and values are there in time`(run: Int)
        async throws
    {
        let items = (1...100).map(String.init).joined(separator: ", ")
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              each:
                for-each: [\(items)]
                steps:
                  make: { run: 'echo "v=$item" >> "$FLOWRUN_OUTPUT"', shell: sh, outputs: { v: int } }
                  beside: { run: ["true"] }
                  use: { needs: [make], run: [test, "${{ steps.make.outputs.v }}", "=", "${{ item }}"] }
                outputs: { v: "${{ steps.make.outputs.v }}" }
              after: { needs: { each: success }, run: "true" }
            """)
        let result = try await test.runLogged("-j", "8")
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.all("group.finished").count == 101)
        #expect(log.startOrder.last == "after")
        let needs = (1...100).map { ("each[\($0)].use", ["each[\($0)].make"]) } + [("after", ["each"])]
        LogInvariants.check(log, needs: DependencyTable(Dictionary(uniqueKeysWithValues: needs)))
    }
}
