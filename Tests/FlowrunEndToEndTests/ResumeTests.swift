import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// `--resume` and `--from`: what is taken over from a run before, and why the rest runs again.
struct ResumeTests {
    private static let chain = """
        version: 1
        params: { level: { type: int, default: 1 }, other: { type: int, default: 1 } }
        steps:
          make:
            outputs: { id: string, list: list }
            run: 'echo make >> ran; printf "id=x 1\\nlist=[1,\\"b\\"]\\n" >> "$FLOWRUN_OUTPUT"'
          test: { needs: [make], env: { ID: "${{ steps.make.outputs.id }}" }, run: 'echo "test $ID" >> ran' }
          level: { run: 'echo "level $level" >> ran' }
          fail: { needs: [test], run: 'echo fail >> ran; test -e ok' }
          after: { needs: [fail], run: 'echo after >> ran' }
        """

    private func resume(_ test: FlowrunTest, _ options: String...) async throws -> EventLog {
        let result = try await test.start(["workflow.yml", "--log", "json", "--resume"] + options).finish()
        result.expect(exit: 0)
        return try result.log()
    }

    private func takeRan(_ test: FlowrunTest) throws -> [String] {
        guard test.exists("ran") else { return [] }
        defer { try? FileManager.default.removeItem(atPath: test.path("ran")) }
        return try test.contents(of: "ran").split(separator: "\n").map(String.init).sorted()
    }

    @Test func `after a failure only what has not succeeded runs, with the outputs of the rest`() async throws {
        let test = try FlowrunTest(Self.chain)
        try await test.run("workflow.yml").expect(exit: 1)
        #expect(try takeRan(test) == ["fail", "level 1", "make", "test x 1"])
        try test.write("", to: "ok")
        let log = try await resume(test)
        #expect(try takeRan(test) == ["after", "fail"])
        #expect(
            log.decisions == ["make": "restored", "test": "restored", "level": "restored", "fail": "outcome"])
        let restored = try #require(log.all("step.restored").first { $0.step == "make" })
        #expect(restored["outputs"]?["id"]?.string == "x 1")
        #expect(restored["outputs"]?["list"]?.array?.count == 2)
        // And once more: nothing is left to do.
        let again = try await resume(test)
        #expect(try takeRan(test) == [])
        #expect(again.decisions.values.allSatisfy { $0 == "restored" })
        let text = try await test.run("workflow.yml", "--resume")
        text.expect(stdout: ", resuming 2", "restored", "success in")
        try await test.ask("why", "after").expect(exit: 0, stdout: "after: success\n")
        #expect(try await test.ask("replay").stdout == text.stdout)
    }

    @Test(arguments: [
        (#"echo make >> ran"#, #"echo make  >> ran"#, ["make", "test x 1"]),
        (#"env: { ID:"#, #"env: { NEW: "1", ID:"#, ["test x 1"]),
        (#"level: { run"#, #"level: { shell: sh, run"#, ["level 1"]),
        (#"level: { run"#, #"level: { working-directory: ., run"#, ["level 1"]),
        (#"level: { run"#, #"level: { stdin: x, run"#, ["level 1"]),
        (#"level: { run"#, #"level: { streams: separate, run"#, ["level 1"]),
        (#"level: { run"#, #"level: { detach: true, run"#, ["level 1"]),
        (#"level: { run"#, #"level: { needs: [make], run"#, ["level 1"]),
        (#"test: { needs: [make],"#, #"test: { needs: { make: success },"#, ["test x 1"]),
        (#"level: { run"#, #"level: { if: success(), run"#, ["level 1"]),
        (#"test: { needs: [make],"#, #"test: { needs: [make], if: steps.make.outputs.id == 'x 1',"#, ["test x 1"]),
        (#"test: { needs: [make],"#, #"test: { needs: [make], if: params.level == 1,"#, []),
        (#"level: { run"#, #"level: { timeout: 9m, grace: 3s, name: N, description: D, run"#, []),
        (#"level: { run"#, #"level: { retry: { attempts: 2 }, kill-signal: INT, mutex: m, log: quiet, run"#, []),
        (#"version: 1"#, "# a comment\nversion: 1", []),
        (#"default: 1 }, other: { type: int, default: 1 }"#, #"default: 1 }, other: { type: int, default: 2 }"#, []),
        (#"level: { type: int, default: 1 }"#, #"level: { type: int, default: 7 }"#, ["level 7"]),
    ])
    func `a step runs again if its definition or its needs have changed, with what is behind it`(
        part: String, change: String, ran: [String]
    ) async throws {
        let test = try FlowrunTest(Self.chain, files: ["ok": ""])
        try await test.run("workflow.yml").expect(exit: 0)
        _ = try takeRan(test)
        let changed = Self.chain.replacingOccurrences(of: part, with: change)
        #expect(changed != Self.chain)
        try test.write(changed, to: "workflow.yml")
        let log = try await resume(test)
        // What is behind `test` runs again with it.
        let behind = ran.contains("test x 1") ? ["after", "fail"] : []
        #expect(try takeRan(test) == (ran + behind).sorted())
        let reasons = Set(log.decisions.values).subtracting(["restored"])
        #expect(reasons == (ran.isEmpty ? [] : behind.isEmpty ? ["definition"] : ["definition", "upstream"]))
    }

    @Test func `another surrounding, order and folder make no difference`() async throws {
        let test = try FlowrunTest(Self.chain, files: ["ok": "", "sub/x": ""])
        try await test.run("workflow.yml").expect(exit: 0)
        _ = try takeRan(test)
        let lines = Self.chain.split(separator: "\n").map(String.init)
        let level = try #require(lines.first { $0.contains("level: { run") })
        let moved = lines.filter { $0 != level } + [level]
        try test.write(moved.joined(separator: "\n") + "\n", to: "workflow.yml")
        let result = try await test.start(
            ["../workflow.yml", "--log", "json", "--resume", "-j", "1"],
            environment: ["LANG": "C", "TZ": "Asia/Tokyo", "EXTRA": "1"], in: "sub"
        ).finish()
        result.expect(exit: 0)
        #expect(try takeRan(test) == [])
    }

    @Test func `--from runs a step and all behind it again`() async throws {
        let test = try FlowrunTest(Self.chain, files: ["ok": ""])
        try await test.run("workflow.yml").expect(exit: 0)
        _ = try takeRan(test)
        let log = try await resume(test, "--from", "fail")
        #expect(try takeRan(test) == ["after", "fail"])
        #expect(log.decisions["fail"] == "asked" && log.decisions["after"] == "upstream")
        try await test.run("workflow.yml", "--from", "nothing").expect(exit: 64, stdout: "")
    }

    @Test func `--from names an instance, or a member of all instances, as the command line does`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              list: { run: 'echo a; echo b', outputs: { l: { type: lines, from: stdout } } }
              late: { needs: [list], for-each: "${{ steps.list.outputs.l }}", steps: { one: { run: ':' }, two: { run: ':' } } }
              known: { for-each: [a, b], run: ':' }
            """)
        try await test.run("workflow.yml").expect(exit: 0)
        func rerun(_ name: String) async throws -> Set<String> {
            Set(try await resume(test, "--from", name).decisions.filter { $0.value == "asked" }.keys)
        }
        #expect(try await rerun("late.one") == ["late[a].one", "late[b].one"])
        #expect(try await rerun("late[b].one") == ["late[b].one"])
        #expect(try await rerun("late[a]") == ["late[a].one", "late[a].two"])
        #expect(try await rerun("known") == ["known[a]", "known[b]"])
        #expect(try await rerun("known[a]") == ["known[a]"])
        for wrong in ["late.none", "late[a].none", "known[c]"] {
            try await test.run("workflow.yml", "--from", wrong).expect(exit: 64, stdout: "")
        }
    }

    @Test func `without a run to resume everything runs, and that is said`() async throws {
        let test = try FlowrunTest(Self.chain, files: ["ok": ""])
        let log = try await resume(test)
        #expect(log.first("warning")?["code"]?.string == "resume")
        #expect(log.decisions == [:])
        let unknown = try await test.run("workflow.yml", "--resume=20260101T000000-aaaaaa")
        unknown.expect(exit: 1, stdout: "")
        unknown.expect(stderr: "has no journal of a run `20260101T000000-aaaaaa` of this file")
        try await test.run("workflow.yml", "--resume=../..").expect(exit: 1, stdout: "")
    }

    @Test func `fan-outs, groups that are tried again, hooks, tolerated failures and standard output`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              list: { outputs: { names: list }, run: 'echo list >> ran; echo ''names=["a","b c"]'' >> "$FLOWRUN_OUTPUT"' }
              each:
                needs: [list]
                for-each: ${{ steps.list.outputs.names }}
                steps:
                  one: { run: 'echo "one $item" >> ran' }
                  two: { needs: [one], run: 'echo "two $item" >> ran; test -e ok || test "$item" = a' }
              round:
                retry: { attempts: 2 }
                steps:
                  first: { run: 'echo "first $FLOWRUN_ROUND" >> ran' }
                  second: { needs: [first], run: 'echo "second $FLOWRUN_ROUND" >> ran; test "$FLOWRUN_ROUND" = 1' }
                finally: { clean: { undoes: [], run: echo clean >> ran } }
              says: { run: 'echo says >> ran; printf "out\\0put\\n"' }
              hears: { needs: [says, each], stdin: "${{ steps.says.stdout }}", run: 'echo "hears $(od -An -c | tr -d " ")" >> ran' }
              soft: { continue-on-error: true, run: 'echo soft >> ran; exit 1' }
              hard: { needs: [soft], run: 'echo hard >> ran' }
              temp: { run: 'echo temp >> ran; echo > "$FLOWRUN_TEMP/x"' }
            finally: { end: { undoes: [], run: echo end >> ran } }
            """)
        try await test.run("workflow.yml").expect(exit: 1)
        _ = try takeRan(test)
        try test.write("", to: "ok")
        let log = try await resume(test)
        #expect(
            try takeRan(test) == [
                "clean", "end", #"hears out\0put\n"#, "soft", "temp", "two b c",
            ])
        #expect(log.decisions["each[a].one"] == "restored" && log.decisions["round.second"] == "restored")
        #expect(log.decisions["temp"] == "result" && log.decisions["soft"] == "outcome")
        #expect(log.decisions["hard"] == "restored")
        // A second one has the standard output out of the first one's journal.
        try test.write(
            try test.contents(of: "workflow.yml").replacingOccurrences(of: "echo \"hears", with: "echo \"hears again"),
            to: "workflow.yml")
        _ = try await resume(test)
        #expect(try takeRan(test).contains(#"hears again out\0put\n"#))
    }

    @Test func `a step that hands on a secret is not taken over, and no other secret stops that`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            secrets: { TOKEN: { env: TOKEN } }
            steps:
              leak: { secrets: [TOKEN], outputs: { t: string }, run: 'echo leak >> ran; echo "t=$TOKEN" >> "$FLOWRUN_OUTPUT"' }
              uses: { secrets: [TOKEN], run: 'echo uses >> ran' }
            """)
        try await test.run("workflow.yml", environment: ["TOKEN": "first-secret-value"]).expect(exit: 0)
        _ = try takeRan(test)
        let result = try await test.run(
            "workflow.yml", "--resume", "--log", "json", environment: ["TOKEN": "second-secret-value"])
        #expect(try takeRan(test) == ["leak"])
        #expect(try result.log().decisions == ["leak": "result", "uses": "restored"])
    }

    @Test func `the environment tells attempt, round and a key that stays over resumes`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a:
                retry: { attempts: 2 }
                run: 'echo "$FLOWRUN_ATTEMPT $FLOWRUN_ROUND $FLOWRUN_IDEMPOTENCY_KEY" >> ran; test -e ok'
            """)
        try await test.run("workflow.yml").expect(exit: 1)
        try test.write("", to: "ok")
        _ = try await resume(test)
        let lines = try test.contents(of: "ran").split(separator: "\n").map { $0.split(separator: " ") }
        #expect(lines.map { $0[0] } == ["1", "2", "1"])
        #expect(Set(lines.map { $0[2] }).count == 1 && lines[0][2].hasSuffix("/a"))
        try await test.run("workflow.yml").expect(exit: 0)
        let other = try #require(try test.contents(of: "ran").split(separator: "\n").last?.split(separator: " ").last)
        #expect(other != lines[0][2])
    }

    /// Runs until a file exists, and kills the run so that none of its own processes can end the others. The file
    /// `second` exists once the run is dead.
    private func leaveBehind(_ test: FlowrunTest, until file: String, launcher: [String] = []) async throws {
        let killed = try await test.start("workflow.yml", launcher: launcher)
        try await killed.waitForFile(file)
        try await killed.waitForJournal()
        try killed.killAll()
        _ = try await killed.finish()
        try test.write("", to: "second")
    }

    @Test func `what a dead run has left is gone before anything of the next one starts`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              done: { run: 'echo done >> ran' }
              late:
                needs: [done]
                run: |
                  test -e second && exit 0
                  until grep -q 'step.started","step":"late"' .flowrun/runs/*/journal.jsonl; do :; done
                  echo $PPID > up
                  trap "" TERM
                  while :; do echo late >> ran; sleep 0.02; done
            """)
        try await leaveBehind(test, until: "up")
        let log = try await resume(test)
        #expect(log.decisions == ["done": "restored", "late": "unfinished"])
        let ran = try test.contents(of: "ran")
        #expect(test.survivors().isEmpty)
        #expect(try test.contents(of: "ran") == ran)
        #expect(ran.split(separator: "\n").count { $0 == "done" } == 1)
    }

    /// Runs with one job: first all but `held` and what is behind it; then, with `change` made, until `held` waits, where it
    /// is killed as often as wanted; then to the end. Returns the last log.
    private func log(
        killing test: FlowrunTest, times: Int, after change: () throws -> Void = {}
    ) async throws -> EventLog {
        try await test.run("workflow.yml", "-j", "1").expect(exit: 1)
        try change()
        try test.write("", to: "wait")
        for _ in 0..<times {
            let gate = try test.gate("go")
            let killed = try await test.start("workflow.yml", "-j", "1", "--resume")
            let runner = Int32(try await killed.waitForLines(in: "up")[0])
            try test.signal(runner, SIGKILL)
            _ = try await killed.finish()
            withExtendedLifetime(gate) {}
            for name in ["up", "go"] { try FileManager.default.removeItem(atPath: test.path(name)) }
        }
        for name in ["wait", "ran"] { try FileManager.default.removeItem(atPath: test.path(name)) }
        try test.write("", to: "ok")
        return try await resume(test, "-j", "1")
    }

    private static let held = """
        version: 1
        steps:
          make: { run: 'echo make >> ran' }
          held:
            needs: [make]
            run: |
              test -e wait || exec test -e ok
              until grep -q 'started.*held' .flowrun/runs/$FLOWRUN_RUN/journal.jsonl; do :; done
              echo $PPID > up
              read _ < go
          next: { needs: [held], run: 'true' }
          last: { needs: [next], run: 'true' }
          beside: { needs: [make], run: 'echo beside >> ran' }
          other: { run: 'printf out | tee -a ran' }
          reader: { needs: [other, last], stdin: "${{ steps.other.stdout }}", run: 'cat >> ran' }
        """

    // F48
    @Test(arguments: [1, 3])
    func `what a killed run had not come to is taken over from the run before it`(times: Int) async throws {
        let test = try FlowrunTest(Self.held)
        let log = try await log(killing: test, times: times)
        #expect(
            log.decisions == ["make": "restored", "beside": "restored", "other": "restored", "held": "unfinished"])
        #expect(try test.contents(of: "ran") == "out")
    }

    @Test func `what had not run again behind a step that did, because the run was killed, runs again`() async throws {
        let test = try FlowrunTest(Self.held)
        let log = try await log(killing: test, times: 2) {
            try test.write(Self.held.replacingOccurrences(of: "echo make", with: "echo made"), to: "workflow.yml")
        }
        #expect(
            log.decisions == ["make": "restored", "beside": "upstream", "other": "restored", "held": "unfinished"])
        #expect(try takeRan(test) == ["beside", "out"])
    }

    // F11, F49
    @Test func `what a dead run has left is found by its mark, whatever has become of its environment`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps: { late: { run: "test -e second && exit 0; echo $PPID > up; exec ./tree scrub stay tree.up" } }
            """)
        try test.addTreeGenerator()
        try await leaveBehind(test, until: "tree.up")
        #expect(!test.treeSurvivors().isEmpty)
        _ = try await resume(test)
        #expect(test.treeSurvivors() == [])
    }

    static let cannotRunAsAnother: Comment? = {
        var status = statvfs()
        let folder = FileManager.default.temporaryDirectory.path
        guard UnkillableTests.canDropRights else { return "needs to be root, and setpriv" }
        let isPlain = statvfs(folder, &status) == 0 && status.f_flag & UInt(ST_NOSUID) == 0
        return isPlain ? nil : "programs in the folder for temporary files do not run as another user"
    }()

    @Test(.enabled(if: cannotRunAsAnother == nil, cannotRunAsAnother))
    func `what a dead run has left is found also where it has become another user's`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              late:
                run: |
                  test -e second && exit 0
                  echo $PPID > up
                  exec ./keep -p -c 'echo > kept; read _ < go'
            """)
        let gate = try test.gate("go")
        let keep = test.path("keep")
        let shell = URL(filePath: "/bin/sh").resolvingSymlinksInPath()
        try FileManager.default.copyItem(at: shell, to: URL(filePath: keep))
        #expect(chmod(keep, 0o4755) == 0 && chmod(test.folder, 0o777) == 0)
        let asNobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        try await leaveBehind(test, until: "kept", launcher: asNobody)
        // The killed runner may still be on its way out.
        #expect(test.survivors().contains { $0.contains("./keep") })
        let result = try await test.run("workflow.yml", "--log", "json", "--resume", launcher: asNobody)
        result.expect(exit: 0)
        #expect(!test.survivors().contains { $0.contains("./keep") })
        withExtendedLifetime(gate) {}
    }

    @Test(
        .enabled(if: FaultTests.hasStrace, "strace is not installed"),
        arguments: [
            ("openat:error=EMFILE", "too many open files"), ("getdents64:error=EIO", "input/output error"),
        ])
    func `a run that cannot look for what a dead run has left does not start`(
        fault: String, words: String
    ) async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              late: { run: 'echo ran >> ran; test -e second && exit 0; echo $PPID > up; echo > kept; read _ < go' }
            """)
        let gate = try test.gate("go")
        try await leaveBehind(test, until: "kept")
        let run = try #require(try FileManager.default.contentsOfDirectory(atPath: test.path(".flowrun/runs")).first)
        let call = fault.prefix { $0 != ":" }
        let result = try await test.run(
            "workflow.yml", "--resume",
            launcher: ["strace", "-f", "-o", "trace", "-P", "/proc", "-e", "trace=\(call)", "-e", "inject=\(fault)"])
        result.expect(exit: 125)
        #expect(result.stderr.contains("cannot look for what is left of the run `\(run)`: \(words)"))
        #expect(try test.contents(of: "trace").contains("(INJECTED)"))
        #expect(try test.contents(of: "ran") == "ran\n")
        _ = try await resume(test)
        #expect(test.survivors() == [])
        withExtendedLifetime(gate) {}
    }

    @Test func `a torn end is put aside, and only by a run that resumes`() async throws {
        let test = try FlowrunTest(Self.chain)
        try await test.run("workflow.yml").expect(exit: 1)
        let runs = try FileManager.default.contentsOfDirectory(atPath: test.path(".flowrun/runs"))
        let path = ".flowrun/runs/\(runs[0])/journal.jsonl"
        let whole = try test.contents(of: path)
        let torn = whole + #"{"v":1,"seq":99,"ti"#
        try test.write(torn, to: path)
        for command in [["why", "fail"], ["runs"], ["replay"], ["check", "workflow.yml"], ["plan", "workflow.yml"]] {
            _ = try await test.start(command).finish()
            #expect(try test.contents(of: path) == torn)
            #expect(!test.exists(path + ".torn"))
        }
        try test.write("", to: "ok")
        _ = try await resume(test)
        #expect(try test.contents(of: path) == whole)
        #expect(try test.contents(of: path + ".torn") == #"{"v":1,"seq":99,"ti"#)
    }
}
