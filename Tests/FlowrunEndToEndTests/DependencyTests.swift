import FlowrunTestSupport
import Foundation
import Testing

/// Dependencies, and the values that pass along them.
struct DependencyTests {
    // F2
    @Test(arguments: 1...5)
    func `the order of the file is irrelevant, also where one runs at a time`(seed: UInt64) async throws {
        let needs = [
            "a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"], "e": ["d"], "f": ["e", "a"], "g": [], "h": ["g", "f"],
        ]
        var random = SeededGenerator(seed: seed)
        let steps = needs.keys.sorted().shuffled(using: &random).map { step in
            "  \(step): { needs: [\(needs[step, default: []].joined(separator: ", "))], run: 'true' }"
        }
        let test = try FlowrunTest("version: 1\nsteps:\n\(steps.joined(separator: "\n"))\n")
        let result = try await test.runLogged("-j", "1")
        result.expect(exit: 0)
        LogInvariants.check(try result.log(), needs: DependencyTable(needs), steps: Array(needs.keys))
    }

    // F3
    @Test func `all of several needs count, and what they share runs once`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              top: { needs: [left, right], run: "true" }
              left: { needs: [root], run: "echo up > left.up; read _ < left.go" }
              right: { needs: [root], run: "true" }
              root: { run: "echo once >> root.runs" }
            """)
        let gate = try test.gate("left.go")
        let running = try await test.start("run", "workflow.yml", "--log", "json", "-j", "4")
        try await running.waitForFile("left.up")
        try await running.waitForEvent("step.finished", step: "right")
        gate.open()
        let result = try await running.finish()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.all("step.started", step: "root").count == 1)
        #expect(try test.contents(of: "root.runs") == "once\n")
        LogInvariants.check(
            log, needs: DependencyTable(["top": ["left", "right"], "left": ["root"], "right": ["root"]]))
    }

    // F4
    @Test func `a member may need what stands beside its group or beside itself`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              right:
                steps:
                  b: { needs: [left, c], run: "true" }
                  c: { run: "true" }
              left: { steps: { a: { run: "echo up > a.up; read _ < a.go" } } }
            """)
        let gate = try test.gate("a.go")
        let running = try await test.start("run", "workflow.yml", "--log", "json", "-j", "4")
        try await running.waitForFile("a.up")
        try await running.waitForEvent("step.finished", step: "right.c")
        gate.open()
        let result = try await running.finish()
        result.expect(exit: 0)
        LogInvariants.check(try result.log(), needs: DependencyTable(["right.b": ["left", "right.c"]]))
    }

    // F6
    @Test func `the same need named twice is a warning and counts once`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: 'true' }, b: { needs: [a, a], run: 'true' } }\n")
        let check = try await test.run("check", "workflow.yml")
        check.expect(exit: 0)
        check.expect(stdout: "workflow.yml:2:", "warning[FR0217]: `a` is needed twice")
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.startOrder == ["a", "b"])
        LogInvariants.check(log, needs: ["b": ["a": .ok]], steps: ["a", "b"])
    }

    // F7
    @Test func `a step that needs itself is refused with its place`() async throws {
        let test = try FlowrunTest("version: 1\nsteps:\n  a: { needs: [a], run: touch ran }\n")
        let check = try await test.run("check", "workflow.yml")
        check.expect(exit: 2)
        check.expect(stdout: "workflow.yml:3:16: error[FR0301]: `a` waits for itself")
        try await test.runLogged().expect(exit: 2, stdout: "")
        #expect(!test.exists("ran"))
    }

    // F8
    @Test func `a cycle is refused with its path before anything runs`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { needs: [b], run: touch ran }
              b: { needs: [c], run: touch ran }
              c: { needs: [a], run: touch ran }
              free: { run: touch ran }
            """)
        let check = try await test.run("check", "workflow.yml")
        check.expect(exit: 2)
        check.expect(stdout: "workflow.yml:3:16: error[FR0301]: ", "`a` -> `b` -> `c` -> `a`")
        let result = try await test.runLogged()
        result.expect(exit: 2, stdout: "")
        result.expect(stderr: "`a` -> `b` -> `c` -> `a`")
        #expect(!test.exists("ran"))
    }

    // F9
    @Test(arguments: ["chain", "fan"])
    func `a hundred thousand steps behind a failure are ruled out without recursion`(shape: String) async throws {
        let count = 100_000
        // The last step is the first of the chain.
        let lines = (1...count).map { "  s\($0): { needs: [\(shape == "chain" ? "s\($0 + 1)" : "root")], run: x }\n" }
        let root = shape == "chain" ? "s\(count + 1)" : "root"
        let test = try FlowrunTest("version: 1\nsteps:\n\(lines.joined())  \(root): { run: exit 3 }\n")
        let result = try await test.run(
            "workflow.yml", "--log", "quiet", "--log-file", "log.jsonl", deadline: FlowrunTest.deadline)
        result.expect(exit: 1)
        // Only the last record: reading all of them takes a test without optimization minutes.
        let tail = try await test.run("-n1", "log.jsonl", launcher: ["sh", "-c", #"exec tail "$@""#])
        let last = try EventLog(jsonLines: tail.stdout)
        #expect(last.runFinished?["counts"]?["not-run"]?.int == count)
        #expect(last.errors == [root])
    }

    // F16
    @Test func `an explicit value goes before an output, and outputs of one name are told apart by their steps`()
        async throws
    {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              one: { run: 'echo "v=one" >> "$FLOWRUN_OUTPUT"', outputs: { v: string } }
              two: { run: 'echo "v=two" >> "$FLOWRUN_OUTPUT"', outputs: { v: string } }
              use: { needs: [one, two], run: [echo, "${{ env.GIVEN ?? steps.two.outputs.v }}", "${{ steps.one.outputs.v }}"] }
            """)
        for (given, wanted) in [(nil, "two one\n"), ("given", "given one\n"), ("", " one\n")] {
            let result = try await test.runLogged(environment: ["GIVEN": given])
            result.expect(exit: 0)
            #expect(try result.log().output(of: "use") == wanted)
            LogInvariants.check(try result.log(), needs: DependencyTable(["use": ["one", "two"]]))
        }
    }

    // F18
    @Test func `gathered results stand in the order of the items, not of the ends`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              each:
                for-each: [c, a, d, b]
                run: 'echo up > "$item.up"; read _ < "$item.go"; echo "v=<$item>" >> "$FLOWRUN_OUTPUT"'
                outputs: { v: string }
              show: { needs: [each], run: [echo, "${{ join(steps.each.outputs.v, ' ') }}"] }
            """)
        let gates = try ["c", "a", "d", "b"].map { (item: $0, gate: try test.gate("\($0).go")) }
        let running = try await test.start("run", "workflow.yml", "--log", "json", "-j", "4")
        for (item, _) in gates { try await running.waitForFile("\(item).up") }
        for (item, gate) in gates.reversed() {
            gate.open()
            try await running.waitForEvent("step.finished", step: "each[\(item)]")
        }
        let result = try await running.finish()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.output(of: "show") == "<c> <a> <d> <b>\n")
        LogInvariants.check(log, needs: DependencyTable(["show": ["each"]]))
    }

    // F19
    @Test(arguments: [
        ("{ a: done }", "steps.a.outputs.v"), ("[skippable]", "steps.skippable.outputs.v"),
        ("{ a: failure }", "steps.a.outputs.v"),
    ])
    func `a value that may be absent needs its default before anything runs`(needs: String, value: String)
        async throws
    {
        func workflow(_ expression: String) -> String {
            """
            version: 1
            params: { mode: { type: bool, default: false } }
            steps:
              a: { run: 'echo v=1 >> "$FLOWRUN_OUTPUT"', outputs: { v: int } }
              skippable: { if: params.mode, run: 'echo v=1 >> "$FLOWRUN_OUTPUT"', outputs: { v: int } }
              b: { needs: \(needs), run: [echo, "${{ \(expression) }}"] }
            """
        }
        let test = try FlowrunTest(workflow(value))
        let check = try await test.run("check", "workflow.yml")
        check.expect(exit: 2)
        check.expect(stdout: "workflow.yml:6:", "error[", "??")
        try await test.runLogged().expect(exit: 2, stdout: "")
        try test.write(workflow("\(value) ?? 0"), to: "workflow.yml")
        try await test.run("check", "workflow.yml").expect(exit: 0)
    }

    // F22
    @Test func `a default stands in for what a producer past its limit never wrote`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { timeout: 300ms, run: 'echo v=1 >> "$FLOWRUN_OUTPUT"; read _ < a.go', outputs: { v: int } }
              b: { needs: { a: done }, run: [echo, "${{ steps.a.outputs.v ?? 7 }}"] }
            """)
        let gate = try test.gate("a.go")
        let result = try await test.runLogged()
        withExtendedLifetime(gate) {}
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.outcomes == ["a": "timeout", "b": "success"])
        #expect(log.output(of: "b") == "7\n")
        #expect(log.errors == ["a"])
        LogInvariants.check(log, needs: ["b": ["a": .done]])
    }
    // F11, F12
    @Test func `a cancelled need rules out, a failed one is blamed before it, and an edge may not care`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              stopped: { run: "echo up > stopped.up; read _ < stopped.go" }
              failed: { run: "read _ < failed.go; exit 3" }
              behind: { needs: [stopped], run: touch ran }
              both: { needs: [stopped, failed], run: touch ran }
              carefree: { needs: { stopped: done, failed: done }, run: "true" }
            """)
        let gates = try ["stopped.go", "failed.go"].map { try test.gate($0) }
        let running = try await test.start("workflow.yml", "--log", "json", "-j", "4")
        try await running.waitForFile("stopped.up")
        try await test.ask("ctl", "cancel", "stopped").expect(exit: 0)
        try await running.waitForEvent("step.finished", step: "behind")
        gates[1].open()
        let result = try await running.finish()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(
            log.outcomes == [
                "stopped": "cancelled", "failed": "failure", "behind": "not-run", "both": "not-run",
                "carefree": "success",
            ])
        #expect(log.finished("behind")?.cause?.kind == "dependency")
        #expect(log.finished("behind")?.cause?.rootStep == "stopped")
        #expect(log.finished("behind")?.cause?.root["kind"]?.string == "interrupt")
        #expect(log.finished("both")?.cause?.rootStep == "failed")
        #expect(!test.exists("ran"))
        LogInvariants.check(log, needs: ["carefree": ["stopped": .done, "failed": .done]])
    }

    @Test func `a group with a step that a failure outside ruled out is not run, and nor is what needs it`()
        async throws
    {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              broken: { run: exit 1 }
              group:
                steps:
                  fine: { run: "true" }
                  behind: { needs: [broken], run: "true" }
              after: { needs: [group], run: "true" }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(
            log.outcomes == [
                "broken": "failure", "group.fine": "success", "group.behind": "not-run", "after": "not-run",
            ])
        let group = try #require(log.first("group.finished", group: "group"))
        #expect(group.outcome == "not-run")
        #expect(group.cause?.kind == "member")
        #expect(group.cause?.rootStep == "broken")
        #expect(log.finished("after")?.cause?.rootStep == "broken")
        LogInvariants.check(log)
    }
}
