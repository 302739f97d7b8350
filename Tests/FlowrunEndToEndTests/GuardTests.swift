import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// The process that was started outlives the one that does the work, and ends what that one leaves.
struct GuardTests {
    /// A step with a process outside its session; `up` has the number of the runner.
    private static let held = """
        version: 1
        steps:
          a: { run: "setsid sleep 9999 & echo $PPID > up; read _ < go" }
        """

    private func start(_ test: FlowrunTest) async throws -> (RunningFlowrun, runner: Int32) {
        // Without the traceback that a Swift program may be told to draw when it crashes.
        let running = try await test.start(
            ["workflow.yml", "--log", "json"], environment: ["SWIFT_BACKTRACE": "enable=no"])
        let line = try await running.waitForLines(in: "up")[0]
        return (running, try #require(Int32(line)))
    }

    private func startStopped(_ test: FlowrunTest) async throws -> (RunningFlowrun, runner: Int32) {
        let (running, runner) = try await start(test)
        try test.signal(runner, SIGSTOP)
        try await running.waitUntilStopped()
        return (running, runner)
    }

    // F11
    @Test(arguments: [SIGKILL, SIGSEGV, SIGABRT, SIGTRAP])
    func `a runner that dies takes everything with it, and flowrun ends as it did`(signal: Int32) async throws {
        let test = try FlowrunTest(Self.held)
        let gate = try test.gate("go")
        defer { gate.open() }
        let (running, runner) = try await start(test)
        #expect(runner != running.pid)
        try test.signal(runner, signal)
        let result = try await running.finish()
        #expect(test.survivors() == [])
        result.expect(.signalled(signal))
    }

    // F11
    @Test func `when the guard is killed, the runner ends everything and itself`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            defaults: { grace: 1000s }
            steps:
              deaf:
                run: |
                  trap '' TERM
                  read -r _ _ _ guard _ < /proc/$PPID/stat
                  echo $guard > up
                  read _ < go
            finally:
              hook: { run: touch ran }
            """)
        let gate = try test.gate("go")
        defer { gate.open() }
        // Ends once the runner, too, has closed its standard output.
        let running = try await test.start(
            "workflow.yml", "--log", "json", launcher: ["sh", "-c", #""$0" "$@" | cat"#])
        let line = try await running.waitForLines(in: "up")[0]
        try test.signal(Int32(line), SIGKILL)
        let result = try await running.finish()
        #expect(test.survivors() == [])
        let log = try result.log()
        LogInvariants.check(log)
        #expect(log.outcomes == ["deaf": "cancelled", "finally.hook": "cancelled"])
        #expect(!test.exists("ran"))
    }

    @Test(arguments: [SIGQUIT, SIGALRM, SIGXCPU, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGIO])
    func `a signal that ends other programs ends the run, and then flowrun`(signal: Int32) async throws {
        let test = try FlowrunTest(Self.held)
        let gate = try test.gate("go")
        defer { gate.open() }
        let (running, _) = try await start(test)
        running.signal(signal)
        let result = try await running.finish()
        #expect(test.survivors() == [])
        result.expect(.signalled(signal))
        let log = try result.log()
        LogInvariants.check(log)
        #expect(log.outcomes == ["a": "cancelled"])
    }

    // F13
    @Test func `a signal to the whole process group is one signal`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            defaults: { grace: 1000s }
            steps:
              a: { run: "trap 'echo heard > heard' TERM; echo $PPID > up; read _ < go || read _ < go" }
            """)
        let gate = try test.gate("go")
        defer { gate.open() }
        let launcher = ["sh", "-c", #"exec setsid "$0" "$@""#]
        let running = try await test.start("workflow.yml", "--log", "json", launcher: launcher)
        try await running.waitForFile("up")
        running.signalGroup(SIGTERM)
        try await running.waitForFile("heard")
        gate.open()
        let result = try await running.finish()
        result.expect(.signalled(SIGTERM))
        #expect(try result.log().all("step.signal").map { $0["signal"]?.string } == ["SIGTERM", "SIGCONT"])
    }

    // F09
    @Test func `what steps leave behind is reaped at once`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a:
                run: |
                  for i in {1..50}; do (true &) ; done
                  read -r _ _ _ guard _ < /proc/$PPID/stat
                  while grep -qs '^State:.Z' $(sed 's|[0-9]*|/proc/&/status|g' /proc/$guard/task/$guard/children); do :; done
            """)
        try await test.run("workflow.yml").expect(exit: 0)
    }

    @Test func `a stopped runner stops flowrun, and CONT lets both go on`() async throws {
        let test = try FlowrunTest(Self.held)
        let gate = try test.gate("go")
        defer { gate.open() }
        let (running, _) = try await startStopped(test)
        running.signal(SIGCONT)
        gate.open()
        try await running.finish().expect(exit: 0)
    }

    @Test func `a runner that is stopped and woken alone ends as any other`() async throws {
        let test = try FlowrunTest(Self.held)
        let gate = try test.gate("go")
        defer { gate.open() }
        let (running, runner) = try await startStopped(test)
        try test.signal(runner, SIGCONT)
        try test.signal(runner, SIGTERM)
        let result = try await running.finish()
        #expect(test.survivors() == [])
        result.expect(.signalled(SIGTERM))
    }

    @Test func `children that flowrun was given are left alone`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'true' } }\n")
        let gate = try test.gate("go")
        let launcher = ["sh", "-c", #"(read _ < go; echo > done) & exec "$0" "$@""#]
        try await test.run("workflow.yml", launcher: launcher).expect(exit: 0)
        #expect(test.survivors().count == 1)
        gate.open()
    }

    // F10
    @Test(.enabled(if: geteuid() == 0, "needs to be root to make a process namespace"), arguments: ["TERM", "INT"])
    func `as PID 1 flowrun ends with 128 and the signal`(signal: String) async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: 'setsid sleep 9999 & kill -\(signal) 1; sleep 9999' } }\n")
        let result = try await test.run(
            "workflow.yml", "--log", "json", launcher: ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"])
        result.expect(exit: signal == "TERM" ? 143 : 130)
        #expect(test.survivors() == [])
    }
}
