import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// `isolate: copy`: a group runs in a copy of the tree as it is, which a resume goes on in.
struct IsolatedGroupTests {
    @Test func `the copy has what git tracks or does not ignore, as it is, and is a repository of its own`()
        async throws
    {
        let test = try FlowrunTest.repository(
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
        #expect(try test.treeCopies == [])
    }

    @Test func `git finds the copy alone: with the caller's ceiling, its configuration, and its traces`() async throws {
        let test = try FlowrunTest.repository(
            """
              g: { isolate: copy, steps: { log: { run: "git commit -qam second; git log --format=%s" } } }

            """, in: "sub")
        let result = try await test.run(
            "workflow.yml",
            environment: [
                "GIT_CEILING_DIRECTORIES": "/home", "GIT_TRACE": "1", "GIT_CONFIG_COUNT": "2",
                "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "n", "GIT_CONFIG_KEY_1": "user.email",
                "GIT_CONFIG_VALUE_1": "e",
            ], in: "sub")
        result.expect(exit: 0)
        #expect(try test.git("log", "--format=%s") == "first\n")
    }

    @Test func `PWD is the folder in the copy, and elsewhere the working directory`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                isolate: copy
                steps: { told: { run: [printenv, PWD] }, real: { run: [/bin/pwd, -P] } }
              sub: { working-directory: sub, run: [printenv, PWD] }
              own: { working-directory: sub, env: { PWD: mine }, run: [printenv, PWD] }
              plain: { run: [printenv, PWD] }
            """)
        try test.write("", to: "sub/file")
        let log = try await test.runLogged(environment: ["PWD": test.folder]).log()
        #expect(log.output(of: "g.told") == log.output(of: "g.real"))
        #expect(log.output(of: "g.told") != "\(test.folder)\n")
        #expect(log.output(of: "sub").hasSuffix("sub\n"))
        #expect(log.output(of: "own") == "mine\n")
        #expect(log.output(of: "plain") == "\(test.folder)\n")
    }

    @Test func `the name of the state directory is no pattern`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g: { isolate: copy, steps: { list: { run: "ls -A" } } }
            """)
        try test.write("", to: "sabc/file")
        let result = try await test.runLogged("--state-dir", "s*")
        #expect(try result.log().output(of: "g.list") == "sabc\nworkflow.yml\n")
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
        let test = try FlowrunTest.repository(
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
        #expect(try test.treeCopies == [])
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

    @Test func `a copy that others cannot write is removed all the same`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g: { isolate: copy, steps: { one: { run: "mkdir -p cache/x; touch cache/x/y; chmod -R a-w cache" } } }
            """)
        try await test.run("workflow.yml").expect(exit: 0)
        #expect(try test.treeCopies == [])
    }

    @Test func `git in a copy does not reach the original, whatever a hook of git has set`() async throws {
        let test = try FlowrunTest.repository(
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
        let test = try FlowrunTest.repository(
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
        let test = try FlowrunTest.repository(
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

    @Test func `show tells it of a group, and of a step in one`() async throws {
        let test = try FlowrunTest(KeptTreeTests.failing)
        let group = try await test.run("show", "-f", "workflow.yml", "g")
        #expect(group.stdout.contains("\n  g:\n    isolate: copy\n    steps:\n      one:\n"))
        let step = try await test.run("show", "-f", "workflow.yml", "g.one")
        #expect(step.stdout.contains("  # runs in a copy of the tree: isolate of g\n  one:\n"))
    }

    @Test func `a dry run shows where the tree is copied`() async throws {
        let test = try FlowrunTest(KeptTreeTests.failing)
        let result = try await test.run("workflow.yml", "--dry-run")
        #expect(
            result.stdout.contains(
                "# isolate[copy] of g (workflow.yml:6)\n# copies the tree; the steps of g run in the copy\n\n# g.one"))
        #expect(!test.exists(".flowrun"))
    }
}
