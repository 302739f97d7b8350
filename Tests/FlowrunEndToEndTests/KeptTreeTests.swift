import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// A resume goes on in the copy of the tree that a group has kept, and restores a step only into the one it ran in.
struct KeptTreeTests {
    static let failing = """
        version: 1
        steps:
          before: { run: "true" }
          g:
            needs: [before]
            isolate: copy
            steps:
              one: { run: "echo one >> made" }
              two: { needs: [one], run: "cat made; test -e ok" }
          after: { needs: [g], run: "true" }
        """

    @Test func `a resume goes on in the copy that a failure has kept, and removes it at the end`() async throws {
        let test = try FlowrunTest(Self.failing)
        let first = try await test.run("workflow.yml")
        first.expect(exit: 1)
        let kept = try #require(try test.treeCopies.first)
        let run = try #require(FileManager.default.contentsOfDirectory(atPath: test.path(".flowrun/trees")).first)
        let path = test.path(".flowrun/trees/\(run)/\(kept)/tree")
        #expect(first.stdout.contains("the copy of the tree that `g` ran in is kept: \(path)\n"))
        // The tree itself has it by now; the copy does not.
        try test.write("", to: "ok")
        let again = try await test.runLogged("--resume")
        again.expect(exit: 1)
        #expect(try again.log().decisions == ["before": "restored", "g.one": "restored", "g.two": "outcome"])
        #expect(again.stdout.contains("`g` goes on in its copy of the tree, \(path); `--from g` makes a new one"))
        try Data().write(to: URL(filePath: "\(path)/ok"))
        let last = try await test.runLogged("--resume")
        last.expect(exit: 0)
        #expect(try last.log().output(of: "g.two") == "one\n")
        #expect(try last.log().decisions == ["before": "restored", "g.one": "restored", "g.two": "outcome"])
        #expect(try test.treeCopies == [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: test.path(".flowrun/trees")) == [])
        let over = try await test.runLogged("--resume")
        #expect(try Set(over.log().decisions.values) == ["restored"])
    }

    @Test func `--from copies the tree afresh`() async throws {
        let test = try FlowrunTest(Self.failing)
        try await test.run("workflow.yml").expect(exit: 1)
        try test.write("", to: "ok")
        let result = try await test.runLogged("--resume", "--from", "g")
        result.expect(exit: 0)
        #expect(try result.log().output(of: "g.two") == "one\n")
        #expect(try result.log().decisions == ["before": "restored", "g.one": "asked", "g.two": "asked"])
    }

    @Test func `without the kept copy the whole group runs again, and what needs it`() async throws {
        let test = try FlowrunTest(Self.failing)
        try test.write("", to: "ok")
        try await test.run("workflow.yml").expect(exit: 0)
        // All of it is restored, which needs no copy.
        #expect(try await Set(test.runLogged("--resume").log().decisions.values) == ["restored"])
        try test.write(Self.failing.replacing("cat made", with: "cat made made"), to: "workflow.yml")
        let shown = try await test.run("workflow.yml", "--resume", "--dry-run")
        #expect(shown.stdout.contains("runs again: its group runs in a new copy of the tree"))
        let result = try await test.runLogged("--resume")
        result.expect(exit: 0)
        #expect(
            try result.log().decisions
                == ["before": "restored", "g.one": "tree", "g.two": "upstream", "after": "upstream"])
        #expect(try result.log().output(of: "g.two") == "one\none\n")
    }

    @Test func `a condition on files of a copy that is gone is not judged by those of the tree`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                isolate: copy
                steps:
                  one: { run: "echo one > made" }
                  two: { needs: [one], if: exists('made'), run: "echo two" }
              last: { needs: [g], run: "test -e ok" }
            """)
        try await test.run("workflow.yml").expect(exit: 1)
        try test.write("", to: "ok")
        let result = try await test.runLogged("--resume")
        result.expect(exit: 0)
        #expect(try result.log().decisions == ["g.one": "tree", "g.two": "upstream", "last": "outcome"])
        #expect(try result.log().output(of: "g.two") == "two\n")
    }

    @Test func `a group with a hook that undoes nothing runs again as a whole`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                isolate: copy
                steps: { one: { run: "echo one > made" } }
                finally: { clean: { undoes: [], run: "echo hook > hook; ls" } }
              last: { needs: [g], run: "test -e ok" }
            """)
        try await test.run("workflow.yml").expect(exit: 1)
        try test.write("", to: "ok")
        let result = try await test.runLogged("--resume")
        result.expect(exit: 0)
        #expect(try result.log().decisions == ["g.one": "tree", "last": "outcome"])
        #expect(try result.log().output(of: "g.finally.clean") == "hook\nmade\nok\nworkflow.yml\n")
        #expect(!test.exists("hook"))
    }

    @Test func `a run that is killed is resumed in its copy`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                isolate: copy
                steps:
                  one: { run: "echo one >> made" }
                  two: { needs: [one], run: "touch $TOP/started; test -e $TOP/killed || exec sleep 1000" }
            """)
        let run = try await test.start("workflow.yml", environment: ["TOP": test.folder])
        try await run.waitForFile("started")
        run.signal(SIGKILL)
        _ = try await run.finish()
        try test.write("", to: "killed")
        let result = try await test.runLogged("--resume", environment: ["TOP": test.folder])
        result.expect(exit: 0)
        #expect(try result.log().decisions["g.one"] == "restored")
        #expect(try result.log().finished("g.two")?.outcome == "success")
        #expect(try test.treeCopies == [])
    }

    @Test func `without a journal the copy goes with the run`() async throws {
        let test = try FlowrunTest(Self.failing)
        let result = try await test.run("workflow.yml", "--no-journal")
        result.expect(exit: 1)
        #expect(!result.stdout.contains("kept"))
        #expect(try test.treeCopies == [])
    }

    @Test func `a new run of the same targets removes what the last one has kept`() async throws {
        let test = try FlowrunTest(Self.failing)
        try await test.run("workflow.yml").expect(exit: 1)
        try await test.run("workflow.yml", "before").expect(exit: 0)
        #expect(try test.treeCopies == ["g"])
        try test.write("", to: "ok")
        try await test.run("workflow.yml").expect(exit: 0)
        #expect(try test.treeCopies == [])
    }

    // MARK: A step is restored only into the copy in which it ran

    @Test func `a copy that an interrupted resume has begun is not taken for that of the results`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                isolate: copy
                order: sequence
                steps:
                  one: { run: "if test -e $TOP/hold; then touch $TOP/held; exec sleep 1000; fi" }
                  two: { run: "touch two" }
                  three: { run: "ls two" }
              last: { needs: [g], run: "test -e $TOP/ok" }
            """)
        try await test.run("workflow.yml", environment: ["TOP": test.folder]).expect(exit: 1)
        try test.write("", to: "hold")
        let text = try test.contents(of: "workflow.yml")
        try test.write(text.replacing("ls two", with: "ls ./two"), to: "workflow.yml")
        let stopped = try await test.start("workflow.yml", "--resume", environment: ["TOP": test.folder])
        try await stopped.waitForFile("held")
        stopped.signal(SIGINT)
        _ = try await stopped.finish()
        try FileManager.default.removeItem(atPath: test.path("hold"))
        try test.write("", to: "ok")
        let result = try await test.runLogged("--resume", environment: ["TOP": test.folder])
        result.expect(exit: 0)
        #expect(try !result.log().decisions.filter { $0.key.hasPrefix("g.") }.values.contains("restored"))
    }

    @Test func `what the forecast and the run judge differently runs again in one copy`() async throws {
        let test = try FlowrunTest.repository(
            """
              g:
                isolate: copy
                steps:
                  one: { dotenv: [{ path: ignored, optional: true }], run: "touch made" }
                  two: { needs: [one], dotenv: [{ path: ignored, optional: true }], run: "ls made; test -e $TOP/ok" }

            """)
        try test.write("X=1\n", to: "ignored")
        try await test.run("workflow.yml", environment: ["TOP": test.folder]).expect(exit: 1)
        try test.write("", to: "ok")
        let result = try await test.run("workflow.yml", "--resume", environment: ["TOP": test.folder])
        result.expect(exit: 0)
    }

    @Test func `without a journal a resume runs all of the group again`() async throws {
        let test = try FlowrunTest(Self.failing)
        try await test.run("workflow.yml").expect(exit: 1)
        try test.write("", to: "ok")
        let result = try await test.runLogged("--resume", "--no-journal")
        result.expect(exit: 0)
        #expect(try result.log().decisions == ["before": "restored", "g.one": "tree", "g.two": "outcome"])
        #expect(try result.log().output(of: "g.two") == "one\n")
    }

    @Test func `a further round runs a group that was restored, in a copy`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              o:
                retry: { attempts: 2 }
                steps:
                  g: { isolate: copy, steps: { one: { run: "touch made" }, two: { needs: [one], run: "ls made" } } }
                  other: { needs: [g], run: "test $FLOWRUN_ROUND = 1 -a -e $TOP/ok" }
            """)
        try await test.run("workflow.yml", environment: ["TOP": test.folder]).expect(exit: 1)
        try test.write("", to: "ok")
        let result = try await test.runLogged("--resume", environment: ["TOP": test.folder])
        result.expect(exit: 0)
        #expect(try result.log().output(of: "o.g.two") == "made\n")
    }

    @Test func `a step that a condition kept from running runs with all of its group`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { deploy: { type: bool, default: false } }
            steps:
              g:
                isolate: copy
                steps:
                  one: { run: "touch made" }
                  two: { needs: [one], if: params.deploy, run: "ls made" }
                  broken: { needs: [one], if: failure(), run: "true" }
              last: { needs: [g], run: "test -e ok" }
            """)
        try await test.run("workflow.yml").expect(exit: 1)
        let again = try await test.runLogged("--resume")
        #expect(try again.log().decisions == ["g.one": "restored", "last": "outcome"])
        try test.write("", to: "ok")
        let result = try await test.runLogged("--resume", "--param", "deploy=true")
        result.expect(exit: 0)
        #expect(try result.log().output(of: "g.two") == "made\n")
    }

    @Test func `a group in which a condition now rules out a step runs again with what needs that`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { all: { type: bool, default: true } }
            steps:
              g:
                isolate: copy
                steps:
                  one: { run: "touch made" }
                  two: { needs: [one], if: params.all, run: "true" }
                  three: { needs: [two], run: "ls made" }
              last: { needs: [g], run: "test -e ok" }
            """)
        try await test.run("workflow.yml").expect(exit: 1)
        try test.write("", to: "ok")
        let result = try await test.runLogged("--resume", "--param", "all=false")
        result.expect(exit: 0)
        #expect(try result.log().output(of: "g.three") == "made\n")
    }

    @Test func `behind a tolerated failure that does not come again a group runs as a whole`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { continue-on-error: true, run: "test -e good" }
              g:
                needs: [a]
                isolate: copy
                steps: { one: { run: "touch made" }, two: { needs: [one], run: "ls made" } }
              last: { needs: [g], run: "test -e ok" }
            """)
        try await test.run("workflow.yml").expect(exit: 1)
        for name in ["ok", "good"] { try test.write("", to: name) }
        let result = try await test.runLogged("--resume")
        result.expect(exit: 0)
        #expect(try result.log().output(of: "g.two") == "made\n")
    }

    @Test func `outputs that ask for files are not made from those of the tree`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                isolate: copy
                steps: { one: { run: "touch made" } }
                outputs: { there: "${{ exists('made') }}" }
              last: { needs: [g], run: ["sh", "-c", "echo ${{ steps.g.outputs.there }}; test -e ok"] }
            """)
        try await test.run("workflow.yml").expect(exit: 1)
        try test.write("", to: "ok")
        let result = try await test.runLogged("--resume")
        result.expect(exit: 0)
        #expect(try result.log().output(of: "last") == "true\n")
    }

    @Test func `only the groups in copies, and what reads them, see that one is isolated`() async throws {
        let test = try FlowrunTest(Self.failing.replacing("    isolate: copy\n", with: ""))
        try test.write("", to: "ok")
        try await test.run("workflow.yml").expect(exit: 0)
        try test.write(Self.failing, to: "workflow.yml")
        let result = try await test.runLogged("--resume")
        #expect(
            try result.log().decisions
                == ["before": "restored", "g.one": "definition", "g.two": "upstream", "after": "upstream"])
    }

    @Test func `copies of a fan-out that only the run knows begin again`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              list: { run: "echo '[1, 2]'", outputs: { items: { type: list, from: stdout } } }
              g:
                needs: [list]
                for-each: ${{ steps.list.outputs.items }}
                as: v
                isolate: copy
                steps:
                  one: { run: "test ! -e made; echo $v > made" }
                  two: { needs: [one], run: "cat made; test $v = 1 -o -e $TOP/ok" }
            """)
        try await test.run("workflow.yml", environment: ["TOP": test.folder]).expect(exit: 1)
        try test.write("", to: "ok")
        let result = try await test.runLogged("--resume", environment: ["TOP": test.folder])
        result.expect(exit: 0)
        #expect(try result.log().decisions["g[1].one"] == "tree" && result.log().output(of: "g[2].two") == "2\n")
    }

    @Test func `what a copy is made with changes nothing: startup files of bash, the rest of a kill`() async throws {
        let test = try FlowrunTest(Self.failing)
        try test.write("echo from the startup file\n", to: "startup")
        try await test.run("workflow.yml", environment: ["BASH_ENV": test.path("startup")]).expect(exit: 1)
        let run = try #require(FileManager.default.contentsOfDirectory(atPath: test.path(".flowrun/trees")).first)
        try test.write("", to: ".flowrun/trees/\(run)/g.new/x")
        try test.write("", to: ".flowrun/trees/\(run)/g/tree/ok")
        try await test.run("workflow.yml", "--resume").expect(exit: 0)
        #expect(try test.treeCopies.filter { $0 != "g.new" } == [])
    }
}
