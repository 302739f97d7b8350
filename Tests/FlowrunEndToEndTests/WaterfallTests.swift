import FlowrunTestSupport
import Glibc
import Testing

/// Groups in sequence that hand results on.
struct WaterfallTests {
    // M2
    @Test func `the first member gets what the run was given, or nothing`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { given: { type: string, default: start } }
            steps:
              chain:
                order: sequence
                steps:
                  one: { run: 'printf "<%s>" "$given"' }
                  two: { stdin: "${{ previous.stdout }}", run: 'cat; printf 2' }
              without:
                order: sequence
                steps: { one: { run: cat }, two: { stdin: "${{ previous.stdout }}", run: cat } }
              empty: { needs: [chain], order: sequence, steps: {} }
              after: { needs: { empty: success }, run: ["true"] }
            """)
        let result = try await test.runLogged("--param", "given=10")
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.output(of: "chain.two") == "<10>2")
        #expect(log.output(of: "without.two") == "")
        #expect(log.first("group.finished", group: "empty")?.outcome == "success")
        LogInvariants.check(
            log,
            needs: DependencyTable([
                "chain.two": ["chain.one"], "without.two": ["without.one"], "empty": ["chain"], "after": ["empty"],
            ]))
    }

    // M5
    @Test func `a cancel in the middle ends the member that runs, the rest never starts, and the end comes`()
        async throws
    {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              chain:
                order: sequence
                steps:
                  one: { run: "true" }
                  two: { run: echo > up; sleep 9999 }
                  three: { run: touch ran }
            """)
        let running = try await test.start("run", "workflow.yml", "--log", "json")
        try await running.waitForFile("up")
        running.signal(SIGINT)
        let result = try await running.finish()
        result.expect(.signalled(SIGINT))
        let log = try result.log()
        #expect(log.outcomes == ["chain.one": "success", "chain.two": "cancelled", "chain.three": "cancelled"])
        #expect(log.all("group.finished", group: "chain").map(\.outcome) == ["cancelled"])
        #expect(!test.exists("ran"))
        #expect(test.survivors() == [])
        LogInvariants.check(log)
    }

    // M5
    @Test func `a member cancelled by name rules out the rest`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              chain:
                order: sequence
                steps:
                  one: { run: "true" }
                  two: { run: echo > up; sleep 9999 }
                  three: { run: touch ran }
              after: { needs: { chain: done }, run: "true" }
            """)
        let running = try await test.start("run", "workflow.yml", "--log", "json")
        try await running.waitForFile("up")
        try await test.ask("ctl", "cancel", "chain.two").expect(exit: 0)
        let result = try await running.finish()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(
            log.outcomes == [
                "chain.one": "success", "chain.two": "cancelled", "chain.three": "not-run", "after": "success",
            ])
        #expect(log.all("group.finished", group: "chain").map(\.outcome) == ["cancelled"])
        #expect(log.finished("chain.three")?.cause?.rootStep == "chain.two")
        #expect(!test.exists("ran"))
        LogInvariants.check(log, needs: ["after": ["chain": .done], "chain.two": ["chain.one": .ok]])
    }

    // M6
    @Test(arguments: ["int", "bool", "list"])
    func `a last result of another type is a failure`(type: String) async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              chain:
                order: sequence
                steps:
                  one: { run: "true" }
                  two: { run: 'echo v=text >> "$FLOWRUN_OUTPUT"', outputs: { v: \(type) } }
                outputs: { v: "${{ steps.two.outputs.v }}" }
              after: { needs: [chain], run: touch ran }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.outcomes == ["chain.one": "success", "chain.two": "failure", "after": "not-run"])
        #expect(log.finished("chain.two")?.cause?.kind == "output")
        #expect(log.errors == ["chain.two"])
        #expect(!test.exists("ran"))
        LogInvariants.check(log)
    }

    // M8
    @Test func `a waterfall is a member of another`() async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            steps:
              outer:
                order: sequence
                steps:
                  first: { run: 'echo n=1 >> "$FLOWRUN_OUTPUT"', outputs: { n: int } }
                  inner:
                    order: sequence
                    steps:
                      one: { run: "true" }
                      two: { run: 'printf two; echo n=2 >> "$FLOWRUN_OUTPUT"', outputs: { n: int } }
                    outputs: { n: "${{ steps.two.outputs.n }}" }
                  last: { run: [echo, "${{ previous.outputs.n }}"] }
            """#)
        let result = try await test.runLogged("-j", "8")
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.startOrder == ["outer.first", "outer.inner.one", "outer.inner.two", "outer.last"])
        #expect(log.output(of: "outer.last") == "2\n")
        #expect(log.maximumRunning() == 1)
        LogInvariants.check(
            log,
            needs: DependencyTable([
                "outer.inner": ["outer.first"], "outer.inner.two": ["outer.inner.one"], "outer.last": ["outer.inner"],
            ]))
    }
}
