import FlowrunTestSupport
import Testing

/// Produced work.
struct ConformanceP {
    // P1, D9
    @Test func `what a fan-out adds is announced once, joins its group, and the group waits for it`() async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            steps:
              outer:
                steps:
                  list: { run: 'echo ''l=["a","b"]'' >> "$FLOWRUN_OUTPUT"', outputs: { l: list } }
                  each:
                    needs: [list]
                    for-each: ${{ steps.list.outputs.l }}
                    steps: { work: { run: 'echo "$item" >> ups; read _ < go' } }
              after: { needs: [outer], run: "true" }
            """#)
        let gate = try test.gate("go")
        let running = try await test.start("run", "workflow.yml", "--log", "json", "-j", "4")
        try await running.waitForLines(in: "ups", 2)
        gate.open()
        try await running.waitForEvent("step.finished")
        gate.open()
        let result = try await running.finish()
        result.expect(exit: 0)
        let log = try result.log()
        let added = log.all("step.added")
        #expect(added.map(\.step) == ["outer.each[a].work", "outer.each[b].work"])
        #expect(added.allSatisfy { $0["by"]?.string == "outer.each" })
        #expect(log.all("group.finished", group: "outer").count == 1)
        LogInvariants.check(
            log, needs: DependencyTable(["outer.each": ["outer.list"], "after": ["outer"]]),
            steps: ["outer.list", "outer.each[a].work", "outer.each[b].work", "after"])
    }
}
