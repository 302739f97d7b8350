import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// Steps in folders of cgroup v2, where the tests may make some.
@Suite(.enabled(if: Cgroup.own != nil, "no cgroup v2 here that can be divided"))
struct CgroupTests {
    private static let ownLeaf = "sed -n 's/^0:://p' /proc/self/cgroup"

    private static func leaf(in log: EventLog, of step: String) throws -> String {
        let line = try #require(log.all("step.output").first { $0["step"]?.string == step }?["text"]?.string)
        return try #require(line.split(separator: "/").last).trimmingCharacters(in: .newlines)
    }

    @Test func `a command begins in a folder of its own, which the next one uses again and nobody sees afterwards`()
        async throws
    {
        let test = try FlowrunTest(
            """
            version: 1
            max-parallel: 1
            steps:
              a: { run: "\(Self.ownLeaf)" }
              b: { needs: [a], run: "\(Self.ownLeaf)" }
            """)
        let result = try await test.runLogged("-j", "2")
        result.expect(exit: 0)
        let log = try result.log()
        let leaf = try Self.leaf(in: log, of: "a")
        #expect(leaf.hasPrefix("flowrun-") && leaf.hasSuffix("-0"))
        #expect(try Self.leaf(in: log, of: "b") == leaf)
        #expect(log.finished("a")?["containment"]?.string == "cgroup")
        #expect(!FileManager.default.fileExists(atPath: "\(try #require(Cgroup.own))/\(leaf)"))
    }

    // F03
    @Test func `a process that takes off its mark is ended with its step, and not with the run`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: "bash -c 'ulimit -R 1000000; setsid -f sleep 9999 > /dev/null 2>&1'" }
            """)
        let log = try await test.runLogged().log()
        #expect(log.finished("a")?["left_behind"]?.int == 1)
        #expect(log.finished("a")?["escaped"]?.int == 1)
        #expect(test.survivors() == [])
    }

    @Test func `a folder that was killed is not used again`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { timeout: 100ms, grace: 0s, continue-on-error: true, run: sleep 9999 }
              b: { needs: [a], run: "\(Self.ownLeaf); sleep 9999 > /dev/null 2>&1 &" }
              c: { needs: [b], run: "\(Self.ownLeaf)" }
            """)
        let result = try await test.runLogged("-j", "1")
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.outcomes == ["a": "timeout", "b": "success", "c": "success"])
        #expect(try Self.leaf(in: log, of: "c").hasSuffix("-0"))
    }

    // F11
    @Test func `after a KILL of the runner the guard empties the folder and removes it`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: "\(Self.ownLeaf) > leaf; bash -c 'ulimit -R 1000000; exec sleep 9999' & echo up > up; wait" }
            """)
        let running = try await test.start("workflow.yml", "--log", "json")
        try await running.waitForFile("up")
        try test.signal(running.runner, SIGKILL)
        try await running.finish().expect(.signalled(SIGKILL))
        #expect(test.survivors() == [])
        let leaf = try #require(test.contents(of: "leaf").split(separator: "/").last)
        let path = "\(try #require(Cgroup.own))/\(leaf)".trimmingCharacters(in: .newlines)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `after a KILL of the guard the runner removes the folder`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: "\(Self.ownLeaf) > leaf; read -r _ _ _ guard _ < /proc/$PPID/stat; echo $guard > up; read _ < go" }
            """)
        let gate = try test.gate("go")
        defer { gate.open() }
        // Ends once the runner has closed its standard output.
        let running = try await test.start(
            "workflow.yml", "--log", "json", launcher: ["sh", "-c", #""$0" "$@" | cat"#])
        try test.signal(Int32(try await running.waitForLines(in: "up")[0]), SIGKILL)
        _ = try await running.finish()
        let leaf = try #require(test.contents(of: "leaf").split(separator: "/").last)
        let path = "\(try #require(Cgroup.own))/\(leaf)".trimmingCharacters(in: .newlines)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `a resumed run removes the dead one's folders, also behind a gap in their numbers`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: "\(Self.ownLeaf) > leaf; test -e ok || { echo up > up; read _ < go; }" }
            """)
        let gate = try test.gate("go")
        defer { gate.open() }
        let running = try await test.start("workflow.yml", "--log", "json")
        try await running.waitForFile("up")
        try test.signal(running.runner, SIGKILL)
        try await running.finish().expect(.signalled(SIGKILL))
        let leaf = try #require(test.contents(of: "leaf").split(separator: "/").last)
        let name = leaf.prefix(through: try #require(leaf.lastIndex(of: "-")))
        let behind = try [1, 3].map { "\(try #require(Cgroup.own))/\(name)\($0)" }
        for path in behind { #expect(mkdir(path, 0o700) == 0) }
        defer { for path in behind { rmdir(path) } }
        try test.write("", to: "ok")
        try await test.run("workflow.yml", "--resume").expect(exit: 0)
        #expect(!behind.contains(where: FileManager.default.fileExists))
    }

    @Test(.enabled(if: FaultTests.hasStrace, "strace is not installed"))
    func `without a guard, who would remove them, there are no folders`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: echo ran } }\n")
        // It is tried before and in main.
        let result = try await test.run(
            "workflow.yml", "--log", "json", "--no-journal",
            launcher: [
                "strace", "-f", "-o", "trace", "-e", "trace=clone,mkdir", "-e", "inject=clone:error=EAGAIN:when=1..2",
            ])
        result.expect(exit: 0)
        #expect(try result.log().finished("a")?["containment"]?.string == "session")
        let trace = try test.contents(of: "trace")
        #expect(trace.contains("(INJECTED)"))
        #expect(!trace.contains("mkdir(\"/sys/fs/cgroup"))
    }

    @Test func `a flowrun inside a step divides the folder that it is in`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { outer: { run: [\(FlowrunBinary.path), inner.yml] } }\n",
            files: ["inner.yml": "version: 1\nsteps: { a: { run: \"\(Self.ownLeaf) > leaf\" } }\n"])
        try await test.runLogged().expect(exit: 0)
        let parts = try test.contents(of: "leaf").split(separator: "/")
        #expect(parts.suffix(2).allSatisfy { $0.hasPrefix("flowrun-") })
        let outer = parts.dropLast().joined(separator: "/")
        #expect(!FileManager.default.fileExists(atPath: "/sys/fs/cgroup/\(outer)"))
        #expect(!FileManager.default.fileExists(atPath: "/sys/fs/cgroup/unified/\(outer)"))
    }

    @Test(.enabled(if: FaultTests.hasStrace, "strace is not installed"))
    func `a folder that takes long to make is waited for`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'true' } }\n")
        let result = try await test.run(
            "workflow.yml", "--log", "json", "--no-journal",
            launcher: ["strace", "-f", "-o", "trace", "-e", "trace=mkdir", "-e", "inject=mkdir:delay_enter=500000"])
        result.expect(exit: 0)
        #expect(try result.log().finished("a")?["containment"]?.string == "cgroup")
    }

    @Test(
        .enabled(if: FaultTests.hasStrace, "strace is not installed"),
        arguments: ["clone3:error=EACCES", "clone3:error=ENOSYS", "mkdir:error=EROFS"])
    func `where the kernel refuses it, marks and the guard do`(fault: String) async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: echo ran }, b: { needs: [a], run: echo ran } }\n")
        let call = fault.prefix { $0 != ":" }
        let result = try await test.run(
            "workflow.yml", "--log", "json", "--no-journal",
            launcher: ["strace", "-f", "-o", "trace", "-e", "trace=\(call)", "-e", "inject=\(fault)"])
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.outcomes == ["a": "success", "b": "success"])
        #expect(log.finished("b")?["containment"]?.string == "guard")
    }
}

/// Steps that the kernel kills because memory is short.
struct OutOfMemoryTests {
    // F27
    @Test(.enabled(if: Cgroup.ownMemory != nil, "no memory cgroup of version 1 here that can be divided"))
    func `a step that the kernel kills for want of memory says so, and one that is killed otherwise does not`()
        async throws
    {
        let group = "\(try #require(Cgroup.ownMemory))/flowrun-test-\(UUID().uuidString)"
        #expect(mkdir(group, 0o700) == 0)
        defer { rmdir(group) }
        try "67108864".write(toFile: group + "/memory.limit_in_bytes", atomically: false, encoding: .utf8)
        // They sleep until the counter has been read for the first time, which is after two milliseconds.
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              greedy: { run: "sleep 1; exec tail /dev/zero" }
              killed: { run: "sleep 1; kill -KILL $$" }
            """)
        let result = try await test.run(
            "workflow.yml", "--log", "json", "-j", "1",
            launcher: ["bash", "-c", "echo $$ > \(group)/cgroup.procs; exec \"$0\" \"$@\""])
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.finished("greedy")?["signal"]?.string == "SIGKILL")
        #expect(log.finished("greedy")?["oom_killed"]?.bool == true)
        #expect(log.finished("greedy")?["cause"]?["message"]?.string?.contains("out of memory") == true)
        #expect(log.finished("killed")?["signal"]?.string == "SIGKILL")
        #expect(log.finished("killed")?["oom_killed"]?.bool == false)
    }
}
