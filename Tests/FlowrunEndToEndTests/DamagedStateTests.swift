import FlowrunTestSupport
import Foundation
import Testing

/// A byte that has changed in the state that runs have left.
struct DamagedStateTests {
    private static let workflow = """
        version: 1
        steps:
          release:
            steps:
              deploy: { run: 'echo new > live; echo deploy >> ran' }
              verify: { needs: [deploy], run: 'echo verify >> ran; test -e ok' }
            on-failure: { rollback: { run: 'echo old > live' } }
          long: { run: 'echo long >> ran; seq 1 9000' }
          reader: { needs: [long], stdin: "${{ steps.long.stdout }}", run: 'cksum > sum; test -e ok' }
        """
    private static let newline = UInt8(ascii: "\n")

    private func bytes(_ test: FlowrunTest, _ name: String) throws -> [UInt8] {
        [UInt8](try #require(FileManager.default.contents(atPath: test.path(name))))
    }

    private func takeRan(_ test: FlowrunTest) throws -> [String] {
        defer { try? FileManager.default.removeItem(atPath: test.path("ran")) }
        return (try? test.contents(of: "ran").split(separator: "\n").map(String.init).sorted()) ?? []
    }

    /// `run` is nil for the last run.
    private func resume(_ test: FlowrunTest, _ run: String? = nil) async throws -> EventLog {
        let option = run.map { "--resume=\($0)" } ?? "--resume"
        let result = try await test.start(["workflow.yml", "--log", "json", option]).finish()
        result.expect(exit: 0)
        return try result.log()
    }

    private func warnings(_ log: EventLog) -> [String] {
        log.all("warning").filter { $0["code"]?.string == "resume" }.compactMap { $0["message"]?.string }
    }

    @Test func `damage of an earlier run takes what only that run and those before it know`() async throws {
        let test = try FlowrunTest(Self.workflow)
        try await test.run("workflow.yml").expect(exit: 1)
        let run = try #require(try FileManager.default.contentsOfDirectory(atPath: test.path(".flowrun/runs")).first)
        // Of the first run, only `long`.
        try await test.run("workflow.yml", "long", "--resume=\(run)").expect(exit: 0)
        let runs = try FileManager.default.contentsOfDirectory(atPath: test.path(".flowrun/runs"))
        let second = try #require(runs.first { $0 != run })
        let path = ".flowrun/runs/\(run)/journal.jsonl"
        var journal = try bytes(test, path)
        let place = try #require(journal.lastIndex(of: Self.newline)) - 2
        journal[place] ^= 1
        try test.write(journal, to: path)
        _ = try takeRan(test)
        try test.write("", to: "ok")

        let told = warnings(try await resume(test, second))

        #expect(told.count == 1)
        #expect(told.first?.hasPrefix("the journal of the run `\(run)` is damaged") == true)
        #expect(told.first?.hasSuffix(": what only it and earlier runs know of runs again") == true)
        #expect(try takeRan(test) == ["deploy", "verify"])
    }

    @Test(arguments: 0..<12)
    func `a changed byte in a journal is reported once, with its place, and nothing is taken over`(
        seed: Int
    ) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let test = try FlowrunTest(Self.workflow)
        try await test.run("workflow.yml").expect(exit: 1)
        let run = try #require(try FileManager.default.contentsOfDirectory(atPath: test.path(".flowrun/runs")).first)
        let path = ".flowrun/runs/\(run)/journal.jsonl"
        let whole = try bytes(test, path)
        let starts = [0] + whole.indices.filter { whole[$0] == Self.newline }.map { $0 + 1 }
        // Any byte of any record; the end of a record is as likely as its other bytes.
        let line = Int.random(in: 0..<starts.count - 1, using: &random)
        let bytesOfLine = starts[line]..<starts[line + 1]
        let place = seed % 3 == 0 ? bytesOfLine.upperBound - 1 : Int.random(in: bytesOfLine, using: &random)
        var changed = whole
        changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        try test.write(changed, to: path)
        let isHarmless = line < 2 && !(line == 1 && whole[place] == Self.newline)
        let words = "the journal of the run `\(run)` is damaged at byte \(starts[line]) (line \(line + 1) of `\(path)`)"
        for command in [["replay"], ["why", "release.deploy"]] {
            let answer = try await test.startBeside(command).finish()
            #expect(answer.stderr.components(separatedBy: "damaged").count == (isHarmless ? 1 : 2))
            #expect(isHarmless || answer.stderr.contains(words))
            #expect(!answer.stderr.contains("interrupted"))
        }
        _ = try takeRan(test)
        try test.write("", to: "ok")
        let log = try await resume(test)
        #expect(warnings(log) == (isHarmless ? [] : [words + ": everything runs"]))
        // The hook has undone it in any case.
        let ran = try takeRan(test)
        #expect(ran.contains("deploy") && ran.contains("long") == !isHarmless)
        #expect(try test.contents(of: "live") == "new\n")
        #expect(try bytes(test, path) == changed)
        #expect(warnings(try await resume(test)) == [])
        #expect(try takeRan(test) == [])
    }

    @Test func `a step whose kept output has changed runs again where that is read`() async throws {
        let test = try FlowrunTest(Self.workflow)
        try await test.run("workflow.yml").expect(exit: 1)
        let sum = try test.contents(of: "sum")
        let run = try FileManager.default.contentsOfDirectory(atPath: test.path(".flowrun/runs"))[0]
        let folder = ".flowrun/runs/\(run)"
        let name = try #require(
            try FileManager.default.contentsOfDirectory(atPath: test.path(folder)).first { $0.hasPrefix("long.1.") })
        var kept = try bytes(test, "\(folder)/\(name)")
        kept[kept.count - 5] ^= 1
        try test.write(kept, to: "\(folder)/\(name)")
        let replayed = try await test.ask("replay")
        replayed.expect(exit: 0)
        replayed.expect(stderr: "of the steps' output are not what was kept: their checksum differs")
        _ = try takeRan(test)
        try test.write("", to: "ok")
        try FileManager.default.removeItem(atPath: test.path("sum"))
        let log = try await resume(test)
        #expect(log.decisions["long"] == "damage" && log.decisions["reader"] == "outcome")
        #expect(try test.contents(of: "sum") == sum)
    }

    @Test func `a changed byte in the lock or the key costs a run at most, which says so`() async throws {
        let test = try FlowrunTest(Self.workflow, files: ["ok": ""])
        try await test.run("workflow.yml").expect(exit: 0)
        for (file, offsets) in [("workflow.yml.lock", [0, 8, 20, 33, 40, 60, 63]), ("key", [0, 15, 16, 19, 20, 21])] {
            for offset in offsets {
                var changed = try bytes(test, ".flowrun/\(file)")
                changed[offset] ^= 2
                try test.write(changed, to: ".flowrun/\(file)")
                _ = try takeRan(test)
                try await test.ask("why", "long").expect(exit: 0, stdout: "long: success\n", stderr: "")
                let told = warnings(try await resume(test))
                let isKey = file == "key" && offset < 20
                #expect(told.count == (isKey ? 1 : 0), "\(file) \(offset)")
                #expect(told.allSatisfy { $0.contains("is damaged or gone: everything runs") })
                #expect(try takeRan(test).isEmpty == !isKey)
            }
        }
    }
}
