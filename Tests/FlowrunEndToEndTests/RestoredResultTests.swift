import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// What a resumed run takes over is what the step would come to now; what cannot be known is not taken over.
struct RestoredResultTests {
    @Test func `a step runs again if its standard output is read now and was not kept apart`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              both: { run: "echo out; echo err >&2" }
              silent: { run: "true" }
              reader: { needs: [both, silent], run: "false" }
            """)
        try await test.run("workflow.yml").expect(exit: 1)
        try test.write(
            """
            version: 1
            steps:
              both: { run: "echo out; echo err >&2" }
              silent: { run: "true" }
              reader: { needs: [both, silent], stdin: "${{ steps.both.stdout }}${{ steps.silent.stdout }}", run: "cat > got" }
            """, to: "workflow.yml")
        let result = try await test.runLogged("--resume")
        result.expect(exit: 0)
        #expect(try result.log().decisions == ["both": "result", "silent": "restored", "reader": "outcome"])
        #expect(try test.contents(of: "got") == "out\n")
    }

    @Test func `what others write too much of makes no output unknown`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              read: { run: "echo one; head -c 70M /dev/zero >&2; echo two" }
              reader: { needs: [read], stdin: "${{ steps.read.stdout }}", run: "cat > got; test -e ok" }
            """)
        try await test.run("workflow.yml", "--log", "quiet").expect(exit: 1)
        try test.write("", to: "ok")
        let result = try await test.runLogged("--resume")
        result.expect(exit: 0)
        #expect(try result.log().decisions == ["read": "restored", "reader": "outcome"])
        #expect(try test.contents(of: "got") == "one\ntwo\n")
    }

    @Test(.enabled(if: FaultTests.hasStrace, "strace is not installed"))
    func `a resume does not read a journal again for each output that it takes over`() async throws {
        let count = 40
        let says = (1...count).map { "  say\($0): { run: 'echo \($0)' }" }.joined(separator: "\n")
        let needs = (1...count).map { "say\($0)" }.joined(separator: ", ")
        let reads = (1...count).map { "${{ steps.say\($0).stdout }}" }.joined()
        let test = try FlowrunTest(
            """
            version: 1
            steps:
            \(says)
              reader: { needs: [\(needs)], stdin: "\(reads)", run: "cat > got; test -e ok" }
            """)
        try await test.run("workflow.yml").expect(exit: 1)
        try test.write("", to: "ok")
        let result = try await test.run(
            "workflow.yml", "--resume", "--log", "json",
            launcher: ["strace", "-f", "-o", "trace", "-e", "trace=openat"])
        result.expect(exit: 0)
        #expect(try result.log().decisions.count { $0.value == "restored" } == count)
        let opened = try test.contents(of: "trace").split(separator: "\n").count { line in
            line.contains("journal.jsonl") && line.contains("O_RDONLY")
        }
        #expect(opened < count / 2)
    }

    @Test(arguments: [
        ("env: { p: one }, run: [printenv, p]", "env: { p: two }, run: [printenv, p]"),
        ("for-each: [a b], as: p, run: [printenv, p]", "for-each: [c d], as: p, run: [printenv, p]"),
    ])
    func `a variable of a parameter's name belongs to the definition of the step that it is set for`(
        before: String, after: String
    ) async throws {
        func text(_ step: String) -> String {
            """
            version: 1
            params: { p: { default: zero } }
            steps:
              s: { \(step) }
              last: { needs: [s], run: "test -e ok" }
            """
        }
        let test = try FlowrunTest(text(before))
        try await test.run("workflow.yml").expect(exit: 1)
        try test.write("", to: "ok")
        try test.write(text(after), to: "workflow.yml")
        let result = try await test.runLogged("--resume", "--param", "p=other")
        result.expect(exit: 0)
        let found = try result.log().decisions
        #expect(found.filter { $0.key != "last" }.map(\.value) == ["definition"])
    }

    @Test(.enabled(if: FaultTests.hasStrace, "strace is not installed"))
    func `a journal that cannot be read is not one that ends there`() async throws {
        let steps = (0..<200).map { "  s\($0): { run: 'echo s\($0) >> ledger' }\n" }.joined()
        let test = try FlowrunTest("version: 1\nsteps:\n\(steps)  last: { needs: [s0], run: 'test -e ok' }\n")
        try await test.run("workflow.yml", "-j", "1", "--log", "quiet").expect(exit: 1)
        let ledger = try test.contents(of: "ledger")
        let run = try #require(try FileManager.default.contentsOfDirectory(atPath: test.path(".flowrun/runs")).first)
        let journal = ".flowrun/runs/\(run)/journal.jsonl"
        let bytes = try test.contents(of: journal)
        try test.write("", to: "ok")
        var refused = 0
        for number in 1..<100 {
            let result = try await test.run(
                "workflow.yml", "--resume", "--log", "quiet",
                launcher: [
                    "strace", "-f", "-qq", "-o", "/dev/null", "-P", test.path(journal), "-e", "trace=read,pread64",
                    "-e", "inject=read,pread64:error=EIO:when=\(number)",
                ])
            #expect(try test.contents(of: "ledger") == ledger)
            #expect(try test.contents(of: journal) == bytes)
            if result.status == .exited(0) { break }
            result.expect(exit: 125)
            #expect(result.stderr.contains("the journal of the run `\(run)`: input/output error"))
            refused = number
        }
        #expect(refused > 3)
    }

    @Test(arguments: [true, false])
    func `what a detached step has left outlives a run that is killed, and is taken over`(isKilled: Bool) async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              server: { detach: true, run: "sleep 9999 > /dev/null 2>&1 &" }
              user:
                needs: [server]
                run: |
                  test -e ok && exit 0
                  until grep -q 'step.started","step":"user"' .flowrun/runs/*/journal.jsonl; do :; done
                  echo up > up
                  read _ < go
                  exit 1
            """)
        let gate = try test.gate("go")
        let running = try await test.start("workflow.yml")
        try await running.waitForFile("up")
        if isKilled { try test.signal(running.runner, SIGKILL) } else { gate.open() }
        _ = try await running.finish()
        #expect(test.survivors().count == 1)
        try test.write("", to: "ok")
        let result = try await test.runLogged("--resume")
        result.expect(exit: 0)
        #expect(try result.log().decisions == ["server": "restored", "user": isKilled ? "unfinished" : "outcome"])
        #expect(test.survivors().count == 1)
        try test.killSurvivors()
    }
}
