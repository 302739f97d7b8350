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

    @Test func `status functions take the place of the edges`() async throws {
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
              calm: { needs: [good], if: failure(), run: "true" }
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
                "not": "skipped", "calm": "skipped", "victim": "not-run", "behind": "success", "kind": "success",
            ])
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
}
