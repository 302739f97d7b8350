import FlowrunTestSupport
import Glibc
import Testing

/// The builder itself, on shell scripts that stand where the program would: `sh` gets the program's path as `$0`.
struct RunningFlowrunTests {
    private func shell(_ script: String) -> [String] { ["sh", "-c", script] }

    @Test func `both streams, the folder, arguments, environment and exit status arrive`() async throws {
        let test = try FlowrunTest(files: ["in/a.txt": "content\n"])
        let result = try await test.run(
            "one", "two words", environment: ["GIVEN": "value", "HOME": nil],
            launcher: shell(#"cat in/a.txt; echo "$1,$2,$GIVEN,${HOME-none}"; pwd >&2; exit 7"#))
        result.expect(exit: 7, stdout: "content\none,two words,value,none\n", stderr: "<folder>\n")
    }

    @Test func `standard input is empty, a text, or silent`() async throws {
        let test = try FlowrunTest()
        let empty = try await test.run(launcher: shell("cat; readlink /proc/self/fd/0"))
        empty.expect(exit: 0, stdout: "/dev/null\n")
        let text = try await test.run(stdin: .text("hello\n"), launcher: shell("cat"))
        text.expect(exit: 0, stdout: "hello\n")
        let silent = try await test.run(stdin: .silent, launcher: shell("timeout 0.1 cat; echo $?"))
        silent.expect(exit: 0, stdout: "124\n")
    }

    @Test func `a signal reaches the process, and its death by signal is told`() async throws {
        let test = try FlowrunTest()
        let running = try await test.start(stdin: .silent, launcher: shell("echo up > up; exec cat"))
        try await running.waitForFile("up")
        running.signal(SIGINT)
        try await running.finish().expect(.signalled(SIGINT))
    }

    @Test func `no signal is ignored or blocked in the process`() async throws {
        let test = try FlowrunTest()
        let result = try await test.run(launcher: shell("sed -En 's/^Sig(Ign|Blk):.//p' /proc/self/status"))
        // Signals 32 and 33 are the C library's own; it never touches them for others.
        let masks = result.stdout.split(separator: "\n").map { UInt64($0, radix: 16)! & ~0x1_8000_0000 }
        #expect(masks == [0, 0])
    }

    @Test func `only three descriptors are inherited`() async throws {
        let test = try FlowrunTest()
        let result = try await test.run(launcher: shell("exec ls /proc/self/fd"))
        result.expect(exit: 0, stdout: "0\n1\n2\n3\n")
    }

    @Test func `a gate holds as many as it does not let through`() async throws {
        let test = try FlowrunTest()
        let gate = try test.gate("go")
        let script = "for n in 1 2 3; do { read _ < go; echo $n >> through; } & done; echo up > up; wait"
        let running = try await test.start(launcher: shell(script))
        try await running.waitForFile("up")
        #expect(!test.exists("through"))
        gate.open()
        #expect(try await running.waitForLines(in: "through").count == 1)
        gate.open(2)
        try await running.finish().expect(exit: 0)
        #expect(try test.contents(of: "through").split(separator: "\n").count == 3)
    }

    @Test func `events are waited for as they come`() async throws {
        let test = try FlowrunTest()
        let gate = try test.gate("go")
        let script =
            #"echo '{"event":"step.started","step":"a","seq":0}'; read _ < go; echo not json; echo '{"event":"x"}'"#
        let running = try await test.start(launcher: shell(script))
        let record = try await running.waitForEvent("step.started", step: "a")
        #expect(record.seq == 0)
        gate.open()
        try await running.waitForEvent("x")
        try await running.waitForText("not json")
        try await running.finish().expect(exit: 0)
    }

    @Test func `waiting for what does not come ends with the process`() async throws {
        let test = try FlowrunTest()
        let running = try await test.start(launcher: shell("echo said"))
        let error = await #expect(throws: (any Error).self) { try await running.waitForFile("never") }
        #expect("\(try #require(error))".hasPrefix("waited for the file `never`, but the process ended (exit 0)"))
        #expect("\(try #require(error))".contains("said"))
    }

    @Test func `a process that outlives its deadline is terminated`() async throws {
        let test = try FlowrunTest()
        let gate = try test.gate("go")
        defer { gate.open() }
        let running = try await test.start(
            launcher: shell("trap 'echo > terminated; exit' TERM; echo up > up; while :; do read _ < go; done"),
            deadline: .milliseconds(300))
        let error = await #expect(throws: (any Error).self) { try await running.finish() }
        #expect("\(try #require(error))".hasPrefix("waited for the end, but the deadline passed"))
    }

    @Test func `output that another process still holds open does not delay the end`() async throws {
        let test = try FlowrunTest()
        let gate = try test.gate("go")
        let result = try await test.run(launcher: shell("echo first; { read _ < go; } & exit 3"))
        result.expect(exit: 3, stdout: "first\n")
        #expect(test.survivors().count == 1)
        gate.open()
    }

    @Test func `the program stands beside the test bundle`() {
        #expect(FlowrunBinary.path.hasSuffix("/flowrun"))
        #expect(access(FlowrunBinary.path, X_OK) == 0)
    }
}
