import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// Which run is the last one, for all commands that use it.
struct LastRunTests {
    private static let failing = """
        version: 1
        steps:
          a: { run: 'echo a >> ran' }
          b: { needs: [a], run: 'echo b >> ran; exit "$(cat code)"' }
          lint: { run: 'true' }
        """
    private static let year = 365 * 86_400

    private func runs(_ test: FlowrunTest, _ words: String...) async throws -> [JSONValue] {
        let answer = try await test.startBeside(["runs", "--format", "json"] + words).finish()
        answer.expect(exit: 0, stderr: "")
        return try #require(try JSONDecoder().decode(JSONValue.self, from: Data(answer.stdout.utf8)).array)
    }

    /// The id of the run that `runs` names first.
    private func last(_ test: FlowrunTest) async throws -> String {
        try #require(try await runs(test).first?["run"]?.string)
    }

    private func resumed(_ test: FlowrunTest, _ options: String...) async throws -> String? {
        let result = try await test.start(["workflow.yml", "--log", "json", "--resume"] + options).finish()
        return try result.log().first("run.started")?["resumes"]?.string
    }

    private func takeRan(_ test: FlowrunTest) throws -> [String] {
        defer { try? FileManager.default.removeItem(atPath: test.path("ran")) }
        return (try? test.contents(of: "ran").split(separator: "\n").map(String.init).sorted()) ?? []
    }

    @Test(arguments: [(0, -year), (year, 0), (year, -year), (0, 0)])
    func `whatever the clock was set to, the last run is the one that began last`(first: Int, second: Int) async throws
    {
        let test = try FlowrunTest(Self.failing, files: ["code": "3"])
        try await test.run("workflow.yml", launcher: try test.clock(setBy: first)).expect(exit: 1)
        let before = try await last(test)
        try test.write("4", to: "code")
        let live = try await test.run("workflow.yml", launcher: try test.clock(setBy: second))
        live.expect(exit: 1)
        let listed = try await runs(test)
        #expect(listed.count == 2 && listed[1]["run"]?.string == before)
        for run in listed { #expect(try #require(run["duration"]?.double) < 1000) }
        try await test.ask("why", "b").expect(stdout: "exit 4")
        #expect(try await test.ask("replay").stdout == live.stdout)
        // The expected durations are those of that run, too.
        let durations = try await test.ask("replay", "--log", "json").log().all("step.finished")
        let duration = try #require(durations.first { $0.step == "a" }?["duration"]?.double)
        let plan = try await test.ask("plan", "workflow.yml", "--format", "json")
        let steps = try JSONDecoder().decode(JSONValue.self, from: Data(plan.stdout.utf8))["steps"]?.array
        #expect(steps?.first { $0["id"]?.string == "a" }?["estimate"]?.double == duration)
        _ = try takeRan(test)
        try test.write("0", to: "code")
        #expect(try await resumed(test) == listed[0]["run"]?.string)
        #expect(try takeRan(test) == ["b"])
    }

    @Test func `a resume goes on with the last run of the same targets, in whatever order they are named`() async throws
    {
        let test = try FlowrunTest(Self.failing, files: ["code": "3"])
        try await test.run("workflow.yml").expect(exit: 1)
        let whole = try await last(test)
        try await test.run("workflow.yml", "a", "lint").expect(exit: 0)
        let part = try await last(test)
        _ = try takeRan(test)
        #expect(try await resumed(test) == whole)
        #expect(try takeRan(test) == ["b"])
        #expect(try await resumed(test, "lint", "a") == part)
        #expect(try takeRan(test) == [])
        // Without a name nothing is taken over from other runs.
        let result = try await test.start(["workflow.yml", "--log", "json", "--resume", "lint"]).finish()
        let warning = try #require(try result.log().first("warning"))
        #expect(warning["code"]?.string == "resume")
        #expect(warning["message"]?.string?.contains("no run of the same targets to resume") == true)
        #expect(try await resumed(test, "lint") != nil)
    }

    @Test func `for a step that the last run was not asked for, why explains the run before`() async throws {
        let test = try FlowrunTest(Self.failing, files: ["code": "3"])
        try await test.run("workflow.yml").expect(exit: 1)
        try await test.run("workflow.yml", "lint").expect(exit: 0)
        try await test.ask("why", "b").expect(stdout: "exit 3")
        try await test.ask("why", "lint").expect(exit: 0, stdout: "lint: success\n", stderr: "")
        // A step that no run has is looked for in the last one.
        let unknown = try await test.ask("why", "lin")
        unknown.expect(exit: 1, stdout: "")
        unknown.expect(stderr: "had no step or group `lin`; did you mean `lint`?")
        #expect(unknown.stderr.contains(try await last(test)))
    }

    @Test func `a run that a step of another one has started is not the last one of its file`() async throws {
        let test = try FlowrunTest(
            Self.failing,
            files: [
                "code": "3",
                "outer.yml": "version: 1\nsteps: { o: { run: '\"$FLOWRUN\" workflow.yml || true' } }\n",
            ])
        let flowrun = ["FLOWRUN": FlowrunBinary.path]
        try await test.run("outer.yml", environment: flowrun).expect(exit: 0)
        let only = try await test.ask("why", "b", "--file", "workflow.yml")
        only.expect(exit: 1, stdout: "")
        only.expect(
            stderr:
                "all runs of `workflow.yml` were started by steps of other runs; for the last of them, write `--run ")
        try await test.run("workflow.yml").expect(exit: 1)
        let own = try #require(try await runs(test, "workflow.yml").first?["run"]?.string)
        try test.write("5", to: "code")
        try await test.run("outer.yml", environment: flowrun).expect(exit: 0)
        #expect(try await runs(test, "workflow.yml").count == 3)
        try await test.ask("why", "b", "--file", "workflow.yml").expect(stdout: "exit 3")
        #expect(try await resumed(test) == own)
    }

    @Test func `a run without a journal is reported, and the one before it is taken over`() async throws {
        let test = try FlowrunTest(Self.failing, files: ["code": "3"])
        try await test.run("workflow.yml").expect(exit: 1)
        let journalled = try await last(test)
        try await test.run("workflow.yml", "--no-journal").expect(exit: 1)
        let result = try await test.start(["workflow.yml", "--log", "json", "--resume"]).finish()
        let log = try result.log()
        #expect(log.first("run.started")?["resumes"]?.string == journalled)
        #expect(log.first("warning")?["message"]?.string?.contains("left no journal") == true)
    }

    @Test(arguments: [0, 100]) func `a run that was killed before its journal began hides no run before it`(
        written: Int
    ) async throws {
        let test = try FlowrunTest(Self.failing, files: ["code": "3"])
        try await test.run("workflow.yml").expect(exit: 1)
        let first = try await last(test)
        try await test.run("workflow.yml").expect(exit: 1)
        let killed = try await last(test)
        try #require(truncate(test.path(".flowrun/runs/\(killed)/journal.jsonl"), written) == 0)
        let why = try await test.ask("why", "b")
        why.expect(exit: 1)
        why.expect(
            stderr:
                "the last run `\(killed)` was killed before its first step; for the one before, write `--run \(first)`")
        _ = try takeRan(test)
        let log = try await test.start(["workflow.yml", "--log", "json", "--resume"]).finish().log()
        #expect(log.first("run.started")?["resumes"]?.string == first)
        #expect(log.first("warning") == nil)
        #expect(try takeRan(test) == ["b"])
    }

    @Test func `a run that was killed before it had a journal is told from one without, also by its name`() async throws
    {
        let test = try FlowrunTest(Self.failing, files: ["code": "3"])
        try await test.run("workflow.yml").expect(exit: 1)
        let first = try await last(test)
        try await test.run("workflow.yml").expect(exit: 1)
        let killed = try await last(test)
        // As it stands in the lock until the run ends.
        let lock = try test.contents(of: ".flowrun/workflow.yml.lock").split(separator: " ")
        let entry = "999999999 \(killed) \(lock[2]) journal"
        let sum = Self.checksum(of: "\(entry) ")
        try test.write(
            "\(entry) \(sum)".padding(toLength: 63, withPad: " ", startingAt: 0) + "\n",
            to: ".flowrun/workflow.yml.lock")
        try FileManager.default.removeItem(atPath: test.path(".flowrun/runs/\(killed)"))
        let short = "run `\(killed)` was killed before its first step; "
        try await test.ask("why", "b").expect(stderr: "the last \(short)for the one before, write `--run \(first)`")
        for words in [["why", "b", "--run", killed], ["replay", killed]] {
            try await test.start(words).finish().expect(stderr: "the \(short)`flowrun runs` lists what is kept")
        }
        let refused = try await test.run("workflow.yml", "--resume=\(killed)")
        refused.expect(exit: 1)
        refused.expect(stderr: "the \(short)`flowrun runs` lists those that can be resumed")
        // What is refused leaves the last run as it was.
        try await test.ask("why", "b").expect(stderr: "the last \(short)")
        let log = try await test.start(["workflow.yml", "--log", "json", "--resume"]).finish().log()
        #expect(log.first("run.started")?["resumes"]?.string == first)
        #expect(log.first("warning") == nil)
    }

    @Test func `the state of a version that did not count runs is read, and its runs are older than all others`()
        async throws
    {
        let test = try FlowrunTest(Self.failing, files: ["code": "3"])
        // The clock was ahead then.
        try await test.run("workflow.yml", launcher: try test.clock(setBy: Self.year)).expect(exit: 1)
        let old = try await last(test)
        let journal = ".flowrun/runs/\(old)/journal.jsonl"
        let lines = try test.contents(of: journal).split(separator: "\n").map(String.init)
        let events = lines.drop { $0.contains("\"event\":\"journal\"") }
        let content = try #require(lines.first?.split(separator: ",\"crc\"").first)
            .replacing(/"number":.*"key":"[0-9a-f]*",/, with: "")
        #expect(!content.contains("number"))
        try test.write(([Self.sealed(String(content))] + events).map { $0 + "\n" }.joined(), to: journal)
        let lock = try test.contents(of: ".flowrun/workflow.yml.lock").split(separator: " ").prefix(2)
        let line = lock.joined(separator: " ") + String(repeating: " ", count: 30) + "\n"
        try test.write(line, to: ".flowrun/workflow.yml.lock")
        try #require(truncate(test.path(".flowrun/key"), 16) == 0)
        _ = try takeRan(test)
        #expect(try await resumed(test) == old)
        #expect(try takeRan(test) == ["b"])
        let new = try await last(test)
        #expect(new != old)
        #expect(try await resumed(test) == new)
    }

    /// A record with its checksum (CRC-32C), bit by bit.
    private static func sealed(_ content: String) -> String { "\(content),\"crc\":\"\(checksum(of: content))\"}" }

    private static func checksum(of content: String) -> String {
        var crc = ~UInt32(0)
        for byte in content.utf8 {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0x82F6_3B78 }
        }
        return String(format: "%08x", ~crc)
    }
}
