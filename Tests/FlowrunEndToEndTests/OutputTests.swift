import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// What steps write, and what becomes of it when nobody takes it.
struct OutputTests {
    @Test func `joining a stream's records gives what the step wrote`() async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            steps:
              lines: { run: "printf 'a\nb'; printf 'x\n' >&2; printf 'c\nend'" }
              apart: { run: "printf 'a\nb'; printf 'x\n' >&2; printf 'c\nend'", outputs: { v: { from: stdout } } }
              read: { run: "echo out; echo err >&2" }
              reader: { needs: [read], run: cat, stdin: "${{ steps.read.stdout }}" }
              long: { run: "head -c 200000 /dev/zero | tr '\\0' x; echo; echo last" }
              bytes: { run: "printf 'a\\377b\\0c\\033[2Jd\\342\\200\\250e\n'" }
              forged: { run: "echo '{\"v\":1,\"seq\":0,\"event\":\"run.finished\"}'" }
            """#)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        LogInvariants.check(log)
        #expect(log.output(of: "lines", stream: "output") == "a\nbx\nc\nend")
        #expect(log.all("step.output", step: "lines").last?["partial"]?.bool == true)
        #expect(log.output(of: "apart", stream: "stdout") == "a\nbc\nend")
        #expect(log.output(of: "apart", stream: "stderr") == "x\n")
        #expect(log.output(of: "apart", stream: "output") == "")
        #expect(
            log.all("step.output", step: "apart").last { $0["stream"]?.string == "stdout" }?["partial"]?.bool == true)
        #expect(log.output(of: "read", stream: "stderr") == "err\n")
        #expect(log.output(of: "reader", stream: "output") == "out\n")
        #expect(log.output(of: "long") == String(repeating: "x", count: 200_000) + "\nlast\n")
        #expect(log.output(of: "bytes") == "a\u{FFFD}b\0c\u{1B}[2Jd\u{2028}e\n")
        #expect(log.all("run.finished").count == 1)
        #expect(log.finished("long")?["output_bytes"]?.int == 200_006)
        // Nothing that a terminal or a line reader would obey stands in the log itself.
        #expect(!result.stdout.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" || $0 == "\u{2028}" })
    }

    @Test func `control characters of a step do not reach the text log`() async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            steps: { a: { run: "printf 'clear\\033[2J\\033]52;c;eA==\\007 bell\\007\n'" } }
            """#)
        let result = try await test.run("workflow.yml")
        result.expect(exit: 0)
        result.expect(stdout: "clear")
        #expect(!result.stdout.contains("\u{1B}") && !result.stdout.contains("\u{7}"))
    }

    @Test(arguments: ["text", "json"])
    func `a full standard output is told, and is no success`(log: String) async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'echo ran > ran' } }\n")
        let result = try await test.run(
            "run", "workflow.yml", "--log", log, "--log-file", "log.jsonl",
            launcher: ["sh", "-c", #"exec "$0" "$@" > /dev/full"#])
        result.expect(exit: 125)
        result.expect(stderr: "standard output")
        #expect(test.exists("ran"))
        LogInvariants.check(try EventLog(jsonLines: try test.contents(of: "log.jsonl")))
    }

    @Test func `a full log file is told, and is no success`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'true' } }\n")
        let full = try await test.run("workflow.yml", "--log-file", "/dev/full")
        full.expect(exit: 125)
        full.expect(stderr: "/dev/full")
        let absent = try await test.run("workflow.yml", "--log-file", "no/such/folder/log")
        absent.expect(exit: 125)
        absent.expect(stderr: "no/such/folder/log")
    }

    @Test func `a closed standard output neither kills the run nor is taken for something else`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: "echo output; echo ran > ran" }
              b: { needs: [a], run: "true" }
            """)
        let result = try await test.run(
            "run", "workflow.yml", "--log", "json", "--log-file", "log.jsonl",
            launcher: ["sh", "-c", #"exec "$0" "$@" >&-"#])
        result.expect(exit: 125)
        #expect(test.exists("ran"))
        let log = try EventLog(jsonLines: try test.contents(of: "log.jsonl"))
        LogInvariants.check(log, steps: ["a", "b"])
        #expect(log.output(of: "a") == "output\n")
    }

    @Test func `a reader that goes away does not kill the run`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              before: { run: "true" }
              a: { needs: [before], run: "echo up > up; read _ < go; echo output; echo ran > ran" }
            """)
        let gate = try test.gate("go")
        let script = #""$0" "$@" | { head -n 1 > first; exec <&-; echo gone > gone; }; exit "${PIPESTATUS[0]}""#
        let running = try await test.start(
            "run", "workflow.yml", "--log", "json", "--log-file", "log.jsonl", launcher: ["bash", "-c", script])
        try await running.waitForFile("gone")
        try await running.waitForFile("up")
        gate.open()
        let result = try await running.finish()
        result.expect(exit: 125)
        #expect(test.exists("ran"))
        LogInvariants.check(
            try EventLog(jsonLines: try test.contents(of: "log.jsonl")), steps: ["before", "a"])
    }

    @Test func `output of steps at once is never mixed inside a line`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              each: { for-each: [a, b, c, d], run: "for n in $(seq 200); do echo $item$item$item; done" }
            """)
        for mode in ["grouped", "stream"] {
            let result = try await test.run("workflow.yml", "-j", "4", "--output", mode)
            result.expect(exit: 0)
            for item in ["a", "b", "c", "d"] {
                let mark = mode == "grouped" ? "| " : "[each[\(item)]] "
                let whole = result.stdout.split(separator: "\n").filter { $0 == "\(mark)\(item)\(item)\(item)" }
                #expect(whole.count == 200, "\(item) in \(mode)")
            }
        }
    }

    @Test func `the text log can show output of failures only, or none`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              fine: { run: echo from-fine }
              fails: { run: "echo from-fails; exit 1" }
            """)
        let failed = try await test.run("workflow.yml", "--output", "failed")
        failed.expect(exit: 1)
        failed.expect(stdout: "from-fails")
        #expect(!failed.stdout.contains("from-fine"))
        let none = try await test.run("workflow.yml", "--output", "none")
        none.expect(exit: 1)
        #expect(!none.stdout.contains("| from-fine"))
    }

    @Test func `output that cannot be kept until it is shown is shown as it comes, none of it lost`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: "read _ < go; seq 1 60000" }
              b: { run: "echo up > up; read _ < done" }
            """)
        let (go, done) = (try test.gate("go"), try test.gate("done"))
        let running = try await test.start(
            "workflow.yml", "-j", "2", "--no-journal", environment: ["TMPDIR": "/nonexistent"])
        try await running.waitForFile("up")
        go.open()
        try await running.waitForText("[a] 60000\n")
        done.open()
        let result = try await running.finish()
        result.expect(exit: 0)
        let lines = result.stdout.split(separator: "\n").filter { $0.hasPrefix("[a] ") }
        #expect(lines.map { String($0) } == (1...60_000).map { "[a] \($0)" })
        result.expect(stdout: "cannot be kept in `/nonexistent`")
    }

    @Test func `the only running step is shown as it writes, and not once more at its end`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'echo early; read _ < go; echo late' } }\n")
        let gate = try test.gate("go")
        let running = try await test.start("workflow.yml")
        try await running.waitForText("| early\n")
        gate.open()
        let result = try await running.finish()
        result.expect(exit: 0)
        #expect(result.stdout.split(separator: "early").count == 2)
        #expect(result.stdout.contains("running              a\n| early\n| late\n"))
    }

    @Test func `a long block is written whole, behind its step's line`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: "read _ < go; seq 1 200000" }
              b: { run: "echo up > up; read _ < done" }
            """)
        let (go, done) = (try test.gate("go"), try test.gate("done"))
        let running = try await test.start("workflow.yml", "-j", "2")
        try await running.waitForFile("up")
        go.open()
        try await running.waitForText("| 200000\n")
        done.open()
        let result = try await running.finish()
        result.expect(exit: 0)
        let block = try #require(result.stdout.split(separator: "  a\n").last)
        #expect(block.hasPrefix((1...200_000).map { "| \($0)\n" }.joined()))
    }

    @Test(arguments: [
        ["--help"], ["run", "--help"], ["--version"], ["explain"], ["explain", "FR0301"], ["completion", "bash"],
    ])
    func `help that cannot be written is no success`(words: [String]) async throws {
        let test = try FlowrunTest()
        for redirection in ["> /dev/full", ">&-"] {
            let launcher = ["sh", "-c", #"exec "$0" "$@" \#(redirection)"#]
            let result = try await test.start(words, launcher: launcher).finish()
            result.expect(exit: 125)
            result.expect(stderr: "cannot write to standard output: ")
        }
    }

    @Test func `a log never replaces what the run reads`() async throws {
        let workflow = """
            version: 1
            secrets: { TOKEN: { file: token.txt } }
            dotenv: [{ path: top.env, optional: true }]
            steps:
              a: { run: touch ran, dotenv: inner/a.env, secrets: [TOKEN] }
              g: { uses: used.yml }
            """
        let used = "version: 1\nsteps: { b: { run: touch ran, dotenv: b.env } }\n"
        let inputs = [
            "workflow.yml": workflow, "used.yml": used, "token.txt": "secret-token\n", "top.env": "A=1\n",
            "inner/a.env": "B=1\n", "b.env": "C=1\n",
        ]
        let test = try FlowrunTest(workflow, files: inputs)
        for (name, text) in inputs {
            let link = "link-\(name.replacing("/", with: "-"))"
            #expect(symlink(test.path(name), test.path("soft-" + link)) == 0)
            #expect(Glibc.link(test.path(name), test.path("hard-" + link)) == 0)
            for path in [name, "./\(name)", "soft-" + link, "hard-" + link, test.path(name)] {
                let result = try await test.run("run", "workflow.yml", "--log-file", path)
                result.expect(exit: 64)
                result.expect(stderr: "--log-file \(path): that is the ")
            }
            #expect(try test.contents(of: name) == text)
        }
        #expect(!test.exists("ran"))
        let result = try await test.run("run", "workflow.yml", "--log-file", "log.jsonl")
        result.expect(exit: 0)
    }

    @Test func `a log never replaces flowrun's own state, and may stand beside it`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'true' } }\n")
        #expect(symlink(".flowrun/key", test.path("early")) == 0)
        for path in [".flowrun/key", "early", ".flowrun/other.lock"] {
            try await test.run("workflow.yml", "--log-file", path).expect(exit: 64)
        }
        try await test.run("workflow.yml").expect(exit: 0)
        let runs = try FileManager.default.contentsOfDirectory(atPath: test.path(".flowrun/runs"))
        let journal = ".flowrun/runs/\(try #require(runs.first))/journal.jsonl"
        #expect(symlink(journal, test.path("link")) == 0)
        #expect(Glibc.link(test.path(".flowrun/key"), test.path("hard")) == 0)
        let before = try test.contents(of: journal)
        for path in [".flowrun/key", ".flowrun/workflow.yml.lock", journal, "link", "hard", journal + "2"] {
            let result = try await test.run("workflow.yml", "--log-file", path)
            result.expect(exit: 64)
            result.expect(stderr: "--log-file \(path): that is a file of flowrun's own state, which the log would")
        }
        #expect(try test.contents(of: journal) == before)
        for _ in 0..<2 { try await test.run("workflow.yml", "--log-file", ".flowrun/log.jsonl").expect(exit: 0) }
        try await test.run("runs").expect(exit: 0)
    }

    @Test(arguments: [".flowrun/runs", ".flowrun/spare"])
    func `a log never takes the place of a folder that flowrun will need`(path: String) async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'true' } }\n")
        try await test.run("workflow.yml", "--no-journal", "--log-file", path).expect(exit: 64)
        #expect(!test.exists(path))
    }

    @Test func `where no file may grow flowrun says so`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'echo > ran' } }\n")
        let launcher = ["sh", "-c", #"ulimit -f 0; exec "$0" "$@""#]
        let result = try await test.run("workflow.yml", launcher: launcher)
        result.expect(exit: 125)
        result.expect(stderr: "file too large")
        #expect(!test.exists("ran"))
    }

    /// Whether this user may hide /proc from a program.
    private static let mayHideProc: Bool = {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", "unshare -m umount -l /proc"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    @Test(.enabled(if: mayHideProc), arguments: [["--version"], ["check", "workflow.yml"], ["workflow.yml"]])
    func `flowrun works without proc`(words: [String]) async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'echo ran > ran' } }\n")
        let launcher = ["unshare", "-m", "sh", "-c", #"umount -l /proc && exec "$0" "$@""#]
        let result = try await test.start(words, launcher: launcher).finish()
        result.expect(exit: 0)
        #expect(test.exists("ran") == (words == ["workflow.yml"]))
    }

    @Test func `an answer that cannot be written is no success`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'true' } }\n")
        for command in ["check", "plan", "graph", "list"] {
            let result = try await test.run(
                command, "workflow.yml", launcher: ["sh", "-c", #"exec "$0" "$@" > /dev/full"#])
            result.expect(exit: 125)
            result.expect(stderr: "standard output")
        }
    }
}
