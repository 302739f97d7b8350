import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// `isolate: copy`: a group runs in a copy of the tree as it is, which a resume goes on in.
struct IsolatedGroupTests {
    /// A folder with a git work tree: a tracked file that is changed, one that is removed, an untracked one, and one
    /// that is ignored.
    private static func repository(_ workflow: String, in folder: String = ".") throws -> FlowrunTest {
        let test = try FlowrunTest(files: [
            "tracked": "1\n", "removed": "", ".gitignore": "ignored\nout/\n.flowrun\n", "ignored": "", "a b/c": "inner",
            "\(folder)/workflow.yml": "version: 1\nsteps:\n" + workflow,
        ])
        try test.git("init", "-q")
        try test.git("add", "-A")
        try test.git("-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "first")
        try FileManager.default.removeItem(atPath: test.path("removed"))
        try test.write("2\n", to: "tracked")
        try test.write("", to: "untracked")
        return test
    }

    private func trees(in test: FlowrunTest) throws -> [String] {
        let folder = test.path(".flowrun/trees")
        let runs = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return try runs.flatMap { run in
            try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(run)")
        }
    }

    @Test func `the copy has what git tracks or does not ignore, as it is, and is a repository of its own`()
        async throws
    {
        let test = try Self.repository(
            """
              g:
                isolate: copy
                steps:
                  files: { run: "ls -A > ../list; sort ../list > out.txt; cat out.txt tracked 'a b/c'; test $PWD != $TOP" }
                  git: { needs: [files], run: "git status --porcelain; git log --format=%s; git add -A; git commit -qm second" }

            """)
        let result = try await test.runLogged(
            environment: [
                "TOP": test.folder, "GIT_AUTHOR_NAME": "n", "GIT_AUTHOR_EMAIL": "e", "GIT_COMMITTER_NAME": "n",
                "GIT_COMMITTER_EMAIL": "e",
            ])
        result.expect(exit: 0)
        let log = try result.log()
        #expect(
            log.output(of: "g.files")
                == ".git\n.gitignore\na b\ntracked\nuntracked\nworkflow.yml\n2\ninner")
        #expect(log.output(of: "g.git") == " D removed\n M tracked\n?? out.txt\n?? untracked\nfirst\n")
        // Nothing of that has reached the original.
        #expect(!test.exists("out.txt"))
        #expect(try test.git("log", "--format=%s") == "first\n")
        #expect(try test.git("status", "--porcelain") == " D removed\n M tracked\n?? untracked\n")
        #expect(try trees(in: test) == [])
    }

    @Test func `without git the copy has everything but the state`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g: { isolate: copy, steps: { list: { run: "ls -A; echo new > file" } } }
            """)
        try test.write("old\n", to: "file")
        try test.write("", to: ".hidden")
        let result = try await test.runLogged()
        result.expect(exit: 0)
        #expect(try result.log().output(of: "g.list") == ".hidden\nfile\nworkflow.yml\n")
        #expect(try test.contents(of: "file") == "old\n")
    }

    @Test func `paths lead into the copy: folders, files in expressions, vars, dotenv, and the tree above the file`()
        async throws
    {
        let test = try Self.repository(
            """
              g:
                isolate: copy
                vars: { made: { run: "cat ../tracked; echo var > from-var" } }
                steps:
                  first: { run: "echo X=1 > env; mkdir inner; echo $made > inner/x" }
                  second:
                    needs: [first]
                    if: exists('inner/x') && exists('from-var') && !exists('../ignored')
                    dotenv: [env]
                    working-directory: inner
                    run: "cat x; echo $X"

            """, in: "ci")
        let result = try await test.run("ci/workflow.yml", "--log", "json")
        result.expect(exit: 0)
        #expect(try result.log().output(of: "g.second") == "2\n1\n")
        #expect(!test.exists("ci/env") && !test.exists("ci/from-var"))
    }

    @Test func `each copy of a fan-out has its own, and an inner group copies that of the outer one`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                isolate: copy
                for-each: [a, b]
                as: v
                steps:
                  write: { run: "test ! -e made; echo $v > made" }
                  inner:
                    needs: [write]
                    isolate: copy
                    steps: { change: { run: "cat made; echo inner > made" } }
                  read: { needs: [inner], run: "cat made" }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        for item in ["a", "b"] {
            #expect(try result.log().output(of: "g[\(item)].inner.change") == "\(item)\n")
            #expect(try result.log().output(of: "g[\(item)].read") == "\(item)\n")
        }
        #expect(!test.exists("made"))
        #expect(try trees(in: test) == [])
    }

    private static let failing = """
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
        let kept = try #require(try trees(in: test).first)
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
        #expect(try trees(in: test) == [])
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

    @Test func `a hook of a group that is restored has a copy of its own`() async throws {
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
        #expect(try result.log().decisions == ["g.one": "restored", "last": "outcome"])
        #expect(try result.log().output(of: "g.finally.clean") == "hook\nok\nworkflow.yml\n")
        #expect(!test.exists("hook"))
    }

    @Test func `each round of a group begins in a new copy`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                isolate: copy
                retry: { attempts: 2 }
                steps:
                  one: { run: "test ! -e made; echo $FLOWRUN_ROUND > made" }
                  two: { needs: [one], run: "cat made; test $FLOWRUN_ROUND = 1" }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        #expect(try result.log().output(of: "g.two") == "0\n1\n")
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
        #expect(try trees(in: test) == [])
    }

    @Test func `a copy that cannot be made fails what would run in it, with the reason`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g: { isolate: copy, steps: { one: { run: "true" }, two: { run: "true" } } }
            """)
        try test.write("nonsense", to: ".git")
        let result = try await test.run("workflow.yml")
        result.expect(exit: 1)
        #expect(
            result.stdout.contains("g.one: `isolate[copy]` (line 3) cannot copy the tree: exit 1 (workflow.yml:3)"))
        #expect(result.stdout.contains("invalid gitfile format"))
    }

    @Test func `without a journal the copy goes with the run`() async throws {
        let test = try FlowrunTest(Self.failing)
        let result = try await test.run("workflow.yml", "--no-journal")
        result.expect(exit: 1)
        #expect(!result.stdout.contains("kept"))
        #expect(try trees(in: test) == [])
    }

    @Test func `a new run of the same targets removes what the last one has kept`() async throws {
        let test = try FlowrunTest(Self.failing)
        try await test.run("workflow.yml").expect(exit: 1)
        try await test.run("workflow.yml", "before").expect(exit: 0)
        #expect(try trees(in: test) == ["g"])
        try test.write("", to: "ok")
        try await test.run("workflow.yml").expect(exit: 0)
        #expect(try trees(in: test) == [])
    }

    @Test func `a copy that others cannot write is removed all the same`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g: { isolate: copy, steps: { one: { run: "mkdir -p cache/x; touch cache/x/y; chmod -R a-w cache" } } }
            """)
        try await test.run("workflow.yml").expect(exit: 0)
        #expect(try trees(in: test) == [])
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
        let test = try Self.repository(
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

    // MARK: The tree

    @Test func `git in a copy does not reach the original, whatever a hook of git has set`() async throws {
        let test = try Self.repository(
            """
              g: { isolate: copy, steps: { commit: { run: "git add -A; git commit -qm second; git log --format=%s" } } }

            """)
        let names = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"]
        var environment: [String: String?] = Dictionary(uniqueKeysWithValues: names.map { ($0, "n") })
        environment["GIT_DIR"] = test.path(".git")
        environment["GIT_INDEX_FILE"] = test.path(".git/index")
        let result = try await test.runLogged(environment: environment)
        result.expect(exit: 0)
        #expect(try result.log().output(of: "g.commit") == "second\nfirst\n")
        #expect(try test.git("log", "--format=%s") == "first\n")
        #expect(try test.git("diff", "--cached", "--name-only").isEmpty)
    }

    @Test func `an inner group has the tree of the outer one, with git, too`() async throws {
        let test = try Self.repository(
            """
              g:
                isolate: copy
                steps:
                  a: { run: "echo new > made" }
                  h: { needs: [a], isolate: copy, steps: { b: { run: "cat made tracked; git status --porcelain" } } }

            """)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        #expect(try result.log().output(of: "g.h.b") == "new\n2\n D removed\n M tracked\n?? made\n?? untracked\n")
    }

    @Test(arguments: [["--state-dir", "build/state"], ["--no-journal"], []])
    func `no copy has flowrun's own state`(_ options: [String]) async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps: { g: { isolate: copy, steps: { list: { run: "find . -type f | sort" } } } }
            """)
        try FileManager.default.createDirectory(
            atPath: test.path("build/deep"), withIntermediateDirectories: true)
        try test.write("", to: "build/deep/x")
        try await test.run("workflow.yml", "--log", "quiet").expect(exit: 0)
        let result = try await test.start(
            ["run", "workflow.yml", "--log", "json"] + options, environment: ["TMPDIR": test.folder]
        ).finish()
        result.expect(exit: 0)
        let output = try result.log().output(of: "g.list").split(separator: "\n")
        #expect(output.filter { !$0.hasPrefix("./.flowrun/") } == ["./build/deep/x", "./workflow.yml"])
        if !options.contains("--state-dir") { #expect(output.count == 2) }
    }

    @Test func `in a folder without git, git finds no repository around the copy`() async throws {
        let test = try FlowrunTest(files: [
            "sub/workflow.yml": """
            version: 1
            steps: { g: { isolate: copy, steps: { git: { run: "! git rev-parse --git-dir" } } } }
            """
        ])
        try test.git("init", "-q")
        try await test.run("sub/workflow.yml").expect(exit: 0)
    }

    @Test func `a tracked folder that is a link now is one in the copy`() async throws {
        let test = try Self.repository(
            """
              g: { isolate: copy, steps: { list: { run: "readlink 'a b'; cat 'a b/c'; git status --porcelain" } } }

            """)
        try FileManager.default.removeItem(atPath: test.path("a b"))
        try FileManager.default.createDirectory(atPath: test.path("o"), withIntermediateDirectories: true)
        try test.write("other", to: "o/c")
        try FileManager.default.createSymbolicLink(atPath: test.path("a b"), withDestinationPath: "o")
        let result = try await test.runLogged()
        result.expect(exit: 0)
        #expect(try result.log().output(of: "g.list").hasPrefix("o\nother D \"a b/c\"\n"))
    }

    @Test func `what a copy is made with changes nothing: startup files of bash, the rest of a kill`() async throws {
        let test = try FlowrunTest(Self.failing)
        try test.write("echo from the startup file\n", to: "startup")
        try await test.run("workflow.yml", environment: ["BASH_ENV": test.path("startup")]).expect(exit: 1)
        let run = try #require(FileManager.default.contentsOfDirectory(atPath: test.path(".flowrun/trees")).first)
        for rest in ["g.old", "g.new"] { try test.write("", to: ".flowrun/trees/\(run)/\(rest)/x") }
        try test.write("", to: ".flowrun/trees/\(run)/g/tree/ok")
        try await test.run("workflow.yml", "--resume").expect(exit: 0)
        #expect(try trees(in: test).filter { $0 != "g.new" } == [])
    }

    @Test func `show tells it of a group, and of a step in one`() async throws {
        let test = try FlowrunTest(Self.failing)
        let group = try await test.run("show", "-f", "workflow.yml", "g")
        #expect(group.stdout.contains("\n  g:\n    isolate: copy\n    steps:\n      one:\n"))
        let step = try await test.run("show", "-f", "workflow.yml", "g.one")
        #expect(step.stdout.contains("  # runs in a copy of the tree: isolate of g\n  one:\n"))
    }

    @Test func `a dry run shows where the tree is copied`() async throws {
        let test = try FlowrunTest(Self.failing)
        let result = try await test.run("workflow.yml", "--dry-run")
        #expect(
            result.stdout.contains(
                "# isolate[copy] of g (workflow.yml:6)\n# copies the tree; the steps of g run in the copy\n\n# g.one"))
        #expect(!test.exists(".flowrun"))
    }
}

extension FlowrunTest {
    @discardableResult
    fileprivate func git(_ words: String...) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["git", "-C", folder] + words
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return String(decoding: output, as: UTF8.self)
    }
}
