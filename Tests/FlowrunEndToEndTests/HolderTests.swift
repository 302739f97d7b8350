import FlowrunTestSupport
import Testing

/// Groups that name a mutex, where waiting for something that wants it, while they hold it, would stop the run for
/// ever.
struct HolderTests {
    /// `two` may start as soon as `prepare` is over, long before `one`, which its member needs and which wants the mutex
    /// of `two`. `release` sees to it that `prepare` is over before `one` can run.
    private func file(_ prepare: String, top: String = "") -> String {
        """
        version: 1
        \(top)
        steps:
          prepare: \(prepare)
          release: { needs: { prepare: done }, run: touch go }
          first: { run: 'until [ -e go ]; do sleep 0.02; done' }
          one: { run: "true", mutex: o, needs: [first] }
          two: { needs: { prepare: done }, mutex: o, steps: { waits: { run: "true", needs: [one] } } }
        """
    }

    private let sound = ["release": "success", "first": "success", "one": "success", "two.waits": "success"]

    /// Runs it to the end and looks at what became of `prepare`.
    private func expect(
        _ outcomes: [String: String], exit: Int32, _ test: FlowrunTest,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let check = try await test.run("check", "workflow.yml")
        check.expect(exit: 0, sourceLocation: sourceLocation)
        let result = try await test.runLogged("-j", "8")
        try expect(outcomes, exit: exit, result, sourceLocation: sourceLocation)
    }

    private func expect(
        _ outcomes: [String: String], exit: Int32, _ result: FlowrunResult, sourceLocation: SourceLocation
    ) throws {
        result.expect(exit: exit, sourceLocation: sourceLocation)
        let log = try result.log()
        #expect(log.outcomes == outcomes.merging(sound) { $1 }, sourceLocation: sourceLocation)
        LogInvariants.check(log, sourceLocation: sourceLocation)
    }

    @Test func `a false condition before the holder`() async throws {
        let test = try FlowrunTest(
            file(
                "{ if: params.extra, steps: { late: { run: 'true', needs: [one] } } }",
                top: "params: { extra: { type: bool, default: false } }"))
        try await expect(["prepare.late": "skipped"], exit: 0, test)
    }

    @Test func `an empty list before the holder`() async throws {
        let test = try FlowrunTest(
            file("{ for-each: \"${{ fromJSON('[]') }}\", steps: { late: { run: 'true', needs: [one] } } }"))
        try await expect([:], exit: 0, test)
    }

    @Test func `a failure before an inner group`() async throws {
        let inner = "inner: { needs: [fails], steps: { late: { run: 'true', needs: [one] } } }"
        let test = try FlowrunTest(file("{ steps: { fails: { run: 'false' }, \(inner) } }"))
        try await expect(["prepare.fails": "failure", "prepare.inner.late": "not-run"], exit: 1, test)
    }

    @Test func `a group that fails fast before the holder`() async throws {
        let members = "fails: { run: 'false' }, late: { run: 'true', needs: [one] }"
        let test = try FlowrunTest(file("{ fail-fast: true, steps: { \(members) } }"))
        try await expect(["prepare.fails": "failure", "prepare.late": "cancelled"], exit: 1, test)
    }

    @Test func `a group that times out before the holder`() async throws {
        let members = "slow: { run: sleep 60 }, late: { run: 'true', needs: [one] }"
        let test = try FlowrunTest(file("{ timeout: 200ms, steps: { \(members) } }"))
        try await expect(["prepare.slow": "cancelled", "prepare.late": "cancelled"], exit: 1, test)
    }

    @Test func `a waiting step that is cancelled by name before the holder`() async throws {
        let test = try FlowrunTest(file("{ steps: { late: { run: 'true', needs: [one] } } }"))
        let running = try await test.start("run", "workflow.yml", "--log", "json", "-j", "8")
        try await running.waitForEvent("step.started", step: "first")
        try await test.ask("ctl", "cancel", "prepare.late").expect(exit: 0)
        try expect(
            ["prepare.late": "cancelled"], exit: 1, try await running.finish(), sourceLocation: #_sourceLocation)
    }

    @Test func `instances that are known late are taken and awaited for beforehand`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              list: { run: 'echo "items=[1, 2]" >> "$FLOWRUN_OUTPUT"', outputs: { items: list } }
              slow: { run: 'sleep 0.2', mutex: n }
              holder:
                needs: [list]
                mutex: m
                steps:
                  each:
                    for-each: ${{ steps.list.outputs.items }}
                    steps: { x: { run: "true", mutex: n, needs: [slow] } }
            """)
        let result = try await test.runLogged("-j", "8", "--verbose")
        result.expect(exit: 0)
        let log = try result.log()
        let taken = log.all("lock.acquired").filter { $0.group == "holder" }.compactMap { $0["name"]?.string }
        #expect(taken.sorted() == ["m", "n"])
        #expect(
            try #require(log.first("group.started", group: "holder")).seq > #require(log.finished("slow")).seq)
        LogInvariants.check(log)
    }
}
