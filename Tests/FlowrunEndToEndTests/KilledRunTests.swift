import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// Runs that are killed at any moment and resumed until they are done: every effect is there, and none of a step twice
/// whose end the journal has.
struct KilledRunTests {
    private static let steps = 8
    private static let workflow: String = {
        var text = "version: 1\nsteps:\n"
        for step in 0..<steps {
            let needs = step < 2 ? "" : "needs: [s\(step - 2)], "
            text += "  s\(step): { \(needs)run: 'echo s\(step) >> ledger' }\n"
        }
        return text
    }()

    /// The steps that the journals say have ended well.
    private func finished(in test: FlowrunTest) throws -> Set<String> {
        guard let runs = try? FileManager.default.contentsOfDirectory(atPath: test.path(".flowrun/runs")) else {
            return []
        }
        var found: Set<String> = []
        for run in runs {
            guard let journal = try? test.contents(of: ".flowrun/runs/\(run)/journal.jsonl") else { continue }
            for line in journal.split(separator: "\n") {
                guard let record = try? JSONDecoder().decode(JSONValue.self, from: Data(line.utf8)),
                    record["event"]?.string == "step.finished", record["outcome"]?.string == "success",
                    let step = record["step"]?.string
                else { continue }
                found.insert(step)
            }
        }
        return found
    }

    private func ledger(in test: FlowrunTest) throws -> [String] {
        guard test.exists("ledger") else { return [] }
        return try test.contents(of: "ledger").split(separator: "\n").map(String.init)
    }

    /// Resumes a killed run to its end, and holds it against what was there before.
    private func expectGoodResume(in test: FlowrunTest, _ comment: String) async throws {
        let finished = try finished(in: test)
        let before = try ledger(in: test)
        #expect(finished.isSubset(of: before), "\(comment): an end was invented")
        let resumed = try await test.run("workflow.yml", "--resume", "-j", "2", "--log", "quiet")
        resumed.expect(exit: 0)
        let after = try ledger(in: test)
        #expect(Set(after).count == Self.steps, "\(comment)")
        for step in finished {
            #expect(after.count { $0 == step } == before.count { $0 == step }, "\(comment): \(step) ran again")
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/strace"), "strace is not installed"))
    func `killed at each write of its journal a run resumes without a step lost or done twice`() async throws {
        var isOver = false
        var number = 1
        while !isOver {
            let test = try FlowrunTest(Self.workflow)
            // The writes of a run with `--log quiet` are those of its journal, but for its lock.
            let strace = [
                "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=write",
                "-e", "inject=write:signal=KILL:when=\(number)",
            ]
            let killed = try await test.run("workflow.yml", "-j", "2", "--log", "quiet", launcher: strace)
            isOver = killed.status == .exited(0)
            if !isOver { try await expectGoodResume(in: test, "write \(number)") }
            number += 1
            guard number < 100 else {
                Issue.record("the run does not get through")
                return
            }
        }
        #expect(number > 5)
    }

    // Ten cases, so that they run side by side: each waits more than it works.
    @Test(arguments: 0..<10)
    func `killed at a random moment a run resumes without a step lost or done twice`(_: Int) async throws {
        var generator = SystemRandomNumberGenerator()
        for round in 0..<20 {
            let test = try FlowrunTest(Self.workflow)
            let count = Int.random(in: 0...Self.steps, using: &generator)
            let running = try await test.start("workflow.yml", "-j", "2", "--log", "quiet")
            if count > 0 { _ = try? await running.waitForLines(in: "ledger", count) }
            // By turns the runner and its guard, if they have not ended by now.
            if round % 2 == 0 { try? test.signal(running.runner, SIGKILL) } else { running.signal(SIGKILL) }
            _ = try await running.finish()
            try await expectGoodResume(in: test, "round \(round), after \(count)")
        }
    }
}
