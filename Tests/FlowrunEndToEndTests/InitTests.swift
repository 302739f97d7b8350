import FlowrunTestSupport
import Foundation
import Testing

/// `flowrun init`: a first workflow file.
struct InitTests {
    @Test(arguments: [
        (["Package.swift"], "Package.swift", "build test"),
        (["Cargo.toml"], "Cargo.toml", "format build lint test"),
        (["go.mod"], "go.mod", "build vet test"),
        (["CMakeLists.txt"], "CMakeLists.txt", "configure build test"),
        (["pyproject.toml"], "pyproject.toml", "test"),
        (["package.json"], "package.json", "install build test dev"),
        (["package.json", "pnpm-lock.yaml"], "package.json", "install build test dev"),
        (["Makefile"], "Makefile", "build test clean"),
        (["Package.swift", "Makefile"], "Package.swift", "build test"),
        (["Package.swift", "package.json"], "`Package.swift` and `package.json`", "swift node"),
        ([], "two steps to start from", "hello goodbye"),
    ])
    func `init looks at the folder`(_ files: [String], _ found: String, _ steps: String) async throws {
        let contents = [
            "package.json": #"{"name": "x", "scripts": {"build": "tsc", "test": "vitest", "dev": "vite", "odd": "x"}}"#,
            "Makefile": "all: app\n\techo all\ntest: all\n\techo test\nclean:\n\trm -rf build\n",
        ]
        let test = try FlowrunTest(files: Dictionary(uniqueKeysWithValues: files.map { ($0, contents[$0] ?? "\n") }))
        let result = try await test.run("init")
        result.expect(exit: 0, stderr: "")
        result.expect(stdout: "wrote `flowrun.yml`: ", found, "next: `flowrun list`, then `flowrun`")
        try await test.run("check", "--strict").expect(exit: 0, stdout: "flowrun.yml: ok\n")
        let text = try test.contents(of: "flowrun.yml")
        let modeline = "# yaml-language-server: $schema=flowrun.schema.json\n#\n"
        #expect(text.hasPrefix(modeline + "# What there is to do in this folder.\n#\n#     flowrun "))
        let ids = text.split(separator: "\n").filter { $0.hasPrefix("  ") && $0.hasSuffix(":") && !$0.hasPrefix("   ") }
        #expect(ids.map { $0.dropFirst(2).dropLast() }.joined(separator: " ") == steps)
        if files.contains("pnpm-lock.yaml") { #expect(text.contains("run: pnpm run build")) }
    }

    @Test func `a first line names the schema, that of the program where it is installed`() async throws {
        let test = try FlowrunTest(files: [
            "Makefile": "a:\n\techo a\n", "usr/share/doc/flowrun/schema/flowrun.schema.json": "{}\n", "usr/bin/x": "",
        ])
        try await test.run("init", "--from", "Makefile").expect(exit: 0)
        #expect(try test.contents(of: "flowrun.yml").hasPrefix("# yaml-language-server: $schema=flowrun.schema.json\n"))
        let script = #"ln "$0" usr/bin/flowrun 2>/dev/null || cp "$0" usr/bin/flowrun; exec usr/bin/flowrun init -o -"#
        let installed = try await test.run(launcher: ["sh", "-c", script])
        installed.expect(exit: 0)
        let path = "/usr/share/doc/flowrun/schema/flowrun.schema.json"
        let first = try #require(installed.stdout.split(separator: "\n").first)
        #expect(first.hasPrefix("# yaml-language-server: $schema=/") && first.hasSuffix(path))
    }

    @Test func `the first workflow of an empty folder runs`() async throws {
        let test = try FlowrunTest()
        try await test.run("init").expect(exit: 0)
        let result = try await test.run("--log", "json")
        result.expect(exit: 0)
        #expect(try result.log().startOrder == ["hello", "goodbye"])
    }

    @Test(arguments: ["flowrun.yml", "flowrun.yaml"])
    func `a workflow file that is there is never replaced`(_ name: String) async throws {
        let test = try FlowrunTest(files: [name: "mine\n", "Makefile": "a:\n\techo a\n"])
        for arguments in [["init"], ["init", "--from", "Makefile"], ["init", "-o", name]] {
            try await test.start(arguments).finish().expect(
                exit: 1, stdout: "",
                stderr: "flowrun: `\(name)` exists and is not replaced; name another file with `-o FILE`\n")
        }
        #expect(try test.contents(of: name) == "mine\n")
        try await test.run("init", "-o", "other.yml").expect(exit: 0)
        #expect(test.exists("other.yml"))
    }

    @Test func `a dash writes to standard output, and what is to be said to standard error`() async throws {
        let test = try FlowrunTest(files: ["Makefile": "a:\n\techo a\n"])
        let first = try await test.run("init", "-o", "-")
        first.expect(exit: 0)
        first.expect(stderr: "flowrun: a workflow for `Makefile`\n", "init --from Makefile -o FILE")
        try await test.run("check", "-", stdin: .text(first.stdout)).expect(exit: 0)
        let second = try await test.run("init", "--from", "Makefile", "-o", "-")
        second.expect(exit: 0, stderr: "flowrun: converted: 1 step from `Makefile`, read by flowrun alone\n")
        try await test.run("check", "-", stdin: .text(second.stdout)).expect(exit: 0)
        #expect(!test.exists("flowrun.yml"))
    }

    @Test func `the workflow is written beside the file, and beside .github`() async throws {
        let test = try FlowrunTest(files: [
            "sub/Makefile": "a:\n\techo a > made\n",
            ".github/workflows/ci.yml":
                "jobs:\n  b:\n    runs-on: ubuntu-latest\n    steps: [{ run: echo from b }]\n",
        ])
        try await test.run("init", "--from", "sub/Makefile").expect(
            exit: 0,
            stdout: "wrote `sub/flowrun.yml`: 1 step from `sub/Makefile`, read by flowrun alone\n"
                + "next: `flowrun list sub/flowrun.yml`\n")
        try await test.run("-f", "sub/flowrun.yml").expect(exit: 0)
        #expect(try test.contents(of: "sub/made") == "a\n")
        try await test.run("init", "--from", ".github/workflows/ci.yml").expect(stdout: "wrote `flowrun.yml`: 1 step")
        try await test.run().expect(stdout: "| from b\n")
        try await test.run("init", "-C", "sub", "--from", "Makefile", "-o", "x.yml").expect(exit: 0)
        #expect(test.exists("sub/x.yml"))
    }

    @Test func `what cannot be converted at all is said`() async throws {
        let test = try FlowrunTest(files: [
            "notes.txt": "x\n", "docker-compose.yml": "services: {}\n", "Taskfile.yml": "tasks:\n  a: [\n",
            "Makefile": "# empty\n",
        ])
        for (arguments, status, message) in [
            (
                ["--from", "notes.txt"], 64,
                "`notes.txt` is not known as a file to convert; expected a Makefile or *.mk"
            ),
            (["--from", "docker-compose.yml"], 64, "`docker-compose.yml` is not known as a file to convert"),
            (["--from", "Taskfile.yml"], 1, "`Taskfile.yml` cannot be read as YAML\n"),
            (["--from", "Makefile"], 1, "`Makefile` has nothing that could be a step\n"),
            (["--from", "nowhere.mk"], 125, "`nowhere.mk`: there is no such file\n"),
            (["Makefile"], 64, "unexpected `Makefile`; to convert a file, write `--from Makefile`\n"),
            (["-o", "no/such.yml"], 125, "cannot write `no/such.yml`: no such file or directory\n"),
        ] {
            let result = try await test.start(["init"] + arguments).finish()
            result.expect(.exited(Int32(status)))
            result.expect(stderr: "flowrun: \(message)")
            #expect(result.stdout == "")
        }
        try await test.run("init", "--from", "Taskfile.yml").expect(stderr: "Taskfile.yml:", "error[FR0105]")
        #expect(!test.exists("flowrun.yml"))
    }

    @Test func `what is to be filled in is said, and fails when it is run`() async throws {
        let test = try FlowrunTest(files: ["Makefile": "good:\n\t@echo good\nodd:\n\t$(flavor x)\n"])
        let result = try await test.run("init", "--from", "Makefile")
        result.expect(exit: 0)
        result.expect(
            stdout: "wrote `flowrun.yml`: 2 steps from `Makefile`, read by flowrun alone\nto be filled in: odd\n",
            "say `not converted`")
        try await test.run("good").expect(.exited(0))
        let odd = try await test.run("odd")
        odd.expect(exit: 1)
        odd.expect(stdout: "odd: to be filled in")
    }

    /// What a makefile's recipes write, and what their steps write.
    @Test func `the steps of a makefile do what make does`() async throws {
        let makefile = """
            NAME = two words
            FLAGS ?= -a -b
            LIST := x.c y.c z.c
            STAMP := $(shell echo 'from a shell')
            QUOTED = "a  b" 'c  d'
            HERE = $(CURDIR)

            all: args quotes lines files out/x.o

            args:
            \t@printf '[%s]' $(NAME) $(FLAGS) $(QUOTED) >> out.txt; echo >> out.txt
            quotes: args
            \t@echo '$(NAME)' "$(NAME)" '$$HOME' "$$((1+2))" $(STAMP) '$(STAMP)' "it's $(STAMP)" >> out.txt
            lines: quotes
            \t@cd / && X=1
            \t-@false
            \t@echo "$${X:-unset} $$(basename "$$PWD") $(HERE)" >> out.txt; \\
            \techo joined >> out.txt
            files: lines
            \t@echo $(LIST:.c=.o) $(patsubst %.c,src/%.c,$(LIST)) $(filter-out y%,$(LIST)) $(words $(LIST)) >> out.txt
            out/%.o: files
            \t@echo "$@ $< $* $(@D) $(@F) $^" >> out.txt

            .PHONY: all args quotes lines files

            """
        let test = try FlowrunTest(files: ["made/Makefile": makefile, "ran/Makefile": makefile])
        let make = try await test.run(launcher: ["sh", "-c", "make -s 2>/dev/null"], in: "made")
        make.expect(exit: 0)
        try await test.run("init", "--from", "Makefile", in: "ran").expect(exit: 0)
        try await test.run("--env", "HOME=/", in: "ran").expect(exit: 0)
        let (wanted, found) = (try test.contents(of: "made/out.txt"), try test.contents(of: "ran/out.txt"))
        #expect(found == wanted.replacing("made", with: "ran"))
        #expect(wanted.split(separator: "\n").count == 6)
    }
}
