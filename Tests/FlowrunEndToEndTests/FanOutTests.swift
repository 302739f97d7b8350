import FlowrunTestSupport
import Testing

/// Copies of steps and groups, and the variables that tell them apart.
struct FanOutTests {
    @Test func `axes are variables of the environment, with their text as written`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              test:
                matrix:
                  os: [linux, mac]
                  ver: [3.9, 3.10]
                  exclude:
                    - { os: mac, ver: 3.9 }
                  include:
                    - { os: mac, ver: 3.10, extra: "yes" }
                run: echo "$os/$ver/${extra-none}"
            """)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(Set(log.outcomes.keys) == ["test[linux,3.9]", "test[linux,3.10]", "test[mac,3.10]"])
        #expect(log.output(of: "test[linux,3.9]") == "linux/3.9/none\n")
        #expect(log.output(of: "test[linux,3.10]") == "linux/3.10/none\n")
        #expect(log.output(of: "test[mac,3.10]") == "mac/3.10/yes\n")
        LogInvariants.check(log)
    }

    @Test func `a loop variable is never code, and what is no plain word is shown by its index`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              each:
                for-each: [plain, "two words", "$(touch pwned)"]
                as: thing
                steps:
                  show: { run: printf '%s' "$thing" }
                  after: { needs: [show], run: "true" }
              joined: { needs: [each], run: "true" }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.output(of: "each[plain].show") == "plain")
        #expect(log.output(of: "each[1].show") == "two words")
        #expect(log.output(of: "each[2].show") == "$(touch pwned)")
        #expect(!test.exists("pwned"))
        #expect(log.startOrder.last == "joined")
        LogInvariants.check(
            log,
            needs: DependencyTable([
                "joined": ["each"], "each[plain].after": ["each[plain].show"], "each[1].after": ["each[1].show"],
            ]))
    }

    @Test func `the loop variable is called item unless the file says otherwise`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              each: { for-each: [a, b], run: echo "$item" }
            """)
        let log = try await test.runLogged().log()
        #expect(log.output(of: "each[a]") == "a\n")
        #expect(log.output(of: "each[b]") == "b\n")
    }

    @Test func `fail-fast of a fan-out ends its other instances`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              each:
                for-each: [bad, good]
                fail-fast: true
                run: echo up > "$item.up"; read _ < "$item.go"; test "$item" = good
              beside: { needs: { each: done }, run: "true" }
            """)
        let gates = (bad: try test.gate("bad.go"), good: try test.gate("good.go"))
        let running = try await test.start("run", "workflow.yml", "--log", "json", "-j", "2")
        try await running.waitForFile("bad.up")
        try await running.waitForFile("good.up")
        gates.bad.open()
        let result = try await running.finish()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.outcomes == ["each[bad]": "failure", "each[good]": "cancelled", "beside": "success"])
        #expect(log.finished("each[good]")?.cause?.kind == "fail-fast")
        #expect(log.finished("each[good]")?.cause?.rootStep == "each[bad]")
        LogInvariants.check(log)
    }

    @Test func `an item that is no plain word stands in the events of its instance`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              each:
                for-each: [a b, c]
                steps: { show: { run: 'echo "$item"' } }
              plain: { run: "true" }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.finished("each[0].show")?["item"]?.string == "a b")
        #expect(log.finished("each[c].show")?["item"]?.string == "c")
        #expect(log.finished("plain")?["item"]?.string == nil)
    }

    @Test func `a matrix of include alone has its values as the item`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              each:
                matrix: { include: [{ os: linux, arch: arm64 }, { os: mac, arch: x86_64, note: a b }] }
                run: echo "$os"
            """)
        let log = try await test.runLogged().log()
        #expect(
            log.all("step.finished").compactMap { $0["item"]?.string }.sorted() == ["linux,arm64", "mac,x86_64,a b"])
    }
}
