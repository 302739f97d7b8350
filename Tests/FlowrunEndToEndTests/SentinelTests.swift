import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// A third process ends what guard and runner leave when they are killed together; the next start ends what all three
/// leave.
struct SentinelTests {
    /// A tree of processes, made once there is a sentinel.
    private static let awaitsSentinel = """
        read -r _ _ _ guard _ < /proc/$PPID/stat
        until grep -qsx sentinel $(sed 's|[0-9][0-9]*|/proc/&/comm|g' /proc/$guard/task/$guard/children); do :; done

        """

    private static func workflow(_ shape: ProcessShape, _ more: String = "") -> String {
        let script = awaitsSentinel + "\(more)exec ./tree \(shape.rawValue) stay up"
        let lines = script.split(separator: "\n").map { "      \($0)" }.joined(separator: "\n")
        return "version: 1\nsteps:\n  tree:\n    run: |\n      test ! -e up || exec ./tree count > seen\n\(lines)\n"
    }

    /// Makes flowrun do without cgroup v2, if there is any.
    private static let hiding = ["unshare", "-m", "sh", "-c", #"mount -t tmpfs none /sys/fs/cgroup && exec "$0" "$@""#]
    private static let layers: [[String]] = geteuid() == 0 && Cgroup.own != nil ? [[], hiding] : [[]]

    private func start(
        _ shape: ProcessShape, _ more: String = "", launcher: [String] = []
    ) async throws -> (FlowrunTest, RunningFlowrun) {
        let test = try FlowrunTest(Self.workflow(shape, more))
        try test.addTreeGenerator()
        let running = try await test.start("workflow.yml", launcher: launcher)
        try await running.waitForFile("up")
        return (test, running)
    }

    // F11
    @Test(arguments: [ProcessShape.fork, .setsid, .deaf, .respawn, .scrub, .cloneparent, .threadleader], layers)
    func `nothing is left after a KILL of guard and runner together`(
        shape: ProcessShape, launcher: [String]
    ) async throws {
        let (test, running) = try await start(shape, launcher: launcher)
        let end = try #require(try running.killAll(sparingSentinel: true))
        try await running.finish().expect(.signalled(SIGKILL))
        await end.waitUntilReadable()
        #expect(test.treeSurvivors() == [])
    }

    @Test(arguments: layers)
    func `of a flowrun inside a step nothing is left either`(launcher: [String]) async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { outer: { run: [\(FlowrunBinary.path), inner.yml] } }\n",
            files: ["inner.yml": Self.workflow(.respawn)])
        try test.addTreeGenerator()
        let running = try await test.start("workflow.yml", launcher: launcher)
        try await running.waitForFile("up")
        let ends = test.treeSurvivors().compactMap { try? Descriptor.ofProcess($0) }
        #expect(!ends.isEmpty)
        try running.killAll(sparingSentinel: true)
        try await running.finish().expect(.signalled(SIGKILL))
        for end in ends { await end.waitUntilReadable() }
    }

    @Test func `a KILL of the process group, and of every process named flowrun, does not reach the sentinel`()
        async throws
    {
        let test = try FlowrunTest(Self.workflow(.setsid))
        try test.addTreeGenerator()
        let running = try await test.start("workflow.yml", launcher: ["sh", "-c", #"exec setsid "$0" "$@""#])
        try await running.waitForFile("up")
        let sentinel = try #require(running.sentinel)
        #expect(getsid(sentinel) == sentinel && getpgid(sentinel) == sentinel)
        let words = try #require(FileManager.default.contents(atPath: "/proc/\(sentinel)/cmdline"))
        #expect(words.split(separator: 0).map { String(decoding: $0, as: UTF8.self) } == ["sentinel"])
        let end = try Descriptor.ofProcess(sentinel)
        running.signalGroup(SIGKILL)
        try await running.finish().expect(.signalled(SIGKILL))
        await end.waitUntilReadable()
        #expect(test.treeSurvivors() == [])
    }

    @Test func `a sentinel that is killed is replaced, and goes with the run`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: "echo $PPID > up; read _ < go" }
              b:
                needs: [a]
                run: |
            \(Self.awaitsSentinel.split(separator: "\n").map { "      \($0)" }.joined(separator: "\n"))
                  echo again > again
                  read _ < go
            """)
        let gate = try test.gate("go")
        defer { gate.open() }
        let running = try await test.start("workflow.yml")
        try await running.waitForLines(in: "up")
        var sentinel = running.sentinel
        while sentinel == nil { sentinel = running.sentinel }
        let first = try Descriptor.ofProcess(try #require(sentinel))
        kill(try #require(sentinel), SIGKILL)
        await first.waitUntilReadable()
        gate.open()
        try await running.waitForFile("again")
        let second = try Descriptor.ofProcess(try #require(running.sentinel))
        gate.open()
        try await running.finish().expect(exit: 0)
        await second.waitUntilReadable()
    }

    @Test(.enabled(if: FaultTests.hasStrace && Cgroup.own != nil, "needs strace, and a cgroup v2 that can be divided"))
    func `the first process of a step that starts before the sentinel stands ends with the runner`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'echo $$ $PPID > up; exec sleep 9999' } }\n")
        // The guard's second child is the sentinel; steps are made by clone3.
        let running = try await test.start(
            "workflow.yml",
            launcher: ["strace", "-f", "-o", "trace", "-e", "trace=clone", "-e", "inject=clone:error=EAGAIN:when=2+"])
        let numbers = try await running.waitForLines(in: "up")[0].split(separator: " ").map { Int32($0) }
        let leader = try #require(numbers[0])
        let runner = try #require(numbers[1])
        let end = try Descriptor.ofProcess(leader)
        let line = try String(contentsOfFile: "/proc/\(runner)/stat", encoding: .utf8)
        let guardian = try #require(Int32(line.split(separator: " ")[3]))
        // Keeps either of the two from ending it.
        try test.signal(guardian, SIGSTOP)
        try test.signal(runner, SIGKILL)
        await end.waitUntilReadable()
        try test.signal(guardian, SIGKILL)
        _ = try await running.finish()
        #expect(test.survivors() == [])
    }

    // F11, F49
    @Test(arguments: [[], ["--no-journal"]], layers)
    func `a start ends what a killed run of its file has left before its first step`(
        options: [String], launcher: [String]
    ) async throws {
        let test = try FlowrunTest(Self.workflow(.setsid))
        try test.addTreeGenerator()
        let killed = try await test.start(["workflow.yml"] + options, launcher: launcher)
        try await killed.waitForFile("up")
        try killed.killAll()
        _ = try await killed.finish()
        // The first process may have ended with the runner.
        #expect(test.treeSurvivors().count >= 2)
        let next = try await test.start(["workflow.yml"] + options, launcher: launcher).finish()
        next.expect(exit: 0)
        #expect(try test.contents(of: "seen") == "0\n")
        #expect(next.stderr.contains(/ended [23] processes that the run `.*` left when it was killed/))
    }

    @Test func `a start leaves alone what a killed run has detached, and what another file's run has`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              server: { detach: true, run: "test -e up && exit; setsid ./tree plain stay detached > /dev/null 2>&1 &" }
              tree: { needs: [server], run: "test ! -e up || exit 0; exec ./tree setsid stay up" }
            """,
            files: ["other.yml": "version: 1\nsteps: { a: { run: 'exec ./tree plain stay other' } }\n"])
        try test.addTreeGenerator()
        let other = try test.startBeside(["other.yml"])
        try await other.waitForFile("other")
        let killed = try await test.start("workflow.yml")
        for name in ["detached", "up"] { try await killed.waitForFile(name) }
        try killed.killAll()
        _ = try await killed.finish()
        #expect(test.treeSurvivors().count >= 4)
        try await test.run("workflow.yml").expect(exit: 0)
        let left = test.treeSurvivors()
        #expect(left.count == 2)
        other.signal(SIGTERM)
        _ = try await other.finish()
        for process in test.treeSurvivors() { try test.signal(process, SIGKILL) }
    }

    @Test(.enabled(if: FaultTests.hasStrace, "strace is not installed"))
    func `a start looks for leftovers only where the last run has not come to its end`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: [cp, .flowrun/workflow.yml.lock, saved] } }\n")
        /// For processes of the last run.
        func looks() async throws -> Int {
            let strace = ["strace", "-f", "-o", "trace", "-e", "trace=openat"]
            try await test.run("workflow.yml", launcher: strace).expect(exit: 0)
            return try test.contents(of: "trace").split(separator: "\n").count { $0.contains("/environ\"") }
        }
        #expect(try await looks() == 0)
        #expect(try await looks() == 0)
        let duringRun = try test.contents(of: "saved")
        #expect(!duringRun.contains(" ended"))
        #expect(try test.contents(of: ".flowrun/workflow.yml.lock").contains(" ended"))
        try test.write(duringRun, to: ".flowrun/workflow.yml.lock")
        #expect(try await looks() > 0)
        #expect(try await looks() == 0)
    }

    enum Killed: CaseIterable {
        case runner, guardian, guardAndRunner, all
    }

    @Test(arguments: Killed.allCases)
    func `no temporary files are left after a KILL, and no link in them is followed`(killed: Killed) async throws {
        let script = """
            mkdir -p "$FLOWRUN_TEMP/deep/er"; echo secret > "$FLOWRUN_TEMP/deep/er/file"
            ln -s "$PWD/kept" "$FLOWRUN_TEMP/link"; ln -s "$PWD/kept" "$FLOWRUN_TEMP/deep/link"
            chmod 500 "$FLOWRUN_TEMP/deep/er"

            """
        let test = try FlowrunTest(
            Self.workflow(.plain, script), files: ["tmp/.keep": "", "kept/file": "kept"])
        try test.addTreeGenerator()
        let environment = ["TMPDIR": test.path("tmp")]
        let running = try await test.start("workflow.yml", environment: environment)
        try await running.waitForFile("up")
        let folder = { try FileManager.default.contentsOfDirectory(atPath: test.path("tmp")) }
        #expect(try folder().count == 2)
        switch killed {
        case .runner: try test.signal(running.runner, SIGKILL)
        case .guardian:
            let end = try Descriptor.ofProcess(try #require(running.runner))
            running.signal(SIGKILL)
            await end.waitUntilReadable()
        case .guardAndRunner:
            let end = try #require(try running.killAll(sparingSentinel: true))
            await end.waitUntilReadable()
        case .all: try running.killAll()
        }
        _ = try await running.finish()
        if killed == .all {
            #expect(try folder().count == 2)
            try await test.run("workflow.yml", environment: environment).expect(exit: 0)
        }
        #expect(try folder() == [".keep"])
        #expect(try test.contents(of: "kept/file") == "kept")
    }

    @Test func `a tracer that never lets go of a step's first process makes no process spin`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps: { a: { run: [./tree, traced, end, up] } }
            finally: { cost: { run: "cat /proc/$PPID/stat > stat" } }
            """)
        try test.addTreeGenerator()
        try await test.run("workflow.yml").expect(exit: 0)
        let fields = try test.contents(of: "stat").split(separator: ")").last?.split(separator: " ") ?? []
        let ticks = try #require(Int(fields[11])) + (try #require(Int(fields[12])))
        // It had two seconds.
        #expect(ticks < sysconf(Int32(_SC_CLK_TCK)) / 2)
    }
}
