import FlowrunTestSupport
import Foundation
import Testing

/// `--dry-run` with `--resume` and `--from`: which steps would be taken over, and why the rest would run.
struct ResumeDryRunTests {
    private static let workflow = """
        version: 1
        params: { level: { type: int, default: 1 } }
        vars: { now: { run: 'echo asked >> ran; date +%s' } }
        steps:
          make: { outputs: { id: string }, run: 'echo make >> ran; echo id=7 >> "$FLOWRUN_OUTPUT"' }
          test: { needs: [make], env: { ID: "${{ steps.make.outputs.id }}" }, run: 'echo "test $ID" >> ran' }
          level: { run: 'echo "level $level" >> ran' }
          group:
            needs: [make]
            outputs: { o: "${{ steps.inner.outputs.o }}" }
            steps: { inner: { outputs: { o: string }, run: 'echo o=1 >> "$FLOWRUN_OUTPUT"' } }
          after-group: { needs: [group], env: { O: "${{ steps.group.outputs.o }}" }, run: 'echo "$O" >> ran' }
          list: { outputs: { l: { type: lines, from: stdout } }, run: 'echo x; echo y' }
          copies: { needs: [list], for-each: "${{ steps.list.outputs.l }}", run: 'true' }
          known: { for-each: [a, b], run: 'true' }
          joined: { needs: [known, make] }
          behind: { needs: [joined], run: 'true' }
          long: { run: 'seq 1 9000' }
          reader: { needs: [long], stdin: "${{ steps.long.stdout }}", run: 'cksum > sum' }
          flaky: { continue-on-error: true, run: 'exit 4' }
          behind-flaky: { needs: { flaky: done }, run: 'true' }
          never: { if: "params.level > 5", run: 'true' }
          release:
            needs: [test]
            steps:
              deploy: { run: 'echo deploy >> ran' }
              verify: { needs: [deploy], run: 'test -e ok' }
            on-failure: { rollback: { run: 'true' } }
          stamp: { env: { NOW: "${{ vars.now }}" }, run: 'echo "$NOW" > stamp' }
          last: { needs: [fail], run: 'true' }
          fail: { needs: [level], run: 'test -e ok' }
        """

    /// Everything in a folder: names and contents of files.
    private func contents(_ test: FlowrunTest) throws -> [String: Data?] {
        let names = try #require(FileManager.default.enumerator(atPath: test.folder)).compactMap { $0 as? String }
        return Dictionary(uniqueKeysWithValues: names.map { ($0, FileManager.default.contents(atPath: test.path($0))) })
    }

    /// By step: `restored`, the reason to run again, `runs`, or `open`.
    private func forecast(_ test: FlowrunTest, _ options: [String]) async throws -> [String: String] {
        let before = try contents(test)
        let answer = try await test.start(["workflow.yml", "--dry-run", "--log", "json"] + options).finish()
        answer.expect(exit: 0)
        #expect(try contents(test) == before)
        let plan = try JSONDecoder().decode(JSONValue.self, from: Data(answer.stdout.utf8))
        var forecast: [String: String] = [:]
        for step in try #require(plan["steps"]?.array) {
            guard let id = step["id"]?.string, step["skipped"]?.bool == false else { continue }
            switch step["restored"]?.bool {
            case true?: forecast[id] = "restored"
            case false?: forecast[id] = step["reason"]?.string ?? "runs"
            case nil: forecast[id] = "open"
            }
        }
        return forecast
    }

    @Test(arguments: [
        ("", "", []),
        ("echo make >>", "echo make  >>", []),
        ("needs: [long], stdin", "needs: [long, level], stdin", []),
        ("", "", ["--from", "make"]),
        ("", "", ["--from", "group.inner"]),
        ("default: 1", "default: 2", []),
        ("[a, b]", "[a, b, c]", []),
        ("seq 1 9000", "seq 1 9001", []),
        ("on-failure: { rollback: { run", "on-failure: { rollback: { undoes: [], run", []),
    ])
    func `it says what the run then does, and changes nothing`(
        part: String, change: String, options: [String]
    ) async throws {
        let test = try FlowrunTest(Self.workflow)
        try await test.run("workflow.yml").expect(exit: 1)
        if !part.isEmpty {
            try test.write(Self.workflow.replacing(part, with: change, maxReplacements: 1), to: "workflow.yml")
        }
        try test.write("", to: "ok")
        let forecast = try await forecast(test, ["--resume"] + options)
        let result = try await test.start(["workflow.yml", "--log", "json", "--resume"] + options).finish()
        result.expect(exit: 0)
        let decisions = try result.log().decisions
        #expect(decisions.values.contains("restored"))
        for (step, word) in forecast where word != "open" {
            #expect(decisions[step] ?? "runs" == word, "\(step)")
        }
        // Only steps that a command of `vars` decides, copies of a list and hooks are open.
        let open = Set(forecast.filter { $0.value == "open" }.keys)
        #expect(open.subtracting(["copies[*]", "copies[x]", "copies[y]"]) == ["stamp", "release.on-failure.rollback"])
    }

    @Test
    func `a condition of values that only the run makes leaves open what it decides, one of restored values does not`()
        async throws
    {
        let test = try FlowrunTest(
            """
            version: 1
            vars: { word: { run: cat value } }
            steps:
              a: { outputs: { v: string }, run: 'echo "v=$(cat value)" >> "$FLOWRUN_OUTPUT"' }
              c: { if: vars.word == 'one', run: ":" }
              g: { needs: [a], if: steps.a.outputs.v == 'two', steps: { x: { run: ":" } } }
              h: { needs: [g], run: ":" }
              last: { needs: [c, h], run: test -e ok }
            """, files: ["value": "one"])
        try await test.run("workflow.yml").expect(exit: 1)
        #expect(
            try await forecast(test, ["--resume"]) == [
                "a": "restored", "c": "open", "h": "restored", "last": "outcome",
            ])
    }

    @Test func `the text form names the run, what is taken over, and what a hook has undone`() async throws {
        let test = try FlowrunTest(Self.workflow)
        try await test.run("workflow.yml").expect(exit: 1)
        let run = try FileManager.default.contentsOfDirectory(atPath: test.path(".flowrun/runs"))[0]
        let answer = try await test.run("workflow.yml", "-n", "--resume")
        answer.expect(exit: 0, stderr: "")
        for line in [
            "\n# resuming \(run): ",
            "\n# warning: the hook `release.on-failure.rollback` has started since: `release.deploy`",
            "\n# reader: restored\n", "\n# fail (workflow.yml:31)\n# runs again: it had not succeeded\ntest -e ok\n",
            "\n# runs again: a hook has undone it\necho deploy >> ran\n",
            "\n# the run decides whether it is restored\n# env: NOW='<vars.now>' now='<vars.now>'\n",
            // What is restored has values.
            "\n# copies[x] (", "\n# test: restored\n",
        ] {
            #expect(answer.stdout.contains(line), "\(line)")
        }
        let other = try await test.run("workflow.yml", "-n", "--resume", "level")
        other.expect(exit: 0)
        other.expect(stdout: "# warning: there is no run of the same targets to resume")
        #expect(!other.stdout.contains("restored\n"))
        try await test.run("workflow.yml", "-n", "--resume=20260101T000000-aaaaaa").expect(exit: 1, stdout: "")
        try await test.run("workflow.yml", "-n", "--from", "nothing").expect(exit: 64, stdout: "")
    }

    @Test func `without any state everything would run, and none is made`() async throws {
        let test = try FlowrunTest(Self.workflow)
        let answer = try await test.run("workflow.yml", "--dry-run", "--resume")
        answer.expect(exit: 0)
        answer.expect(stdout: "# warning: there is no run to resume: everything runs\n")
        #expect(!test.exists(".flowrun") && !test.exists("ran"))
    }

    @Test func `what reads a group with copies of a list that the run makes is left open`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                outputs: { w: "${{ steps.f.items.*.outcome }}" }
                steps:
                  l: { run: 'printf "b\\na\\n"', outputs: { l: { type: lines, from: stdout } } }
                  f: { needs: [l], for-each: "${{ steps.l.outputs.l }}", run: 'echo $item' }
              h: { needs: [g], if: "len(steps.g.outputs.w) == 2", run: echo h }
              i: { needs: [g], run: [echo, "${{ steps.g.outputs.w }}"] }
              z: { needs: [h, i], run: 'test -e ok' }
            """)
        try await test.run("workflow.yml").expect(exit: 1)
        let shown = try await test.run("workflow.yml", "--resume", "-n")
        #expect(!shown.stdout.contains("skipped"))
        shown.expect(stdout: "echo '<steps.g.outputs.w>'")
    }

    @Test func `a step that waits for a failure does not make what follows run again`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: echo a }
              b: { needs: { a: failure }, run: echo b }
              c: { needs: [b], run: echo c }
              z: { run: 'test -e ok' }
            """)
        try await test.run("workflow.yml").expect(exit: 1)
        let forecast = try await forecast(test, ["--resume"])
        #expect(forecast["c"] != "runs" && forecast["c"]?.contains("upstream") != true)
    }
}
