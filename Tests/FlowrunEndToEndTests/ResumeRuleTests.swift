import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// The steps that a resumed run takes over: how needs, hooks that undo, and tolerated failures decide.
struct ResumeRuleTests {
    /// Runs a workflow that fails, writes another text to its file, makes the file `ok`, and resumes. Returns the log
    /// of the last run.
    private func log(of text: String, then next: String? = nil) async throws -> EventLog {
        let test = try FlowrunTest(text)
        try await test.run("workflow.yml").expect(exit: 1)
        try test.write(next ?? text, to: "workflow.yml")
        try test.write("", to: "ok")
        let result = try await test.runLogged("--resume")
        result.expect(exit: 0)
        return try result.log()
    }

    private func warnings(_ log: EventLog) -> [String] {
        log.all("warning").filter { $0["code"]?.string == "undone" }.compactMap { $0["message"]?.string }
    }

    // MARK: Hooks

    private static func release(_ hooks: String) -> String {
        """
        version: 1
        steps:
          before: { run: ":" }
          release:
            needs: [before]
            steps:
              deploy: { run: echo new > live }
              verify: { needs: [deploy], run: ":" }
            \(hooks)
          after: { needs: { release: done }, run: ":" }
          last: { needs: [after], run: test -e ok }
        """
    }

    private static let again = ["release.deploy": "undone", "release.verify": "undone", "after": "upstream"]
    private static let kept = ["release.deploy": "restored", "release.verify": "restored", "after": "restored"]

    @Test(arguments: [
        (#"finally: { back: { run: echo old > live } }"#, again),
        (
            #"finally: { back: { undoes: [deploy], run: echo old > live } }"#,
            ["release.deploy": "undone", "release.verify": "upstream", "after": "upstream"]
        ),
        (
            #"finally: { back: { undoes: [verify], run: ":" } }"#,
            ["release.deploy": "restored", "release.verify": "undone", "after": "upstream"]
        ),
        (#"finally: { tell: { undoes: [], run: ":" } }"#, kept),
        (#"finally: { tell: { undoes: [], run: ":" }, back: { run: ":" } }"#, again),
        (#"finally: { all: { undoes: [], steps: { tell: { run: ":" }, say: { run: ":" } } } }"#, kept),
        (
            #"finally: { all: { undoes: [], steps: { tell: { run: ":" }, back: { undoes: [deploy], run: ":" } } } }"#,
            ["release.deploy": "undone", "release.verify": "upstream", "after": "upstream"]
        ),
        (#"finally: { all: { steps: { tell: { run: ":" } }, finally: { in: { undoes: [], run: ":" } } } }"#, again),
        (#"finally: { each: { for-each: [a, b], undoes: [], run: ":" } }"#, kept),
        (#"finally: { each: { for-each: [a, b], run: ":" } }"#, again),
        (#"finally: { not: { if: failure(), run: ":" } }"#, kept),
        (#"on-failure: { not: { run: ":" } }"#, kept),
        (#"finally: { back: { continue-on-error: true, run: exit 1 } }"#, again),
        (#"finally: { back: { continue-on-error: true, run: [no-such-program] } }"#, kept),
    ])
    func `a hook that started has undone what it belongs to, unless it says what it undoes`(
        hooks: String, decisions: [String: String]
    ) async throws {
        let log = try await log(of: Self.release(hooks))
        #expect(log.decisions.filter { $0.key != "last" && $0.key != "before" } == decisions)
        #expect(log.decisions["before"] == "restored" && log.decisions["last"] == "outcome")
        let hasUndone = decisions.values.contains("undone")
        #expect(warnings(log).count == (hasUndone ? 1 : 0))
        for message in warnings(log) {
            #expect(message.contains("release.finally.") && message.contains("`undoes: []`"))
        }
        for (step, decision) in decisions where hasUndone {
            #expect(warnings(log)[0].contains("`\(step)`") == (decision == "undone"))
        }
        #expect(log.first("warning").map { $0["seq"]?.int == 1 } ?? !hasUndone)
    }

    @Test func `all hooks that have undone a step are named, and one step is one`() async throws {
        let two = try await log(
            of: """
                version: 1
                steps: { a: { run: ":" }, last: { needs: [a], run: test -e ok } }
                finally: { one: { run: ":" }, two: { needs: [one], run: ":" }, three: { undoes: [], run: ":" } }
                """)
        let end = "; a hook that undoes nothing says `undoes: []`, one that undoes less than its body `undoes: [ids]`"
        #expect(
            warnings(two) == [
                "the hooks `finally.two` and `finally.one` have started since: `a` will run again, with all that needs it"
                    + end
            ])
        let one = try await log(
            of: """
                version: 1
                steps: { a: { run: ":" }, b: { run: ":" }, last: { needs: [a, b], run: test -e ok } }
                finally: { one: { undoes: [a, b], run: ":" }, two: { needs: [one], undoes: [b], run: ":" } }
                """)
        #expect(
            warnings(one) == [
                "the hook `finally.one` has started since: `a` will run again, with all that needs it" + end,
                "the hooks `finally.two` and `finally.one` have started since: `b` will run again, with all that needs it"
                    + end,
            ])
    }

    @Test func `a resume leaves live what the last run has deployed`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              release:
                steps:
                  deploy: { run: echo new > live }
                  verify: { needs: [deploy], run: test -e ok }
                on-failure: { rollback: { run: echo old > live } }
            """)
        try await test.run("workflow.yml").expect(exit: 1)
        #expect(try test.contents(of: "live") == "old\n")
        try test.write("", to: "ok")
        let result = try await test.runLogged("--resume")
        result.expect(exit: 0)
        #expect(try test.contents(of: "live") == "new\n")
        #expect(try result.log().decisions == ["release.deploy": "undone", "release.verify": "outcome"])
    }

    @Test func `the hooks of the workflow undo all of it, also after a success`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              make: { run: "echo 1 > db" }
              group: { needs: [make], steps: { use: { run: cat db } }, finally: { tell: { undoes: [], run: ":" } } }
            finally: { clean: { run: rm -f db } }
            """)
        for _ in 0..<2 {
            try await test.run("workflow.yml").expect(exit: 0)
            let result = try await test.runLogged("--resume")
            result.expect(exit: 0)
            #expect(try result.log().decisions == ["make": "undone", "group.use": "undone"])
            #expect(!test.exists("db"))
        }
    }

    @Test func `a hook of a copy undoes that copy, one in the group around all of them`() async throws {
        func text(_ inner: String, _ outer: String) -> String {
            """
            version: 1
            steps:
              list: { run: 'echo x.1; echo y', outputs: { l: { type: lines, from: stdout } } }
              g:
                needs: [list]
                steps:
                  late:
                    for-each: ${{ steps.list.outputs.l }}
                    steps: { one: { run: ":" }, two: { for-each: [p, q], run: ":" } }
                    finally: { back: { if: "item == 'x.1'", \(inner) run: ":" } }
                  known: { for-each: [a, b], run: ":" }
                finally: { out: { \(outer) run: ":" } }
              last: { needs: [g], run: test -e ok }
            """
        }
        let inner = try await log(of: text("", "undoes: [],"))
        #expect(
            inner.decisions.filter { $0.value == "undone" }.keys.sorted()
                == ["g.late[x.1].one", "g.late[x.1].two[p]", "g.late[x.1].two[q]"])
        #expect(warnings(inner).count == 1 && warnings(inner)[0].contains("`g.late[x.1].two[q]`"))
        let part = try await log(of: text("undoes: [two],", "undoes: [known],"))
        #expect(
            part.decisions.filter { $0.value == "undone" }.keys.sorted()
                == ["g.known[a]", "g.known[b]", "g.late[x.1].two[p]", "g.late[x.1].two[q]"])
        let outer = try await log(of: text("undoes: [],", "undoes: [late],"))
        #expect(outer.decisions.filter { $0.value == "undone" }.keys.allSatisfy { $0.hasPrefix("g.late[") })
        #expect(outer.decisions.filter { $0.value == "undone" }.count == 6)
        let all = try await log(of: text("undoes: [],", ""))
        #expect(all.decisions.filter { $0.value == "undone" }.count == 8)
    }

    @Test(arguments: [
        ("", ["g.a": "undone", "g.b": "undone"]), ("undoes: [], ", ["g.a": "restored", "g.b": "restored"]),
    ])
    func `a hook of an earlier round has undone that round`(undoes: String, decisions: [String: String]) async throws {
        let log = try await log(
            of: """
                version: 1
                steps:
                  g:
                    retry: { attempts: 2 }
                    steps: { a: { run: ":" }, b: { needs: [a], run: 'test "$FLOWRUN_ROUND" = 1' } }
                    finally: { early: { \(undoes)if: failure(), run: ":" }, each: { undoes: [], run: ":" } }
                  last: { needs: [g], run: test -e ok }
                """)
        // The hook belonged to the failure of the first round; the second round came after it.
        #expect(log.decisions.filter { $0.key != "last" } == ["g.a": "restored", "g.b": "restored"])
        let late = try await self.log(
            of: """
                version: 1
                steps:
                  g:
                    retry: { attempts: 2 }
                    steps: { a: { run: ":" }, b: { needs: [a], run: 'test "$FLOWRUN_ROUND" = 1' } }
                    finally: { each: { \(undoes)run: ":" } }
                  last: { needs: [g], run: test -e ok }
                """)
        #expect(late.decisions.filter { $0.key != "last" } == decisions)
    }

    @Test(arguments: [
        ("{ run: 'echo 1' }", "{ undoes: [], run: 'echo 1' }", "restored"),
        ("{ undoes: [], run: 'echo 1' }", "{ run: 'echo 1' }", "undone"),
        ("{ run: [echo, '1'] }", "{ undoes: [], run: [echo, '1'] }", "restored"),
        ("{ run: 'echo 1' }", "{ undoes: [], run: 'echo 2' }", "undone"),
        ("{ undoes: [], run: 'echo 1' }", "{ run: 'echo 2' }", "restored"),
        ("{ run: 'echo 1' }", nil, "undone"),
        ("{ undoes: [], run: 'echo 1' }", nil, "restored"),
    ])
    func `what a hook says now counts where its command is the same, else what it said when it started`(
        before: String, after: String?, decision: String
    ) async throws {
        func text(_ hook: String?) -> String {
            """
            version: 1
            steps: { a: { run: ":" }, last: { needs: [a], run: test -e ok } }
            \(hook.map { "finally: { h: \($0) }" } ?? "")
            """
        }
        let log = try await log(of: text(before), then: text(after))
        #expect(log.decisions["a"] == decision)
    }

    @Test func `a hook that was killed has undone what it belongs to, until that is done again`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              release:
                steps:
                  deploy: { run: 'test ! -e hold || { echo up > up; read _ < go; }; echo deploy >> ran' }
                  verify: { needs: [deploy], run: test -e ok }
                on-failure: { back: { run: 'test ! -e slow || { echo up > up; read _ < go; }' } }
              last: { needs: [release], run: test -e done }
            """, files: ["slow": ""])
        func kill(_ options: String...) async throws {
            let gate = try test.gate("go")
            let killed = try await test.start(["workflow.yml"] + options)
            try await killed.waitForFile("up")
            try test.signal(killed.runner, SIGKILL)
            _ = try await killed.finish()
            withExtendedLifetime(gate) {}
            for name in ["up", "go"] { try FileManager.default.removeItem(atPath: test.path(name)) }
        }
        try await kill()
        try FileManager.default.removeItem(atPath: test.path("slow"))
        // Killed once more before the step that was undone has run again.
        try test.write("", to: "hold")
        try await kill("--resume")
        try FileManager.default.removeItem(atPath: test.path("hold"))
        try test.write("", to: "ok")
        func decisions(exit: Int32) async throws -> [String: String] {
            let result = try await test.runLogged("--resume")
            result.expect(exit: exit)
            return try result.log().decisions
        }
        #expect(try await decisions(exit: 1) == ["release.deploy": "unfinished", "release.verify": "outcome"])
        // Now it counts as done, though the hook of two runs ago is known.
        #expect(try await decisions(exit: 1)["release.deploy"] == "restored")
        try test.write("", to: "done")
        #expect(
            try await decisions(exit: 0)
                == ["release.deploy": "restored", "release.verify": "restored", "last": "outcome"])
        #expect(try test.contents(of: "ran") == "deploy\ndeploy\n")
    }

    /// Runs under a tracer that delays each write, so that the runner is killed before the record that it writes once
    /// there is a process. The steps need `shell: sh`, since what flowrun has bash note is a write, too.
    private func runWithSlowWrites(_ test: FlowrunTest, delay: Int = 300_000, _ options: String...) async throws {
        _ = try await test.start(
            ["workflow.yml", "--log", "quiet"] + options,
            launcher: [
                "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=write", "-e",
                "inject=write:delay_enter=\(delay)",
            ]
        ).finish()
    }

    @Test(
        .enabled(if: FaultTests.hasStrace, "strace is not installed"),
        arguments: [("", "", "undone"), ("undoes: [], ", "", "undone"), ("", "undoes: [], ", "restored")])
    func `a kill at the first moment of a hook finds in the journal what the hook undoes, and its command`(
        before: String, after: String, decision: String
    ) async throws {
        func text(_ undoes: String) -> String {
            """
            version: 1
            defaults: { shell: sh }
            steps:
              release:
                steps: { deploy: { run: ":" } }
                finally: { back: { \(undoes)run: 'test -e ok || kill -9 $PPID' } }
            """
        }
        let test = try FlowrunTest(text(before))
        var isAtFirstMoment = false
        for delay in [300_000, 1_000_000, 4_000_000] where !isAtFirstMoment {
            try await runWithSlowWrites(test, delay: delay)
            isAtFirstMoment = try FileManager.default.contentsOfDirectory(atPath: test.path(".flowrun/runs"))
                .contains { run in
                    let journal = try test.contents(of: ".flowrun/runs/\(run)/journal.jsonl")
                    return journal.split(separator: "\n").last?.contains(#""event":"step.undoes""#) == true
                }
        }
        #expect(isAtFirstMoment)
        try test.write(text(after), to: "workflow.yml")
        try test.write("", to: "ok")
        let result = try await test.runLogged("--resume")
        result.expect(exit: 0)
        #expect(try result.log().decisions == ["release.deploy": decision])
    }

    @Test(.enabled(if: FaultTests.hasStrace, "strace is not installed"))
    func `a kill at the first moment of a step that runs again finds that its result is gone`() async throws {
        func text(_ run: String) -> String { "version: 1\nsteps: { a: { shell: sh, run: '\(run)' } }\n" }
        let test = try FlowrunTest(text("touch made"))
        try await test.run("workflow.yml").expect(exit: 0)
        try test.write(text("mv made gone; kill -9 $PPID"), to: "workflow.yml")
        try await runWithSlowWrites(test, "--resume")
        #expect(test.exists("gone"))
        try test.write(text("touch made"), to: "workflow.yml")
        let result = try await test.runLogged("--resume")
        #expect(try result.log().decisions == ["a": "unfinished"])
        #expect(test.exists("made"))
    }

    // MARK: Needs

    private static func graph(_ needs: String, group: String = "", member: String = "") -> String {
        """
        version: 1
        steps:
          a: { run: ":" }
          b: { run: ":" }
          g: { \(group) steps: { x: { run: ":" } \(member) } }
          c: { \(needs) run: ":" }
          last: { needs: [c], run: test -e ok }
        """
    }

    @Test(arguments: [
        (graph("needs: [a],"), graph("needs: [a, b],"), ["c": "definition"]),
        (graph("needs: [a, b],"), graph("needs: [b, a],"), [:]),
        (graph("needs: [a, b],"), graph("needs: [a],"), ["c": "definition"]),
        (graph("needs: [a],"), graph("needs: { a: done },"), ["c": "definition"]),
        (graph("needs: [g],"), graph("needs: [g],", group: "needs: [a],"), ["g.x": "definition", "c": "upstream"]),
        (graph("needs: [g],"), graph("needs: [g],", member: ", y: { run: ':' }"), ["c": "upstream"]),
        (graph("needs: [g],", member: ", y: { run: ':' }"), graph("needs: [g],"), ["c": "definition"]),
        (
            graph("needs: [g],", group: "for-each: [p, q],"), graph("needs: [g],", group: "for-each: [p],"),
            ["c": "definition"]
        ),
        (graph(""), graph("if: \"steps.a.outcome == 'success'\", needs: [a],"), ["c": "definition"]),
    ])
    func `what a step needs, and how, belongs to its definition`(
        before: String, after: String, again: [String: String]
    ) async throws {
        let log = try await log(of: before, then: after)
        #expect(log.decisions.filter { $0.value != "restored" && $0.key != "last" } == again)
    }

    @Test func `dependents of a step run again when it is skipped, and when it no longer is`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { with: { type: bool, default: true } }
            steps:
              a: { if: params.with, run: ":" }
              m: { needs: [a] }
              b: { needs: [m], run: ":" }
              c: { run: ":" }
            """)
        try await test.run("workflow.yml").expect(exit: 0)
        func decisions(_ value: String) async throws -> [String: String] {
            try await test.runLogged("--resume", "--param", "with=\(value)").log().decisions
        }
        #expect(try await decisions("true") == ["a": "restored", "b": "restored", "c": "restored"])
        #expect(try await decisions("false") == ["b": "upstream", "c": "restored"])
        #expect(try await decisions("false") == ["b": "restored", "c": "restored"])
        #expect(try await decisions("true") == ["b": "upstream", "c": "restored"])
    }

    @Test func `the order of the file decides nothing, also inside copies that are needed`() async throws {
        func text(_ members: String, _ items: String) -> String {
            """
            version: 1
            steps:
              each:
                for-each: [\(items)]
                steps: { \(members) }
              after: { needs: [each], run: ":" }
              last: { needs: [after], run: test -e ok }
            """
        }
        let (a, b) = (#"a: { run: ":" }"#, #"b: { run: ":" }"#)
        let reordered = try await log(of: text("\(a), \(b)", "p, q"), then: text("\(b), \(a)", "p, q")).decisions
        #expect(reordered["each[p].a"] == "restored" && reordered["after"] == "restored")
        let otherList = try await log(of: text("\(a), \(b)", "p, q"), then: text("\(a), \(b)", "q, p")).decisions
        #expect(otherList["each[p].a"] == "restored" && otherList["after"] == "definition")
    }

    @Test func `arguments belong to the definition of the steps that take them`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              takes: { run: 'echo "$@"' }
              lists: { run: [echo, "${{ args }}"] }
              not: { run: echo }
              behind: { needs: [not], run: echo }
            """)
        try await test.run("workflow.yml", "--", "one").expect(exit: 0)
        let decisions = try await test.runLogged("--resume", "--", "two").log().decisions
        #expect(
            decisions == ["takes": "definition", "lists": "definition", "not": "restored", "behind": "restored"])
    }

    @Test func `a parameter belongs to the definition of the steps that name it`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { p: { default: a } }
            steps:
              script: { run: 'echo "$p"' }
              words: { run: [sh, -c, "echo $p"] }
              named: { env: { p: "${{ params.p }}" }, run: sh show }
              around: { env: { p: "${{ params.p }}" }, steps: { inner: { run: sh show } } }
              not: { run: sh show }
              behind: { needs: [not], run: echo }
            """, files: ["show": "echo $p\n"])
        try await test.run("workflow.yml").expect(exit: 0)
        let decisions = try await test.runLogged("--resume", "--param", "p=b").log().decisions
        #expect(
            decisions == [
                "script": "definition", "words": "definition", "named": "definition", "around.inner": "definition",
                "not": "restored", "behind": "restored",
            ])
    }

    @Test func `what a step leaves in the folder of its run is not there later`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              script: { run: 'echo > "$FLOWRUN_TEMP/a"' }
              words: { run: [sh, -c, "echo > $FLOWRUN_TEMP/b"] }
              reads: { needs: [script, words], run: 'cat "$FLOWRUN_TEMP/a" "$FLOWRUN_TEMP/b"' }
            """)
        try await test.run("workflow.yml").expect(exit: 0)
        let result = try await test.runLogged("--resume")
        result.expect(exit: 0)
        #expect(try result.log().decisions.values.allSatisfy { $0 != "restored" })
    }

    @Test func `a hook of a run of other targets has undone what a run before it did`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              extra: { run: ":" }
              release:
                steps:
                  deploy: { run: echo new > live }
                  verify: { needs: [deploy], run: test ! -e bad }
                on-failure: { rollback: { run: echo old > live } }
              last: { needs: [release, extra], run: test -e ok }
            """)
        try await test.run("workflow.yml").expect(exit: 1)
        #expect(try test.contents(of: "live") == "new\n")
        try test.write("", to: "bad")
        try await test.run("workflow.yml", "release").expect(exit: 1)
        #expect(try test.contents(of: "live") == "old\n")
        #expect(unlink(test.path("bad")) == 0)
        try test.write("", to: "ok")
        let result = try await test.runLogged("--resume")
        result.expect(exit: 0)
        let log = try result.log()
        #expect(
            log.decisions == [
                "extra": "restored", "release.deploy": "undone", "release.verify": "undone", "last": "outcome",
            ])
        #expect(warnings(log).count == 1)
        #expect(try test.contents(of: "live") == "new\n")
    }

    // MARK: All of it together

    /// `make torture` runs more of them.
    @Test func `a random workflow leaves the same after kills, edits and resumes as after one run`() async throws {
        let script = "\(PackageFolder.path)/Tests/Scripts/torture_resume_rules.py"
        let test = try FlowrunTest()
        let result = try await test.run(
            script, launcher: ["sh", "-c", #"SEED=7 exec python3 "$1" "$0" 40"#], deadline: FlowrunTest.deadline)
        #expect(result.status == .exited(0), "\(result.stdout)")
    }

    @Test func `a copy that only the run knows is named in --from as the run before had it`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              list: { run: 'echo arm64; echo x86_64', outputs: { l: { type: lines, from: stdout } } }
              build:
                needs: [list]
                for-each: ${{ steps.list.outputs.l }}
                steps: { c: { run: ":" } }
              last: { needs: [build], run: test -e ok }
            """)
        // Everything runs, and what is named may be there.
        try await test.run("workflow.yml", "--from", "build[x86_46]").expect(exit: 1)
        for dryRun in [[], ["-n"]] {
            for (name, words) in [
                ("build[x86_46]", "; did you mean `build[x86_64]`?\n"),
                ("build[riscv].c", "; it had build[arm64], build[x86_64]\n"),
            ] {
                let result = try await test.start(["workflow.yml", "--from", name] + dryRun).finish()
                result.expect(exit: 64, stdout: "")
                result.expect(stderr: "flowrun: --from \(name): the run `", "` had no such copy\(words)")
            }
        }
        try test.write("", to: "ok")
        let result = try await test.runLogged("--from", "build[x86_64].c")
        result.expect(exit: 0)
        #expect(try result.log().decisions["build[x86_64].c"] == "asked")
        #expect(try result.log().decisions["build[arm64].c"] == "restored")
    }

    // MARK: Tolerated failures

    private static let tolerated = """
        version: 1
        steps:
          soft:
            continue-on-error: true
            run: 'test ! -e hold || { echo up > up; read _ < go; }; exit $(cat status)'
          hard: { needs: [soft], run: ":" }
          joint: { needs: [hard] }
          end: { needs: [joint], run: ":" }
        """

    @Test func `behind a failure that is tolerated and comes again as it was, steps are taken over`() async throws {
        let test = try FlowrunTest(Self.tolerated, files: ["status": "1"])
        func decisions(_ options: String...) async throws -> [String: String] {
            let result = try await test.start(["workflow.yml", "--log", "json", "--resume"] + options).finish()
            result.expect(exit: 0)
            return try result.log().decisions
        }
        try await test.run("workflow.yml").expect(exit: 0)
        let kept = ["soft": "outcome", "hard": "restored", "end": "restored"]
        for _ in 0..<2 { #expect(try await decisions() == kept) }
        // Killed when the failure has come again and no step after it has been decided about.
        try test.write("", to: "hold")
        let gate = try test.gate("go")
        let killed = try await test.start("workflow.yml", "--resume")
        try await killed.waitForFile("up")
        try test.signal(killed.runner, SIGKILL)
        _ = try await killed.finish()
        withExtendedLifetime(gate) {}
        try FileManager.default.removeItem(atPath: test.path("hold"))
        #expect(try await decisions() == ["soft": "unfinished", "hard": "upstream", "end": "upstream"])
        #expect(try await decisions() == kept)
        #expect(try await decisions("--from", "soft") == ["soft": "asked", "hard": "upstream", "end": "upstream"])
        let text = Self.tolerated.replacingOccurrences(of: "exit $(cat status)", with: "exit  $(cat status)")
        try test.write(text, to: "workflow.yml")
        #expect(try await decisions() == ["soft": "outcome", "hard": "upstream", "end": "upstream"])
        #expect(try await decisions() == kept)
        try test.write("0", to: "status")
        #expect(try await decisions() == ["soft": "outcome", "hard": "upstream", "end": "upstream"])
        #expect(try await decisions() == ["soft": "restored", "hard": "restored", "end": "restored"])
    }
}
