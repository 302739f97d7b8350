import FlowrunTestSupport
import Foundation
import Testing

/// Runs of one file side by side: none runs a step, or holds a lock, that another one has.
@Suite struct ManyRunsTests {
    /// A step that opens `NAME.up` and waits until the gate `NAME.go` opens.
    private static func gated(_ name: String) -> String { "echo > \(name).up; read _ < \(name).go" }

    private static let flowrun = ["FLOWRUN": FlowrunBinary.path as String?]

    private func start(
        _ test: FlowrunTest, _ words: String..., environment: [String: String?] = [:]
    ) throws -> RunningFlowrun {
        try test.startBeside(words, environment: Self.flowrun.merging(environment) { $1 })
    }

    @Test func `dev and test go on side by side, also where both need build`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              build: { run: '\(Self.gated("build"))' }
              dev: { needs: [build], run: '\(Self.gated("dev"))' }
              test: { needs: [build], run: 'echo > test.up' }
              lint: { run: 'echo linted' }
            """)
        let (build, dev) = (try test.gate("build.go"), try test.gate("dev.go"))
        defer { dev.open() }
        let first = try await test.start("workflow.yml", "dev", "--log", "json")
        try await first.waitForFile("build.up")
        try await test.ask("run", "workflow.yml", "lint").expect(exit: 0, stderr: "")
        let second = try start(test, "workflow.yml", "test")
        let run = try #require(try await first.waitForEvent("run.started")["run"]?.string)
        try await second.waitForText("which has `build`", onStandardError: true)
        #expect(!test.exists("test.up"))
        build.open()
        try await first.waitForFile("dev.up")
        // The second one builds itself.
        build.open()
        let result = try await second.finish()
        result.expect(exit: 0)
        result.expect(stderr: "waiting for the run \(run) (process \(first.pid)), which has `build`")
        dev.open()
        try await first.finish().expect(exit: 0)
    }

    @Test func `a step may run another step of its file, and two may run the same one at once`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: '"$FLOWRUN" workflow.yml help' }
              b: { run: '"$FLOWRUN" workflow.yml help' }
              help: { run: 'mkdir held || exit 9; echo x >> helped; rmdir held' }
            """)
        let result = try await test.run("workflow.yml", "a", "b", "-j", "2", environment: Self.flowrun)
        result.expect(exit: 0)
        #expect(try test.contents(of: "helped") == "x\nx\n")
    }

    @Test func `a step that the run above still has before it begins there once the run inside has ended`() async throws
    {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              p: { run: '"$FLOWRUN" workflow.yml t' }
              s: { run: 'read _ < s.go' }
              t: { run: 'mkdir held || exit 9; echo x >> began; read _ < t.go; rmdir held' }
            """)
        let (s, t) = (try test.gate("s.go"), try test.gate("t.go"))
        let running = try await test.start(
            "workflow.yml", "-j", "2", "--log", "json", environment: Self.flowrun)
        try await running.waitForLines(in: "began")
        s.open()
        try await running.waitForEvent("step.finished", step: "s")
        // Answered after the turn in which `t` would have begun here.
        try await test.ask("ctl", "status").expect(stdout: "  running  p")
        #expect(try test.contents(of: "began") == "x\n")
        t.open(2)
        try await running.waitForLines(in: "began", 2)
        try await running.finish().expect(exit: 0)
    }

    @Test func `what was lent comes back once nothing of a killed run inside is left`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: '"$FLOWRUN" workflow.yml t & echo $! > inside; wait $! || true; read _ < a.go' }
              s: { run: 'read _ < s.go' }
              t: { run: 'mkdir held || exit 9; echo x >> began; read _ < t.go; rmdir held' }
            """)
        let gates = [try test.gate("a.go"), try test.gate("t.go")]
        let s = try test.gate("s.go")
        let running = try await test.start("workflow.yml", "-j", "2", "--log", "json", environment: Self.flowrun)
        try await running.waitForLines(in: "began")
        let pid = try await running.waitForLines(in: "inside")[0]
        // Neither its guard nor its sentinel ends its step before they go on.
        let list = try String(contentsOfFile: "/proc/\(pid)/task/\(pid)/children", encoding: .utf8)
        let below = list.split(separator: " ").compactMap { Int32($0) }
        let guards = try [#require(Int32(pid))] + below.dropFirst()
        for process in guards { kill(process, SIGSTOP) }
        kill(try #require(below.first), SIGKILL)
        s.open()
        try await running.waitForEvent("step.finished", step: "s")
        // Answered after the turn in which `t` would have begun here.
        try await test.ask("ctl", "status").expect(exit: 0)
        #expect(try test.contents(of: "began") == "x\n")
        try FileManager.default.removeItem(atPath: test.path("held"))
        for process in guards { kill(process, SIGCONT) }
        try await running.waitForLines(in: "began", 2)
        for gate in gates { gate.open() }
        try await running.finish().expect(exit: 0)
    }

    @Test(arguments: ["a", "held"])
    func `what a run above is using cannot be had inside, and the way is told`(wanted: String) async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { mutex: m, run: '"$FLOWRUN" workflow.yml \(wanted)' }
              held: { mutex: m, run: 'echo > ran' }
            """)
        let result = try await test.run("workflow.yml", "a", environment: Self.flowrun)
        result.expect(exit: 1)
        result.expect(stdout: wanted == "a" ? "`a`" : "mutex `m` is in use by the run", "→ this run", "exit 75")
        #expect(!test.exists("ran"))
    }

    @Test(arguments: ["mutex: m", "pool: p"])
    func `a lock is in one run at a time`(lock: String) async throws {
        let test = try FlowrunTest(
            """
            version: 1
            pools: { p: 2 }
            steps:
              a: { \(lock), run: '\(Self.gated("a"))' }
              b: { \(lock), run: 'echo > b.up' }
            """)
        let gate = try test.gate("a.go")
        let first = try await test.start("workflow.yml", "a")
        try await first.waitForFile("a.up")
        let second = try start(test, "workflow.yml", "b")
        try await second.waitForText("which has \(lock.prefix { $0 != ":" }) `", onStandardError: true)
        #expect(!test.exists("b.up"))
        gate.open()
        try await second.finish().expect(exit: 0)
        try await first.finish().expect(exit: 0)
    }

    @Test func `a step and a lock whose names differ in the first letter only are two claims`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              west: { run: 'true' }
              h: { mutex: test, run: 'echo > h.up' }
              k: { mutex: test, run: '\(Self.gated("k"))' }
            """)
        let gate = try test.gate("k.go")
        let first = try await test.start("workflow.yml", "k")
        try await first.waitForFile("k.up")
        try await test.ask("run", "--no-wait", "workflow.yml", "west").expect(exit: 0)
        let second = try start(test, "workflow.yml", "west", "h")
        try await second.waitForText("which has mutex `test`", onStandardError: true)
        // Answered in a later turn of the run that holds it.
        try await test.ask("ctl", "status").expect(exit: 0)
        #expect(!test.exists("h.up"))
        gate.open()
        try await second.finish().expect(exit: 0)
        try await first.finish().expect(exit: 0)
    }

    @Test(arguments: ["mutex: m, run: 'true'", "pool: p, run: 'true'", "steps: { x: { mutex: m, run: 'true' } }"])
    func `copies that the run does not know yet keep their locks`(body: String) async throws {
        let test = try FlowrunTest(
            """
            version: 1
            pools: { p: 1 }
            steps:
              list: { outputs: { items: list }, run: '\(Self.gated("list")); echo "items=[1,2]" >> "$FLOWRUN_OUTPUT"' }
              each: { needs: [list], for-each: '${{ steps.list.outputs.items }}', \(body) }
              other: { mutex: m, pool: p, run: 'echo > other.up' }
            """)
        let gate = try test.gate("list.go")
        let first = try await test.start("workflow.yml", "each")
        try await first.waitForFile("list.up")
        let second = try start(test, "workflow.yml", "other")
        try await second.waitForText("waiting for", onStandardError: true)
        try await test.ask("ctl", "status").expect(exit: 0)
        #expect(!test.exists("other.up"))
        gate.open()
        try await second.finish().expect(exit: 0)
        try await first.finish().expect(exit: 0)
    }

    @Test func `a group with a hook keeps its steps until the hook has ended`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                steps:
                  a: { run: 'echo a >> ran' }
                finally: { undo: { run: '\(Self.gated("undo"))' } }
              rest: { needs: [g], run: '\(Self.gated("rest"))' }
            """)
        let (undo, rest) = (try test.gate("undo.go"), try test.gate("rest.go"))
        let first = try await test.start("workflow.yml")
        try await first.waitForFile("undo.up")
        let second = try start(test, "workflow.yml", "g")
        try await second.waitForText("which has `g.", onStandardError: true)
        #expect(try test.contents(of: "ran") == "a\n")
        undo.open(2)
        try await first.waitForFile("rest.up")
        try await second.finish().expect(exit: 0)
        rest.open()
        try await first.finish().expect(exit: 0)
    }

    @Test func `runs that wait go on in the order in which they came`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { n: { type: string } }
            steps: { a: { run: 'echo "$n" >> order; read _ < go' } }
            """)
        let gate = try test.gate("go")
        let first = try await test.start("workflow.yml", "--param", "n=0")
        try await first.waitForLines(in: "order")
        var waiting: [RunningFlowrun] = []
        for number in 1...4 {
            let next = try start(test, "workflow.yml", "--param", "n=\(number)")
            try await next.waitForText("waiting for", onStandardError: true)
            waiting.append(next)
        }
        for (index, run) in ([first] + waiting).enumerated() {
            try await run.waitForLines(in: "order", index + 1)
            gate.open()
            try await run.finish().expect(exit: 0)
        }
        #expect(try test.contents(of: "order") == "0\n1\n2\n3\n4\n")
    }

    @Test func `of two runs whose steps call what the other has one is told, instead of both waiting`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              p: { run: '\(Self.gated("p")); "$FLOWRUN" workflow.yml q' }
              r: { run: '\(Self.gated("r")); "$FLOWRUN" workflow.yml s' }
              q: { run: 'true' }
              s: { run: 'true' }
            """)
        let home = ["HOME": test.path("home") as String?, "XDG_STATE_HOME": nil]
        let (p, r) = (try test.gate("p.go"), try test.gate("r.go"))
        let first = try start(test, "workflow.yml", "p", "s", "-j", "1", environment: home)
        try await first.waitForFile("p.up")
        let second = try start(test, "workflow.yml", "r", "q", "-j", "1", environment: home)
        try await second.waitForFile("r.up")
        p.open()
        r.open()
        let results = [try await first.finish(), try await second.finish()]
        let refused = results.filter { $0.stdout.contains("exit 75") }
        #expect(refused.count == 1)
        refused.first?.expect(exit: 1)
        refused.first?.expect(stdout: "because that waits for this run: this run → ")
        results.first { !$0.stdout.contains("exit 75") }?.expect(exit: 0)
    }

    @Test(arguments: [["workflow.yml", "--state-dir", "elsewhere"], ["link.yml"]])
    func `a run inside does not wait for a run above that cannot see its claims`(words: [String]) async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: 'ln workflow.yml link.yml; "$FLOWRUN" \(words.joined(separator: " ")) b' }
              b: { run: 'echo > ran' }
            """)
        let result = try await test.run("workflow.yml", "a", environment: Self.flowrun)
        result.expect(exit: 1)
        result.expect(stdout: "cannot wait inside of a step: ", "is being run under another name", "exit 75")
        #expect(!test.exists("ran"))
    }

    @Test func `what a killed run has is free once everything that it left is gone`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: 'mkdir held || exit 9; echo x >> ups; read _ < go; rmdir held' } }\n")
        let gate = try test.gate("go")
        let first = try await test.start("workflow.yml")
        try await first.waitForLines(in: "ups")
        let second = try start(test, "workflow.yml")
        try await second.waitForText("waiting for", onStandardError: true)
        try FileManager.default.removeItem(atPath: test.path("held"))
        try first.killAll()
        try await first.finish().expect(.signalled(SIGKILL))
        // Not before: a step of the killed run would take the line.
        try await second.waitForLines(in: "ups", 2)
        gate.open()
        try await second.finish().expect(exit: 0)
    }

    @Test func `a run that waits ends by a signal, has started nothing, and is no run to resume`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: '\(Self.gated("a"))' } }\n")
        let gate = try test.gate("a.go")
        let first = try await test.start("workflow.yml", "--log", "json")
        let run = try #require(try await first.waitForEvent("run.started")["run"]?.string)
        try await first.waitForFile("a.up")
        let second = try start(test, "workflow.yml")
        try await second.waitForText("waiting for", onStandardError: true)
        second.signal(SIGINT)
        try await second.finish().expect(.signalled(SIGINT))
        gate.open()
        try await first.finish().expect(exit: 0)
        let runs = try await test.ask("runs", "--format", "json")
        #expect(runs.stdout.contains(run) && runs.stdout.split(separator: "\n").count { $0.contains("\"run\"") } == 1)
    }

    @Test func `a run that is killed while it waits starts nothing any more`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: '\(Self.gated("a"))' }, b: { run: ': > b.ran' } }\n")
        let gate = try test.gate("a.go")
        let first = try await test.start("workflow.yml", "a")
        try await first.waitForFile("a.up")
        for words in [["workflow.yml"], ["workflow.yml", "b", "--state-dir", "other"]] {
            let second = try test.startBeside(words, environment: Self.flowrun)
            try await second.waitForText("waiting", onStandardError: true)
            second.signal(SIGKILL)
            try await second.finish().expect(.signalled(SIGKILL))
        }
        gate.open()
        try await first.finish().expect(exit: 0)
        try await test.run("workflow.yml", "a", "-n").expect(exit: 0)
        #expect(!test.exists("b.ran") && test.survivors() == [])
    }

    @Test func `ctl without a run means the only live one, else it lists them`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: '\(Self.gated("a"))' }, b: { run: '\(Self.gated("b"))' } }\n")
        let gates = [try test.gate("a.go"), try test.gate("b.go")]
        let first = try await test.start("workflow.yml", "a", "--log", "json")
        let second = try start(test, "workflow.yml", "b", "--log", "json")
        let runs = [
            try #require(try await first.waitForEvent("run.started")["run"]?.string),
            try #require(try await second.waitForEvent("run.started")["run"]?.string),
        ]
        let status = try await test.ask("ctl", "status")
        status.expect(exit: 64)
        for run in runs { status.expect(stderr: run) }
        try await test.ask("ctl", runs[1], "status").expect(stdout: "  running  b")
        gates[0].open()
        try await first.finish().expect(exit: 0)
        try await test.ask("ctl", "status").expect(stdout: "  running  b")
        gates[1].open()
        try await second.finish().expect(exit: 0)
    }
}
