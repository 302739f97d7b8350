import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// System calls that fail, by strace, which puts an error in the place of one.
struct FaultTests {
    static let hasStrace = ["/usr/bin/strace", "/usr/local/bin/strace"].contains {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// Whether a process that runs already may be traced.
    static let mayAttach =
        hasStrace
        && (geteuid() == 0
            || ["0\n", nil].contains(try? String(contentsOfFile: "/proc/sys/kernel/yama/ptrace_scope", encoding: .utf8)))

    /// Calls that steps do not make, so that each number is flowrun's own.
    static let faults = [
        "epoll_ctl:error=ENOSPC:when=1+", "epoll_ctl:error=ENOSPC:when=2", "epoll_ctl:error=ENOMEM:when=3",
        "epoll_ctl:error=ENOSPC:when=4+", "timerfd_create:error=EMFILE", "timerfd_settime:error=ENOMEM:when=1+",
        "timerfd_settime:error=EINVAL:when=2",
    ]

    @Test(.enabled(if: hasStrace), arguments: faults)
    func `a system call that fails is survived, or told`(fault: String) async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              much: { run: seq 1 30000 }
              apart: { run: "echo out; echo err >&2", streams: separate }
              slow: { run: sleep 1000, timeout: 100ms, grace: 50ms, continue-on-error: true }
              last: { needs: { much: success, apart: success, slow: done }, run: echo end }
            """)
        let result = try await test.run(
            "run", "workflow.yml", "--log", "json", "-j", "4",
            launcher: [
                "strace", "-f", "-o", "trace", "-e", "trace=\(fault.prefix { $0 != ":" })", "-e", "inject=\(fault)",
            ])
        result.expect(exit: 0)
        #expect(try test.contents(of: "trace").contains("(INJECTED)"))
        let log = try result.log()
        LogInvariants.check(log)
        #expect(log.output(of: "much") == (1...30_000).map { "\($0)\n" }.joined())
        #expect(log.output(of: "apart", stream: "stderr") == "err\n")
        #expect(log.outcomes["slow"] == "timeout")
        #expect(log.output(of: "last") == "end\n")
        #expect(test.survivors() == [])
    }

    @Test(.enabled(if: mayAttach)) func `a step whose output cannot be read fails, and says so`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: "echo up > up; read _ < go; echo lost" }
              b: { needs: [a], run: "true" }
            """)
        let gate = try test.gate("go")
        let running = try await test.start("run", "workflow.yml", "--log", "json")
        try await running.waitForFile("up")
        let script =
            "exec strace -o trace -e trace=read -e inject=read:error=EIO -p \(try #require(running.runner))"
        let tracer = try test.startBeside([], launcher: ["sh", "-c", script])
        try await tracer.waitForText("attached", onStandardError: true)
        gate.open()
        let result = try await running.finish()
        result.expect(exit: 1)
        let log = try result.log()
        LogInvariants.check(log)
        #expect(log.outcomes == ["a": "failure", "b": "not-run"])
        let cause = try #require(log.finished("a")?.cause)
        #expect(
            cause.kind == "output" && cause.message == "what it wrote could not be read to the end: input/output error")
        #expect(log.finished("a")?["exit_code"]?.int == 0)
        #expect(log.finished("a")?["output_truncated"]?.string == "unreadable")
        #expect(log.finished("a")?["dropped_bytes"]?.int == 5)
        _ = try await tracer.finish()
    }
}
