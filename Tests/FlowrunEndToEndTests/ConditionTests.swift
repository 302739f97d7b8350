import FlowrunTestSupport
import Testing

/// `if`, edge kinds and status functions.
struct ConditionTests {
    // G1
    @Test func `a false condition skips the step and harms nobody who needs it`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { mode: { type: string, default: fast } }
            steps:
              no: { if: params.mode == 'slow', run: touch ran }
              yes: { if: "${{ params.mode == 'fast' }}", run: "true" }
              after: { needs: [no], run: "true" }
              strict: { needs: { no: success }, run: touch ran }
              group: { if: "false", steps: { in: { run: touch ran } } }
              each: { if: "1 > 2", for-each: [a, b], run: touch ran }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(
            log.outcomes == [
                "no": "skipped", "yes": "success", "after": "success", "strict": "skipped", "group.in": "skipped",
                "each[a]": "skipped", "each[b]": "skipped",
            ])
        #expect(log.finished("no")?.cause?.kind == "condition")
        #expect(log.finished("group.in")?.cause?.kind == "condition")
        #expect(!test.exists("ran"))
        LogInvariants.check(log)
    }

    @Test func `status functions take the place of plain edges`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              bad: { run: exit 1 }
              good: { run: "true" }
              mend: { needs: [bad], if: failure(), run: "true" }
              ever: { needs: [bad, good], if: always(), run: "true" }
              fine: { needs: [good], if: success(), run: "true" }
              not: { needs: [bad], if: success(), run: "true" }
              behindNot: { needs: [not], run: "true" }
              calm: { needs: [good], if: failure(), run: "true" }
              behindCalm: { needs: [calm], run: "true" }
              soft: { run: exit 1, continue-on-error: true }
              afterSoft: { needs: [soft], if: failure(), run: "true" }
              strict: { needs: { bad: success, good: done }, if: always(), run: "true" }
              wanted: { needs: { bad: failure }, if: always(), run: "true" }
              unwanted: { needs: { good: failure }, if: always(), run: "true" }
              inverse: { needs: { bad: failure }, if: success(), run: "true" }
              victim: { needs: [bad], run: "true" }
              behind: { needs: [victim], if: failure(), run: "true" }
              kind: { needs: [bad], if: "always() && (steps.bad.exit_code ?? 0) == 1", run: "true" }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(
            log.outcomes == [
                "bad": "failure", "good": "success", "mend": "success", "ever": "success", "fine": "success",
                "not": "not-run", "behindNot": "not-run", "calm": "skipped", "behindCalm": "success",
                "soft": "failure", "afterSoft": "skipped", "strict": "not-run", "wanted": "success",
                "unwanted": "skipped", "inverse": "skipped",
                "victim": "not-run", "behind": "success", "kind": "success",
            ])
        #expect(["not", "behindNot", "strict"].map { log.finished($0)?.cause?.rootStep } == ["bad", "bad", "bad"])
        LogInvariants.check(log)
    }

    // G2
    @Test func `a condition that cannot be told is a failure with its place`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: 'echo list=[] >> "$FLOWRUN_OUTPUT"', outputs: { list: list } }
              b:
                needs: [a]
                if: steps.a.outputs.list[3] == 'x'
                run: touch ran
              c: { needs: [b], run: touch ran }
            """)
        let result = try await test.runLogged()
        let log = try result.log()
        if log.outcomes["b"] == "failure" {
            result.expect(exit: 1)
            #expect(log.finished("b")?.cause?.kind == "condition")
            #expect(log.outcomes["c"] == "not-run")
        } else {
            Issue.record("b ended as \(log.outcomes["b"] ?? "nothing")")
        }
        #expect(!test.exists("ran"))
        LogInvariants.check(log)
    }

    @Test func `a tolerated failure satisfies a plain need and not a strict one`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              lint: { run: exit 1, continue-on-error: true }
              plain: { needs: [lint], run: "true" }
              strict: { needs: { lint: success }, run: touch ran }
              done: { needs: { lint: done }, run: "true" }
              repair: { needs: { lint: failure }, run: "true" }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.outcomes["plain"] == "success" && log.outcomes["done"] == "success")
        #expect(log.outcomes["strict"] == "not-run" && log.outcomes["repair"] == "success")
        #expect(log.runFinished?["tolerated"]?.strings == ["lint"])
        LogInvariants.check(log)
    }

    // G3
    @Test func `a condition is asked after all that is needed, about what came of it`() async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            steps:
              late: { run: 'read _ < go; echo v=3 >> "$FLOWRUN_OUTPUT"', outputs: { v: int } }
              early: { run: echo up > early.up }
              yes: { needs: [early, late], if: steps.late.outputs.v == 3, run: "true" }
              "no": { needs: [early, late], if: steps.late.outputs.v == 4, run: touch ran }
            """#)
        let gate = try test.gate("go")
        let running = try await test.start("run", "workflow.yml", "--log", "json", "-j", "4")
        try await running.waitForEvent("step.finished", step: "early")
        gate.open()
        let result = try await running.finish()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.outcomes["yes"] == "success" && log.outcomes["no"] == "skipped")
        #expect(try #require(log.finished("no")).seq > #require(log.finished("late")).seq)
        #expect(!test.exists("ran"))
        LogInvariants.check(log, needs: DependencyTable(["yes": ["early", "late"], "no": ["early", "late"]]))
    }

    // G3, L3
    @Test func `a condition is asked once, however often its step is tried`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a:
                if: hashFiles('made') == hashFiles('absent')
                run: 'if [ -e made ]; then exit 0; fi; echo > made; exit 1'
                retry: { attempts: 3 }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.outcomes == ["a": "success"])
        #expect(log.all("step.started").count == 2)
        LogInvariants.check(log)
    }

    // G4
    @Test func `a condition is not asked while the run is paused, nor before its group runs`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              first: { run: echo > up; read _ < go }
              alone: { needs: [first], if: hashFiles('state') != hashFiles('absent'), run: "true" }
              group:
                needs: [first]
                steps:
                  inside: { if: hashFiles('state') != hashFiles('absent'), run: "true" }
            """)
        let gate = try test.gate("go")
        let running = try await test.start("run", "workflow.yml", "--log", "json", "-j", "4")
        try await running.waitForFile("up")
        try await test.ask("ctl", "pause").expect(exit: 0)
        gate.open()
        try await running.waitForEvent("step.finished", step: "first")
        try test.write("there now", to: "state")
        try await test.ask("ctl", "resume").expect(exit: 0)
        let result = try await running.finish()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.outcomes == ["first": "success", "alone": "success", "group.inside": "success"])
        LogInvariants.check(log, needs: DependencyTable(["alone": ["first"], "group": ["first"]]))
    }

    // G5
    @Test(arguments: [(false, false), (false, true), (true, false), (true, true)])
    func `not, and, or mean what they say, and bind in this order`(left: Bool, right: Bool) async throws {
        let table: [(condition: String, isTrue: Bool)] = [
            ("!params.a", !left), ("params.a && params.b", left && right), ("params.a || params.b", left || right),
            ("!(params.a && params.b)", !(left && right)), ("!params.a || params.b", !left || right),
            ("params.a || params.b && false", left), ("(params.a || params.b) && false", false),
        ]
        let steps = table.enumerated().map { "  s\($0): { if: \"\($1.condition)\", run: ['true'] }" }
        let test = try FlowrunTest(
            """
            version: 1
            params: { a: { type: bool, required: true }, b: { type: bool, required: true } }
            steps:
            \(steps.joined(separator: "\n"))
            """)
        let result = try await test.runLogged("--param", "a=\(left)", "--param", "b=\(right)")
        result.expect(exit: 0)
        let log = try result.log()
        for (index, row) in table.enumerated() {
            #expect(log.outcomes["s\(index)"] == (row.isTrue ? "success" : "skipped"), "\(row.condition)")
        }
        LogInvariants.check(log)
    }

    // G5
    @Test func `there is no empty condition, nor an and or or of nothing`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { if: "", run: touch ran }
              b: { if: "${{ }}", run: touch ran }
              c: { if: "and()", run: touch ran }
              d: { if: "true &&", run: touch ran }
            """)
        let result = try await test.run("check", "workflow.yml")
        result.expect(exit: 2)
        for line in 3...6 { result.expect(stdout: "workflow.yml:\(line):") }
        try await test.run("workflow.yml").expect(exit: 2, stdout: "")
        #expect(!test.exists("ran"))
    }

    @Test func `the members of a skipped group name the condition of the group, not their own`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { go: { type: bool, default: false }, n: { type: int, default: 3 } }
            steps:
              group:
                if: params.go
                steps:
                  own: { if: params.n == 3, run: touch ran }
                  plain: { run: touch ran }
                  foreign: { platforms: [macos], run: touch ran }
              own: { if: params.n == 4, run: touch ran }
            """)
        let log = try await test.runLogged().log()
        for member in ["own", "plain", "foreign"] {
            let cause = try #require(log.finished("group.\(member)")?.cause)
            #expect(cause.message == "`if: params.go` is false")
            #expect(cause.root["group"]?.string == "group" && cause.root["line"]?.int == 5)
        }
        #expect(log.finished("own")?.cause?.message == "`if: params.n == 4` is false")
        #expect(!test.exists("ran"))
    }

    @Test func `a condition that comes to null says so`() async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            steps:
              a: { run: 'echo ''j={"k":null}'' >> "$FLOWRUN_OUTPUT"', outputs: { j: json } }
              b: { needs: [a], if: steps.a.outputs.j.k, run: touch ran }
            """#)
        let log = try await test.runLogged().log()
        #expect(log.finished("b")?.outcome == "failure")
        #expect(log.finished("b")?.cause?.message == "`if` is null, expected true or false")
    }
}
