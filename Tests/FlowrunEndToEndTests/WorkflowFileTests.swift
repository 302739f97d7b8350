import FlowrunTestSupport
import Testing

/// Which workflow file is meant, and what runs of it.
struct WorkflowFileTests {
    private static let good = """
        version: 1
        default: [build]
        steps:
          build: { description: Compiles, run: echo building }
          test: { needs: [build], run: echo testing }
          check: { run: echo checking }
          watch: { run: echo watching }
          release: { manual: true, needs: [test], run: echo releasing }
          x: { run: echo from flowrun.yml }
        """

    private func folder(_ more: [String: String] = [:]) throws -> FlowrunTest {
        try FlowrunTest(files: ["flowrun.yml": Self.good].merging(more) { $1 })
    }

    private func started(_ words: [String], in test: FlowrunTest) async throws -> [String] {
        let result = try await test.start(["run", "--log", "json"] + words).finish()
        result.expect(exit: 0)
        return try result.log().startOrder
    }

    @Test func `without a file, flowrun.yml of the folder runs: its default, or the steps that are named`() async throws
    {
        let test = try folder()
        #expect(try await started([], in: test) == ["build"])
        #expect(try await started(["test"], in: test) == ["build", "test"])
        #expect(try await started(["release"], in: test) == ["build", "test", "release"])
        let bare = try await test.run()
        bare.expect(exit: 0)
        bare.expect(stdout: "flowrun.yml, 1 step, ", "| building", "1 success")
    }

    @Test func `a file is named by its form, by being there, or by an option`() async throws {
        let other = "version: 1\nsteps: { build: { run: 'true' }, other: { run: 'true' } }\n"
        let test = try folder(["other.yml": other, "other.yaml": other, "plain": other, "sub/flowrun.yaml": other])
        for words in [["other.yml"], ["other.yaml"], ["plain"], ["./plain"], ["-f", "plain"], ["--file=other.yml"]] {
            #expect(try await Set(started(words, in: test)) == ["build", "other"], "\(words)")
            #expect(try await started(words + ["other"], in: test) == ["other"], "\(words)")
        }
        #expect(try await started(["-C", "sub", "other"], in: test) == ["other"])
        // With an option for the file, every operand is a step.
        #expect(try await started(["-f", "flowrun.yml", "x"], in: test) == ["x"])
        try test.write("hello", to: "x")
        let taken = try await test.run("x")
        taken.expect(exit: 2)
        taken.expect(
            stderr: "x:1:1: error", "`x` is a file here; for the step of this name write `flowrun -f flowrun.yml x`")
    }

    @Test func `every command about a file takes the same one`() async throws {
        let test = try folder(["other.yml": "version: 1\nsteps: { other: { run: 'false' } }\n"])
        try await test.run("check").expect(exit: 0, stdout: "flowrun.yml: ok\n")
        try await test.run("check", "-f", "other.yml").expect(exit: 0, stdout: "other.yml: ok\n")
        for command in ["plan", "graph", "list"] {
            try await test.run(command).expect(stdout: "build")
            try await test.run(command, "-f", "other.yml").expect(stdout: "other")
        }
        try await test.run("run").expect(exit: 0)
        try await test.run("other.yml").expect(exit: 1)
        try await test.run("why", "build").expect(exit: 0, stdout: "build: success\n")
        for words in [["why", "other.yml", "other"], ["why", "-f", "other.yml", "other"]] {
            try await test.start(words).finish().expect(stdout: "other: failure")
        }
        try await test.run("why", "other").expect(stderr: "of `flowrun.yml` had no step or group `other`")
        try await test.run("ctl", "other.yml", "status").expect(stderr: "no live run of `other.yml`")
    }

    @Test func `a live run is that of flowrun.yml, even beside others`() async throws {
        let held = "version: 1\nsteps: { NAME: { run: 'echo up > NAME; read _ < NAME.go' } }\n"
        let test = try FlowrunTest(files: [
            "flowrun.yml": held.replacing("NAME", with: "mine"), "other.yml": held.replacing("NAME", with: "other"),
        ])
        let gates = [try test.gate("mine.go"), try test.gate("other.go")]
        let mine = try await test.start()
        try await mine.waitForFile("mine")
        let other = try test.startBeside(["other.yml"])
        try await other.waitForFile("other")
        try await test.ask("ctl", "status").expect(stdout: "mine")
        try await test.ask("ctl", "other.yml", "status").expect(stdout: "other")
        for gate in gates { gate.open() }
        try await mine.finish().expect(exit: 0)
        try await other.finish().expect(exit: 0)
    }

    @Test func `a command word wins over a step, a planned one only where there is none`() async throws {
        let test = try folder()
        try await test.run("check").expect(exit: 0, stdout: "flowrun.yml: ok\n")
        #expect(try await started(["check"], in: test) == ["check"])
        try await test.run("watch").expect(stdout: "| watching")
        let other = try FlowrunTest(files: ["flowrun.yml": "version: 1\nsteps: { a: { run: 'true' } }\n"])
        try await other.run("watch").expect(
            exit: 64, stdout: "", stderr: "flowrun: the command `watch` is not built yet\n")
        try await other.run("run", "watch").expect(
            stderr: "no step or group `watch` (in `flowrun.yml`); `flowrun list` shows them")
    }

    private static let commands = [
        "run", "check", "plan", "graph", "list", "show", "ctl", "why", "runs", "replay", "init", "explain",
        "completion", "help",
    ]

    @Test func `a step with the name of a command is run by run, and both list and the command say so`() async throws {
        let steps = Self.commands.map { "  \($0): { run: echo \($0) > ran }\n" }.joined()
        let test = try FlowrunTest(files: ["flowrun.yml": "version: 1\nsteps:\n\(steps)"])
        let list = try await test.run("list")
        for command in Self.commands {
            list.expect(stdout: "flowrun run \(command)\n")
            try await test.run("run", command).expect(exit: 0)
            #expect(try test.contents(of: "ran") == "\(command)\n")
            let told = try await test.run(command)
            told.expect(stderr: "flowrun: `\(command)` is also a step: `flowrun run \(command)` runs it\n")
        }
        #expect(!(try await test.run("-l").stderr.contains("is also a step")))
        #expect(!(try await test.run("plan", "flowrun.yml").stderr.contains("is also a step")))
        let group = "version: 1\nsteps: { g: { steps: { check: { run: 'true' } } } }\n"
        try await FlowrunTest(files: ["flowrun.yml": group]).run("check").expect(
            exit: 0, stdout: "flowrun.yml: ok\n", stderr: "")
    }

    private static let places = "version: 1\nsteps: { a: { run: 'pwd; echo \"$FLOWRUN_INVOCATION_DIR\"' } }\n"

    @Test func `in a folder below, the file of the nearest folder above is meant, which is told`() async throws {
        let test = try FlowrunTest(files: [
            "flowrun.yml": Self.places, "in/flowrun.yaml": Self.places, "in/deep/er/x": "", "deep/x": "",
        ])
        let found = try await test.start(["a", "-C", "er"], in: "in/deep").finish()
        found.expect(exit: 0, stderr: "flowrun: using `<folder>/in/flowrun.yaml`\n")
        found.expect(stdout: "| \(test.folder)/in\n", "| \(test.folder)/in/deep\n")
        for command in ["check", "plan", "graph", "list", "runs", "replay"] {
            let answer = try await test.run(command, "-C", "deep")
            answer.expect(stderr: "flowrun: using `\(test.folder)/flowrun.yml`\n")
        }
        let here = try await test.run()
        here.expect(exit: 0, stderr: "")
        here.expect(stdout: "| \(test.folder)\n", "| \(test.folder)\n")
        try await test.run("why", "a", "-C", "in/deep").expect(exit: 0, stdout: "a: success\n")
    }

    @Test func `the search ends with the folder of a repository, and below the home folder`() async throws {
        let test = try FlowrunTest(files: [
            "flowrun.yml": Self.places, "in/deep/x": "", "git/.git/HEAD": "", "git/in/x": "",
        ])
        for (folder, home) in [("git", "/"), ("git/in", "/"), ("in/deep", ""), ("in/deep", "in"), ("in", "in/deep")] {
            let result = try await test.start(
                ["list", "-C", folder], environment: ["HOME": test.path(home)]
            ).finish()
            if home == "/" {
                result.expect(exit: 64, stdout: "")
                result.expect(stderr: "in `\(test.path(folder))` and above\n")
            } else {
                result.expect(exit: 64)
            }
        }
        try await test.start(["list", "-C", "in"], environment: ["HOME": "/usr"]).finish().expect(exit: 0)
    }

    @Test(arguments: ["chmod o+w .", "chmod g+w flowrun.yml"])
    func `a file above is not used if others may write it`(change: String) async throws {
        let test = try FlowrunTest(files: ["flowrun.yml": Self.places, "in/x": ""])
        try await test.start([], launcher: ["sh", "-c", change]).finish().expect(exit: 0)
        let what = change.hasSuffix(".") ? "<folder>" : "<folder>/flowrun.yml"
        let refused = "flowrun: `<folder>/flowrun.yml` is not used, because others may write into `\(what)`; "
        try await test.start(["a", "-C", "in"]).finish().expect(
            exit: 64, stdout: "", stderr: refused + "name it with -f if it is meant\n")
        try await test.run("-f", "../flowrun.yml", "a", "-C", "in").expect(exit: 0)
    }

    @Test(arguments: [
        (["TESTS=foo"], "`TESTS=foo` is not a step; to give a parameter its value, write `--param TESTS=foo`"),
        (["test", "CC=gcc"], "`CC=gcc` is not a step; to give a parameter its value, write `--param CC=gcc`"),
        (["flowrun.yml", "A=b"], "`A=b` is not a step; to give a parameter its value, write `--param A=b`"),
        (["ci"], "there is no file `ci`; did you mean `ci.yml`?"),
        (["chekc"], "no step or group `chekc`; did you mean `check`? (in `flowrun.yml`)"),
        (["grahp"], "there is no file `grahp`; did you mean the command `graph`?"),
        (["buidl"], "no step or group `buidl`; did you mean `build`? (in `flowrun.yml`)"),
        (["ci.yml", "buidl"], "no step or group `buidl`; did you mean `build`?"),
        (["list", "ci"], "there is no file `ci`; did you mean `ci.yml`?"),
        (["why", "ci", "build"], "there is no file `ci`; did you mean `ci.yml`?"),
    ])
    func `what is no step is answered with what it may be`(words: [String], message: String) async throws {
        let test = try folder(["ci.yml": "version: 1\nsteps: { build: { run: 'true' } }\n"])
        try await test.start(words).finish().expect(exit: 64, stdout: "", stderr: "flowrun: \(message)\n")
    }

    @Test func `without any file it says what it looked for, and how to begin`() async throws {
        let test = try FlowrunTest(files: ["ci.yml": "version: 1\nsteps: { build: { run: 'true' } }\n"])
        let looked = "looked for `flowrun.yml` and `flowrun.yaml`"
        for words in [[], ["run"], ["check"], ["list"]] {
            let bare = try await test.start(words).finish()
            bare.expect(exit: 64, stdout: "")
            bare.expect(
                stderr: "flowrun: no workflow file is named, and there is none here: \(looked) in `",
                "usage: flowrun [FILE]")
            #expect(bare.stderr.split(separator: "\n").count == 5)
        }
        let word = try await test.run("build")
        word.expect(exit: 64, stdout: "")
        word.expect(
            stderr:
                "flowrun: there is no file `build`, and no workflow file here or above that could have such a step: ",
            "\(looked)\n", "flowrun init")
        try await test.run("ci").expect(stderr: "there is no file `ci`; did you mean `ci.yml`?")
        try await test.run("watch").expect(stderr: "the command `watch` is not built yet")
    }

    @Test func `where only manual steps are left there is nothing to run`() async throws {
        let test = try FlowrunTest(files: [
            "flowrun.yml": """
            version: 1
            steps:
              a: { manual: true, run: x }
              g: { manual: true, steps: { b: { manual: true, run: x } } }
            """
        ])
        try await test.run().expect(
            exit: 64, stdout: "",
            stderr: "flowrun: nothing to run: every step is manual; name what is to run, such as `a`\n")
        try await test.run("g").expect(stderr: "nothing to run: everything in `g` is manual")
    }

    @Test func `what is left out reads as skipped`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: 'true' }
              m: { manual: true, run: 'echo v=1 >> "$FLOWRUN_OUTPUT"', outputs: { v: string } }
              g:
                outputs: { v: "${{ steps.n.outputs.v ?? 'none' }}" }
                steps:
                  o: { run: 'true' }
                  n: { manual: true, run: 'echo v=2 >> "$FLOWRUN_OUTPUT"', outputs: { v: string } }
              read: { needs: [g], run: [echo, "${{ steps.g.outputs.v }}"] }
            finally:
              report: { run: [echo, "${{ steps.m.outcome }} ${{ steps.m.outputs.v ?? 'no v' }}"] }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(Set(log.startOrder) == ["a", "g.o", "read", "finally.report"])
        #expect(log.output(of: "finally.report") == "skipped no v\n")
        #expect(log.output(of: "read") == "none\n")
        #expect(log.first("run.started")?["steps"]?.int == 4)
        #expect(log.runFinished?["counts"]?["success"]?.int == 4)
    }

    @Test func `list shows what runs by default and what only by its name`() async throws {
        let test = try folder()
        try await test.run("list").expect(
            stdout: "build              (default) Compiles\n", "release            (manual)\n")
        let json = try await test.run("list", "--format", "json")
        json.expect(
            stdout: #""id":"build""#, #""default":true,"manual":false"#, #""id":"release""#,
            #""default":false,"manual":true"#)
    }

    @Test func `-l lists, -k goes on where the file says fail-fast, -q leaves only errors`() async throws {
        let test = try FlowrunTest(files: [
            "flowrun.yml": """
            version: 1
            fail-fast: true
            steps: { a: { run: exit 3 }, b: { needs: { a: done }, run: echo > ran } }
            """
        ])
        let list = try await test.run("list")
        list.expect(exit: 0)
        for words in [["-l"], ["run", "--list"], ["-l", "flowrun.yml"]] {
            try await test.start(words).finish().expect(exit: 0, stdout: list.stdout, stderr: "")
        }
        let json = try await test.run("list", "--format", "json")
        try await test.run("-l", "--format", "json").expect(exit: 0, stdout: json.stdout, stderr: "")
        try await test.run("-q").expect(exit: 1)
        #expect(!test.exists("ran"))
        let going = try await test.run("-kq")
        going.expect(exit: 1)
        #expect(test.exists("ran") && going.stdout.hasPrefix("\n1 error:\n  a: exit 3"))
    }

    @Test func `list says which instances run by default`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            default: ['build[x86].compile', 'test[a]', 'test[c]', all]
            steps:
              build: { for-each: [x86, arm], steps: { compile: { run: x } } }
              test: { for-each: [a, b, c], run: x }
              all: { for-each: [a, b], run: x }
            """)
        try await test.run("list", "workflow.yml").expect(
            stdout: "build.compile       (default: build[x86].compile)\n", "(default: test[a], test[c])\n",
            "all            × 2  (default)\n")
    }
}
