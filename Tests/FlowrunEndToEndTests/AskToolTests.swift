import FlowrunTestSupport
import Foundation
import Testing

/// `flowrun init --from FILE --ask-tool`.
struct AskToolTests {
    /// The names of targets, conditions over commands and rules made by `eval` are what only make knows.
    private static let makefile = """
        NAME := $(shell echo computed | tr a-z A-Z)
        V ?= 1
        ifeq ($(NAME),COMPUTED)
        WORD = yes
        first:
        \t@echo first $(WORD)
        else
        WORD = no
        other:
        \t@echo other
        endif
        ifdef DEBUG
        $(error not now)
        endif
        define both
        $(1)-x: first
        \t@echo $(1) $$@ '$$(V)'
        endef
        $(foreach l,p q,$(eval $(call both,$(l))))
        $(eval WHO ?= you)
        # all of it
        all: $(addsuffix -x,p q) $(shell echo m)ade
        \t@echo all $(V) $(WHO)
        $(shell echo made): | first
        \t@echo made $@
        .PHONY: all $(shell echo made)

        """

    private static func unfinished(_ result: FlowrunResult) -> [String] {
        let line = result.stdout.split(separator: "\n").first { $0.hasPrefix("to be filled in: ") }
        return line?.dropFirst(17).split(separator: ", ").map(String.init) ?? []
    }

    /// The lines that steps have written.
    private static func lines(of run: FlowrunResult) throws -> [String] {
        try run.log().all("step.output").compactMap { $0["text"]?.string?.trimmingCharacters(in: .newlines) }
    }

    @Test func `make knows conditions, names and rules that own reading cannot know`() async throws {
        let test = try FlowrunTest(files: ["Makefile": Self.makefile])
        let own = try await test.run("init", "--from", "Makefile", "-o", "own.yml")
        own.expect(exit: 0, stderr: "")
        own.expect(stdout: "from `Makefile`, read by flowrun alone\nto be filled in: ")
        #expect(Self.unfinished(own).contains("first") && Self.unfinished(own).contains("all"))
        #expect(try test.contents(of: "own.yml").contains("by `flowrun init --from`, read by flowrun alone.\n"))
        let asked = try await test.run("init", "--from", "Makefile", "--ask-tool")
        asked.expect(exit: 0, stderr: "")
        asked.expect(stdout: "wrote `flowrun.yml`: 5 steps from `Makefile`, read by flowrun and `make -pn`\n")
        #expect(Self.unfinished(asked) == [])
        let text = try test.contents(of: "flowrun.yml")
        #expect(text.contains("by `flowrun init --from --ask-tool`, read by flowrun and `make -pn`.\n"))
        #expect(text.contains("default: [first]") && text.contains("description: all of it"))
        #expect(!text.contains("\n  other:\n"))

        let make = try await test.run(launcher: ["sh", "-c", "make -s all"])
        let run = try await test.run("all", "-j", "1", "--log", "json")
        run.expect(exit: 0)
        let lines = try Self.lines(of: run)
        #expect(lines.sorted() == make.stdout.split(separator: "\n").map(String.init).sorted())
        #expect(lines.count == 5)
        // make stops, too.
        let debug = try await test.run("all", environment: ["DEBUG": "1"])
        debug.expect(exit: 1)
        debug.expect(stdout: "not now")
    }

    @Test func `what a file does while it is read happens in a copy, of which nothing is left`() async throws {
        let test = try FlowrunTest(files: [
            "sub/Makefile": """
            include made.mk
            WORDS := $(shell cat word > touched; cat word)
            made.mk: word
            \techo "FROM = $$(cat word)" > $@
            all:
            \t@echo $(FROM) $(CURDIR)

            """, "sub/word": "read\n", "tmp/keep": "",
        ])
        let environment = ["TMPDIR": test.path("tmp")]
        let result = try await test.run("init", "--from", "sub/Makefile", "--ask-tool", environment: environment)
        result.expect(exit: 0, stderr: "")
        #expect(Self.unfinished(result) == [])
        #expect(!test.exists("sub/touched") && !test.exists("sub/made.mk"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: test.path("tmp")) == ["keep"])
        let text = try test.contents(of: "sub/flowrun.yml")
        #expect(!text.contains(test.path("tmp")))
        let run = try await test.run("all", "--log", "json", in: "sub")
        #expect(try Self.lines(of: run) == ["read \(test.path("sub"))"])
    }

    @Test func `a file behind a link out of the folder stays as it is`() async throws {
        let rules = "ifdef CI\nx = ci\nelse\nx = here\nendif\n"
        let test = try FlowrunTest(files: [
            "sub/Makefile": "include mk/rules.mk\nall: ; @echo $(x)\n", "outside/rules.mk": rules, "tmp/keep": "",
        ])
        try FileManager.default.createSymbolicLink(
            atPath: test.path("sub/mk"), withDestinationPath: test.path("outside"))
        let result = try await test.run(
            "init", "--from", "sub/Makefile", "--ask-tool", environment: ["TMPDIR": test.path("tmp")])
        result.expect(exit: 0)
        #expect(try test.contents(of: "outside/rules.mk") == rules)
    }

    @Test func `nothing of the caller's environment decides, and none of it is written`() async throws {
        let test = try FlowrunTest(files: [
            "Makefile": "ifdef SECRET\nx := $(SECRET)\nelse\nx := none\nendif\n$(shell echo a): ; echo $(x)\n"
        ])
        let result = try await test.run(
            "init", "--from", "Makefile", "--ask-tool", "-o", "-", environment: ["SECRET": "hunter2"])
        result.expect(exit: 0)
        #expect(!result.stdout.contains("hunter2"))
    }

    @Test func `a tool that is not there, refuses, says too much or is late is told, and nothing is written`()
        async throws
    {
        let test = try FlowrunTest(files: [
            "Makefile": "a: ; echo a\n", "bad/Makefile": "a: ; echo a\n$(error no such luck)\n",
            "slow/Makefile": "X := $(shell exec sleep 1000)\na: ; echo a\n", "empty/keep": "", "tmp/keep": "",
            "loud/make": "#!/bin/sh\nexec yes\n", "odd/make": "#!/bin/sh\necho hello\n",
            "ci.yml": "jobs:\n  b: { runs-on: x, steps: [{ run: echo b }] }\n",
        ])
        for tool in ["loud/make", "odd/make"] {
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: test.path(tool))
        }
        let usual = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let without = "convert it without `--ask-tool`\n"
        for (arguments, path, status, message) in [
            (
                ["--from", "Makefile"], test.path("empty"), 1,
                "`make -pn` about `Makefile`: there is no program `make` on PATH; install it, or \(without)"
            ),
            (
                ["--from", "bad/Makefile"], usual, 1,
                "`make -pn` about `Makefile`: it says `Makefile:2: *** no such luck.  Stop.`; mend the file, or "
                    + without
            ),
            (
                ["--from", "Makefile"], test.path("loud") + ":" + usual, 1,
                "`make -pn` about `Makefile`: more than 64 MiB of output; ask about a smaller file, or \(without)"
            ),
            (
                ["--from", "Makefile"], test.path("odd") + ":" + usual, 1,
                "`make -pn` about `Makefile`: there is no database in the answer, as GNU make prints it; install "
                    + "GNU make, or \(without)"
            ),
            (
                ["--from", "slow/Makefile", "--timeout", "200ms"], usual, 1,
                "`make -pn` about `Makefile`: no answer within 0.200s; give it more time with `--timeout`, or \(without)"
            ),
            (
                ["--from", "ci.yml"], usual, 64,
                "`--ask-tool`: no tool answers for `ci.yml`, a GitHub workflow; expected a Makefile, a justfile"
            ),
            ([], usual, 64, "`--ask-tool` needs the file to ask about: `--from FILE`\n"),
        ] {
            let result = try await test.start(
                ["init", "--ask-tool", "-o", "made.yml"] + arguments,
                environment: ["PATH": path, "TMPDIR": test.path("tmp")]
            ).finish()
            result.expect(exit: Int32(status), stdout: "")
            result.expect(stderr: "flowrun: \(message)")
            #expect(!test.exists("made.yml"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: test.path("tmp")) == ["keep"])
        }
        try await test.run("init", "--from", "Makefile", "--timeout", "1s").expect(
            stderr: "flowrun: `--timeout` is only for `--ask-tool`\n")
    }

    @Test func `a signal ends the tool and flowrun, and the copy goes`() async throws {
        let test = try FlowrunTest(files: ["tmp/keep": ""])
        try test.write(
            "X := $(shell echo $$$$ > \(test.path("pid")); echo up > \(test.path("up")); exec sleep 1000)\n"
                + "a: ; echo a\n",
            to: "Makefile")
        let running = try await test.start(
            "init", "--from", "Makefile", "--ask-tool", environment: ["TMPDIR": test.path("tmp")])
        try await running.waitForFile("up")
        running.signal(SIGINT)
        let result = try await running.finish()
        result.expect(.signalled(SIGINT))
        let pid = try #require(Int32(test.contents(of: "pid").split(separator: "\n")[0]))
        #expect(kill(pid, 0) == -1 && errno == ESRCH)
        #expect(!test.exists("flowrun.yml"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: test.path("tmp")) == ["keep"])
    }

    // MARK: - The other tools

    private static func isInstalled(_ program: String) -> Bool {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
    }

    @Test(.enabled(if: isInstalled("just"), "just is not installed"))
    func `just knows the recipes of modules`() async throws {
        let test = try FlowrunTest(files: [
            "justfile": "mod tools\nmod odd\na: b\n    echo a\nb:\n    echo b\n",
            "tools/mod.just": "# says where\nwhere: how\n    @pwd\nhow:\n    @echo how\n",
            "odd.just": "x := 'y'\nsay:\n    echo {{x}}\n",
        ])
        let result = try await test.run("init", "--from", "justfile", "--ask-tool")
        result.expect(exit: 0, stderr: "")
        result.expect(
            stdout:
                "wrote `flowrun.yml`: 5 steps from `justfile`, read by flowrun and `just --dump --dump-format json`\n",
            "to be filled in: odd-say\n")
        let run = try await test.run("tools-where", "--log", "json")
        #expect(
            try Self.lines(of: run) == ["how", test.path("tools")])
        try await test.run("run", "a").expect(exit: 0)
        try test.write("a:\n    echo {{\n", to: "bad.just")
        try await test.run("init", "--from", "bad.just", "--ask-tool", "-o", "bad.yml").expect(
            exit: 1, stdout: "")
        #expect(!test.exists("bad.yml"))
    }

    @Test(.enabled(if: isInstalled("task"), "task is not installed"))
    func `task knows the tasks of included files`() async throws {
        let test = try FlowrunTest(files: [
            "Taskfile.yml":
                "version: '3'\nincludes:\n  sub: './{{OS}}'\n  odd: '{{OS}}.yml'\n"
                + "tasks:\n  a: { cmds: [echo a] }\n",
            "linux/Taskfile.yml":
                "version: '3'\ntasks:\n  m: { desc: the m, deps: [n], cmds: [echo m] }\n  n: { cmds: [echo n] }\n",
            "linux.yml": "version: '3'\ntasks:\n  say: { cmds: ['echo {{.X}}'] }\n",
        ])
        let result = try await test.run("init", "--from", "Taskfile.yml", "--ask-tool")
        result.expect(exit: 0, stderr: "")
        result.expect(
            stdout: "wrote `flowrun.yml`: 4 steps from `Taskfile.yml`, read by flowrun and `task --list-all",
            "to be filled in: a, odd-say\n")
        let run = try await test.run("sub-m", "--log", "json", "-j", "1")
        #expect(try Self.lines(of: run) == ["n", "m"])
        #expect(try test.contents(of: "flowrun.yml").contains("the task is line 3 of `linux.yml`, which is included"))
    }
}
