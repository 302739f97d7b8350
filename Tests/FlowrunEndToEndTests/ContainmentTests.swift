import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// Nothing of a step survives its end, in whatever shape its processes are. `Tests/Scripts/torture_processes.py` is the
/// long form.
struct ContainmentTests {
    private static func workflow(_ shape: ProcessShape, _ mode: String, _ more: String = "") -> String {
        """
        version: 1
        defaults: { grace: 200ms }
        steps:
          tree: { \(more)run: [./tree, \(shape.rawValue), \(mode), up] }

        """
    }

    // F01, F02, F03, F04
    @Test(arguments: ProcessShape.allCases)
    func `nothing is left after a signal`(shape: ProcessShape) async throws {
        let test = try FlowrunTest(Self.workflow(shape, "stay"))
        try test.addTreeGenerator()
        let running = try await test.start("workflow.yml", "--log", "json")
        try await running.waitForFile("up")
        running.signal(SIGTERM)
        let result = try await running.finish()
        #expect(test.treeSurvivors() == [])
        result.expect(.signalled(SIGTERM))
        LogInvariants.check(try result.log())
    }

    // F01, F06
    @Test(arguments: ProcessShape.allCases)
    func `nothing is left after a normal end`(shape: ProcessShape) async throws {
        let after = "  after: { needs: [tree], run: ./tree count > seen }\n"
        let test = try FlowrunTest(Self.workflow(shape, "end") + after)
        try test.addTreeGenerator()
        let result = try await test.runLogged()
        #expect(test.treeSurvivors() == [])
        result.expect(exit: 0)
        #expect(try test.contents(of: "seen") == "0\n")
        let log = try result.log()
        LogInvariants.check(log)
        let leaves: Set<ProcessShape> = [.setsid, .daemon, .holdpipe, .leaderdies, .respawn, .comet, .scrub]
        let escaped = try #require(log.finished("tree")?["escaped"]?.int)
        if shape == .plain || shape == .fork { #expect(escaped == 0) }
        if leaves.subtracting([.comet]).contains(shape) { #expect(escaped > 0) }
        #expect(log.finished("tree")?["containment"]?.string == Cgroup.layer)
    }

    // F11
    @Test(arguments: ProcessShape.allCases)
    func `nothing is left after a KILL of the runner`(shape: ProcessShape) async throws {
        let test = try FlowrunTest(Self.workflow(shape, "stay"))
        try test.addTreeGenerator()
        let running = try await test.start("workflow.yml", "--log", "json")
        try await running.waitForFile("up")
        try test.signal(running.runner, SIGKILL)
        try await running.finish().expect(.signalled(SIGKILL))
        #expect(test.treeSurvivors() == [])
    }

    // F01
    @Test(arguments: [ProcessShape.respawn, .comet, .scrub])
    func `nothing is left after a timeout`(shape: ProcessShape) async throws {
        let test = try FlowrunTest(Self.workflow(shape, "stay", "timeout: 300ms, "))
        try test.addTreeGenerator()
        try await test.run("workflow.yml").expect(exit: 1)
        #expect(test.treeSurvivors() == [])
    }

    @Test func `a flowrun inside a step is taken down with its own steps`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            defaults: { grace: 1ms }
            steps:
              outer: { run: [\(FlowrunBinary.path), inner.yml] }
            """,
            files: [
                "inner.yml": """
                version: 1
                defaults: { grace: 1000s }
                steps: { a: { run: [./tree, respawn, stay, up] } }
                """
            ])
        try test.addTreeGenerator()
        let running = try await test.start("workflow.yml", "--log", "json")
        try await running.waitForFile("up")
        running.signal(SIGTERM)
        try await running.finish().expect(.signalled(SIGTERM))
        #expect(test.treeSurvivors() == [])
        #expect(test.survivors() == [])
    }

    @Test func `a detached step leaves its processes to themselves, and says so`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              server: { detach: true, run: "setsid ./tree setsid stay up > /dev/null 2>&1 &" }
              other: { needs: [server], run: "until test -e up; do :; done; ./tree setsid end up2" }
            """)
        try test.addTreeGenerator()
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.finished("server")?["containment"]?.string == "detached")
        #expect(log.finished("server")?["left_behind"]?.int == 0)
        #expect(log.finished("other")?["escaped"]?.int == 2)
        let left = test.treeSurvivors()
        #expect(left.count == 3)
        for process in left { try test.signal(process, SIGKILL) }
    }

    @Test func `a detached step is stopped as any other while its first process runs`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { server: { detach: true, timeout: 200ms, run: [./tree, fork, stay, up] } }\n")
        try test.addTreeGenerator()
        try await test.run("workflow.yml").expect(exit: 1)
        #expect(test.treeSurvivors() == [])
    }

    /// Traces flowrun and not its steps: those that are detached outlive the trace.
    private static let withoutCgroups = [
        "strace", "-f", "-qq", "-b", "execve", "-o", "/dev/null", "-e", "trace=mkdir", "-e", "inject=mkdir:error=EROFS",
    ]

    private func endCrowd(of test: FlowrunTest) { for pid in test.treeSurvivors() { try? test.signal(pid, SIGKILL) } }

    // F03
    @Test(.enabled(if: FaultTests.hasStrace, "strace is not installed"))
    func `what a step leaves is found behind more than a page of detached processes`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              crowd: { detach: true, run: [./tree, crowd, end, up] }
              a: { needs: [crowd], run: "setsid sleep 9999 > /dev/null 2>&1 &" }
            """)
        try test.addTreeGenerator()
        defer { endCrowd(of: test) }
        let result = try await test.run("workflow.yml", "--log", "json", launcher: Self.withoutCgroups)
        result.expect(exit: 0)
        let end = try result.log().finished("a")
        #expect(end?["containment"]?.string == "guard")
        #expect(end?["left_behind"]?.int == 1)
        #expect(test.treeSurvivors().count == 1200)
        #expect(test.survivors().filter { !$0.contains("./tree") } == [])
    }

    // F11
    @Test(.enabled(if: FaultTests.hasStrace, "strace is not installed"))
    func `after a KILL of the runner the guard finds a step behind more than a page of detached processes`()
        async throws
    {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              crowd: { detach: true, run: [./tree, crowd, end, up] }
              a: { needs: [crowd], run: "setsid sleep 9999 & echo $PPID > runner; read _ < go" }
            """)
        try test.addTreeGenerator()
        let gate = try test.gate("go")
        defer { gate.open() }
        defer { endCrowd(of: test) }
        let running = try await test.start("workflow.yml", "--log", "json", launcher: Self.withoutCgroups)
        try test.signal(Int32(try await running.waitForLines(in: "runner")[0]), SIGKILL)
        try await running.finish().expect(.signalled(SIGKILL))
        #expect(test.survivors().filter { !$0.contains("./tree") } == [])
    }

    @Test func `where no mark can be set, the log says so and sessions are swept`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'sleep 9999 > /dev/null 2>&1 &' } }\n")
        let result = try await test.run(
            "workflow.yml", "--log", "json", launcher: ["bash", "-c", #"ulimit -R 1000000; exec "$0" "$@""#])
        result.expect(exit: 0)
        #expect(test.survivors() == [])
        let layer = Cgroup.own == nil ? "session" : "cgroup"
        #expect(try result.log().finished("a")?["containment"]?.string == layer)
    }
}
