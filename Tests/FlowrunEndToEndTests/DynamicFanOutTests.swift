import FlowrunTestSupport
import Testing

/// `for-each` over a list that only the run knows.
struct DynamicFanOutTests {
    // D9
    @Test func `each item runs through its own chain, and what they do comes back in order`() async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            steps:
              list: { run: 'echo ''targets=["x86_64","arm64","two words"]'' >> "$FLOWRUN_OUTPUT"', outputs: { targets: list } }
              build:
                needs: [list]
                for-each: ${{ steps.list.outputs.targets }}
                as: target
                max-parallel: 1
                steps:
                  compile: { run: 'echo "name=$target" >> "$FLOWRUN_OUTPUT"', outputs: { name: string } }
                  smoke: { needs: [compile], run: [echo, "smoke ${{ target }}"] }
              show: { needs: [build], run: [echo, "${{ join(steps.build.items.*.compile.outputs.name ?? '', ',') }}"] }
            """#)
        let result = try await test.runLogged("-j", "4")
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.output(of: "show") == "x86_64,arm64,two words\n")
        #expect(log.output(of: "build[arm64].smoke") == "smoke arm64\n")
        #expect(log.output(of: "build[2].smoke") == "smoke two words\n")
        #expect(log.finished("build[2].smoke")?["item"]?.string == "two words")
        #expect(log.all("step.added").count == 6)
        #expect(log.first("step.added")?["by"]?.string == "build")
        LogInvariants.check(
            log,
            needs: DependencyTable([
                "build": ["list"], "show": ["build"], "build[x86_64].smoke": ["build[x86_64].compile"],
            ]))
    }

    // D2
    @Test func `an empty list is a success with an empty result`() async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            steps:
              list: { run: 'echo "l=[]" >> "$FLOWRUN_OUTPUT"', outputs: { l: list } }
              each: { needs: [list], for-each: "${{ steps.list.outputs.l }}", run: touch ran }
              after: { needs: { each: success }, run: [echo, "${{ len(steps.each.items) }}"] }
            """#)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        #expect(try result.log().output(of: "after") == "0\n")
        #expect(!test.exists("ran"))
    }

    @Test(arguments: [(#"["a","a"]"#, "unique"), (#"["a","b","c"]"#, "max-items"), (#"[["a"]]"#, "list")])
    func `items that cannot be instances fail the fan-out`(list: String, word: String) async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            steps:
              list: { run: 'echo ''l=\#(list)'' >> "$FLOWRUN_OUTPUT"', outputs: { l: list } }
              each: { needs: [list], for-each: "${{ steps.list.outputs.l }}", max-items: 2, run: touch ran }
              after: { needs: [each], run: touch ran }
            """#)
        let result = try await test.runLogged()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.outcomes["after"] == "not-run")
        let cause = try #require(log.first("group.finished", group: "each")?.cause)
        #expect(cause.message?.contains(word) == true, "\(cause)")
        #expect(log.errors == ["each"])
        #expect(!test.exists("ran"))
    }

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

    @Test func `a fan-out that does not run counts as one step, by its own id`() async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            steps:
              list: { run: 'echo ''l=["a","b"]'' >> "$FLOWRUN_OUTPUT"', outputs: { l: list } }
              bad: { needs: [list], run: exit 1 }
              off: { needs: [list], if: "steps.list.outputs.l[0] == 'b'", for-each: "${{ steps.list.outputs.l }}", run: touch ran }
              ruled-out: { needs: [bad], for-each: "${{ steps.list.outputs.l }}", run: touch ran }
              group:
                needs: [bad]
                steps: { each: { for-each: "${{ steps.list.outputs.l }}", steps: { work: { run: touch ran } } } }
              empty: { needs: [list], for-each: "${{ fromJSON('[]') }}", run: touch ran }
            """#)
        let result = try await test.runLogged()
        let last = try #require(try result.log().runFinished)
        #expect(last["not_run"]?.strings == ["ruled-out", "group.each"])
        #expect(
            last["counts"]?.object?.compactMapValues(\.int).filter { $0.value > 0 }
                == ["success": 1, "failure": 1, "skipped": 1, "not-run": 2])
        let text = try await test.run("workflow.yml")
        text.expect(
            stdout: "skipped: off because `if: steps.list.outputs.l[0] == 'b'` is false",
            "not run: ruled-out, group.each because bad failed", "1 success, 1 failure, 1 skipped, 2 not-run")
        #expect(!test.exists("ran"))
    }

    @Test func `a fan-out that did not run in one round and ran in the next counts its copies`() async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            steps:
              outer:
                retry: { attempts: 2 }
                steps:
                  list: { run: 'echo ''l=["a","b"]'' >> "$FLOWRUN_OUTPUT"', outputs: { l: list } }
                  once: { needs: [list], run: "test -e again || { touch again; exit 1; }" }
                  each: { needs: [once], for-each: "${{ steps.list.outputs.l }}", run: "true" }
            """#)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let last = try #require(try result.log().runFinished)
        #expect(last["counts"]?["success"]?.int == 4 && last["counts"]?["not-run"]?.int == 0)
        #expect(last["not_run"]?.strings == [])
    }
}
