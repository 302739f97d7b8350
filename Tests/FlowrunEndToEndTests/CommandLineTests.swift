import FlowrunTestSupport
import Foundation
import Testing

/// Options, their places, and exit statuses.
struct CommandLineTests {
    private static let good = "version: 1\nsteps:\n  a: { run: echo hello }\n  b: { needs: [a], run: 'true' }\n"

    @Test func `options may stand before and after the file`() async throws {
        let test = try FlowrunTest(Self.good)
        for arguments in [
            ["workflow.yml", "--log", "json", "-j", "2"], ["--log", "json", "-j", "2", "workflow.yml"],
            ["run", "--log=json", "-j2", "workflow.yml"], ["run", "workflow.yml", "--log", "json", "--jobs=2"],
        ] {
            let result = try await test.start(arguments).finish()
            result.expect(exit: 0)
            let log = try result.log()
            #expect(log.first("run.started")?["jobs"]?.int == 2, "\(arguments)")
            LogInvariants.check(log, needs: DependencyTable(["b": ["a"]]), steps: ["a", "b"])
        }
    }

    @Test func `a dash is standard input`() async throws {
        let test = try FlowrunTest()
        let good = try await test.run("-", "--log", "json", stdin: .text(Self.good))
        good.expect(exit: 0)
        #expect(try good.log().startOrder == ["a", "b"])
        let bad = try await test.run("run", "-", stdin: .text("version: 1\nsteps: { a: { needs: [x], run: y } }\n"))
        bad.expect(exit: 2, stdout: "")
        bad.expect(stderr: "<stdin>:2:23: error[FR0203]")
        let check = try await test.run("check", "-", stdin: .text(Self.good))
        check.expect(exit: 0)
    }

    @Test func `the text log names the run, each step, its output, and the counts`() async throws {
        let test = try FlowrunTest(Self.good)
        let result = try await test.run("workflow.yml")
        result.expect(exit: 0)
        result.expect(stdout: "workflow.yml", "2 steps", "a", "| hello", "success", "a", "success in ", "2 success")
        #expect(result.stderr == "")
    }

    @Test func `a quiet log is empty when all is well, and has the errors when not`() async throws {
        let test = try FlowrunTest(
            Self.good, files: ["bad.yml": "version: 1\nsteps: { a: { run: 'echo why; exit 3' } }\n"])
        let good = try await test.run("workflow.yml", "--log", "quiet")
        good.expect(exit: 0, stdout: "", stderr: "")
        let bad = try await test.run("bad.yml", "--log", "quiet")
        bad.expect(exit: 1)
        bad.expect(stdout: "a: ", "why")
    }

    @Test func `the log file has the JSON log whatever standard output has`() async throws {
        let test = try FlowrunTest(Self.good)
        for log in ["text", "json", "quiet"] {
            let result = try await test.run("workflow.yml", "--log", log, "--log-file", "\(log).jsonl")
            result.expect(exit: 0)
            let written = try EventLog(jsonLines: try test.contents(of: "\(log).jsonl"))
            LogInvariants.check(written, steps: ["a", "b"])
        }
    }

    @Test func `every record has its version, number, time and event`() async throws {
        let test = try FlowrunTest(Self.good)
        let log = try await test.runLogged().log()
        for record in log.records {
            #expect(record["v"]?.int == 1)
            let time = try #require(record["time"]?.string)
            #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z/) != nil, "\(time)")
        }
        let started = try #require(log.first("step.started", step: "a"))
        #expect(started["script"]?.string == "echo hello")
        #expect(started["line"]?.int == 3)
        #expect(started["attempt"]?.int == 1)
        let finished = try #require(log.finished("a"))
        #expect(finished["output_bytes"]?.int == 6)
        for field in ["duration", "user", "sys"] { #expect(try #require(finished[field]?.double) >= 0) }
        #expect(try #require(finished["max_rss"]?.int) > 100_000)
        #expect(log.runFinished?["counts"]?["success"]?.int == 2)
    }

    @Test(arguments: [
        ["workflow.yml"], ["check", "workflow.yml"], ["plan", "workflow.yml"], ["graph", "workflow.yml"],
        ["list", "workflow.yml"], ["explain", "FR0301"], ["explain"], ["--version"], ["--help"],
        ["run", "--help"], ["completion", "bash"],
    ])
    func `exit 0`(arguments: [String]) async throws {
        let result = try await FlowrunTest(Self.good).start(arguments).finish()
        result.expect(exit: 0)
        #expect(!result.stdout.isEmpty)
        #expect(result.stderr == "")
    }

    // Q5
    @Test(arguments: [
        [], ["--nonsense"], ["run"], ["run", "workflow.yml", "-j", "0"], ["run", "workflow.yml", "-j", "many"],
        ["workflow.yml", "--log", "xml"], ["workflow.yml", "--timeout", "30"], ["workflow.yml", "--env", "NOVALUE"],
        ["workflow.yml", "--param", "novalue"], ["workflow.yml", "--param", "=x"],
        ["workflow.yml", "--param", "unknown=x"], ["workflow.yml", "no-such-step"], ["check"], ["explain", "FR9999"],
        ["ctl"], ["ctl", "stop"], ["ctl", "jobs", "0"], ["ctl", "status", "a"], ["ctl", "resume", "--stop"], ["why"],
    ])
    func `exit 64 for wrong usage, told on standard error`(arguments: [String]) async throws {
        let result = try await FlowrunTest(Self.good).start(arguments).finish()
        result.expect(exit: 64, stdout: "")
        #expect(!result.stderr.isEmpty)
    }

    @Test func `exit 1, 2 and 124`() async throws {
        let test = try FlowrunTest(files: [
            "fails.yml": "version: 1\nsteps: { a: { run: 'false' } }\n",
            "invalid.yml": "version: 1\n",
            "hangs.yml": "version: 1\ntimeout: 200ms\nsteps: { a: { run: sleep 9999 } }\n",
        ])
        try await test.run("fails.yml").expect(exit: 1)
        try await test.run("invalid.yml").expect(exit: 2)
        try await test.run("missing.yml").expect(exit: 2)
        try await test.run("hangs.yml").expect(exit: 124)
    }

    @Test func `explain tells programs the same as people`() async throws {
        let test = try FlowrunTest()
        let all = try await test.run("explain", "--format", "json")
        all.expect(exit: 0, stderr: "")
        let findings = try #require(try JSONDecoder().decode(JSONValue.self, from: Data(all.stdout.utf8)).array)
        let lines = findings.map { "\($0["code"]?.string ?? "")  \($0["title"]?.string ?? "")\n" }
        #expect(try await test.run("explain").stdout == lines.joined())
        for (code, hasExample) in [("FR0301", true), ("FR0101", false)] {
            let text = try await test.run("explain", code).stdout
            let one = try await test.run("explain", "--format", "json", code.lowercased())
            let finding = try JSONDecoder().decode(JSONValue.self, from: Data(one.stdout.utf8))
            #expect(finding["code"]?.string == code && findings.contains(finding))
            for key in ["title", "meaning", "fix"] {
                #expect(text.contains(try #require(finding[key]?.string)), "\(key)")
            }
            #expect((finding["example"]?.string != nil) == hasExample && text.contains("Example:") == hasExample)
        }
        try await test.run("explain", "FR9999", "--format", "json").expect(exit: 64, stdout: "")
    }

    @Test func `the plan's steps are those that run`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps:\n  a: { run: 'true' }\n  m: { needs: [a], matrix: { v: [1, 2] }, run: 'true' }\n")
        let plan = try await test.run("plan", "workflow.yml", "--format", "json")
        plan.expect(exit: 0)
        let table = try DependencyTable(plan: plan.stdout)
        #expect(Set(table.needs.keys) == ["a", "m", "m[1]", "m[2]"])
        LogInvariants.check(try await test.runLogged().log(), needs: table, steps: ["a", "m[1]", "m[2]"])
    }
}
