import FlowrunTestSupport
import Syntax
import Testing
import WorkflowConversion

/// What comes of the answers of tools, recorded from GNU Make 4.3, just 1.59.0 and Task 3.54.0.
struct AskingTests {
    /// Converts a file with one answer to all questions; gives the questions too.
    private func asked(
        _ text: String, _ name: String, files: [String: String] = [:], answers: [String]
    ) async throws -> (text: String, questions: [ToolQuestion]) {
        let folder = ForeignFolder(
            names: { $0 == "." ? Set(files.keys) : nil }, text: { files[$0] })
        let file = try #require(ForeignFile(SourceFile(name: name, text: text), in: folder))
        var questions: [ToolQuestion] = []
        var draft = try await file.draft { question in
            questions.append(question)
            return answers[min(questions.count, answers.count) - 1]
        }
        draft.settle(check: wrongLines)
        #expect(wrongLines(draft.text) == [], "\(draft.text)")
        return (draft.text, questions)
    }

    private static func database(_ variables: String, _ rules: String) -> String {
        """
        # GNU Make 4.3
        # Make data base, printed on Sat Nov 28 17:05:41 2026

        # Variables

        # default
        CC = cc
        # environment
        PATH = /usr/bin
        # makefile (from 'Makefile', line 1)
        MAKEFILE_LIST := Makefile
        \(variables)
        # variable set hash-table stats:
        # Load=144/1024=14%

        # Files

        # Not a target:
        .c.o:
        #  Builtin rule
        #  recipe to execute (built-in):
        \t$(COMPILE.c) $(OUTPUT_OPTION) $<

        \(rules)

        # files hash-table stats:
        # Finished Make data base on Sat Nov 28 17:05:41 2026

        """
    }

    @Test func `make is asked twice: for its database, and for the branches that it takes`() async throws {
        let makefile = "ifeq ($(shell x),1)\na: ; echo a\nelse ifdef B\nb: ; echo b\nelse\nc: ; echo c\nendif\n"
        let database = Self.database("", "b:\n#  recipe to execute (from 'Makefile', line 4):\n\techo b\n")
        let (text, questions) = try await asked(
            makefile, "Makefile", answers: [database, "flowrun-asks 0 -\nflowrun-asks 0 1\n" + database])
        #expect(questions.map(\.program) == ["make", "make"] && questions.allSatisfy(\.runsFile))
        #expect(questions[0].files == [:])
        #expect(
            questions[1].files == [
                "Makefile": "$(info flowrun-asks 0 -)\nifeq ($(shell x),1)\n$(info flowrun-asks 0 0)\na: ; echo a\n"
                    + "else ifdef B\n$(info flowrun-asks 0 1)\nb: ; echo b\nelse\n$(info flowrun-asks 0 2)\nc: ; echo c\n"
                    + "endif\n"
            ])
        #expect(text.contains("steps:\n") && text.contains("run: echo b\n") && !text.contains("echo c\n    run"))
        #expect(!text.contains("to be filled in"), "\(text)")
        #expect(text.contains("if: (env.B ?? '') == ''"))
    }

    @Test func `a message is never put where a recipe goes on, or into a definition`() async throws {
        let makefile =
            "a:\n\techo 1\nifdef X\n\techo 2\nelse\n\techo 3\nendif\ndefine D\nifdef Y\nz\nendif\nendef\n"
            + "V = 1\nifdef Z\n\tW = 2\nendif\n"
        let (_, questions) = try await asked(
            makefile, "Makefile",
            answers: [Self.database("", "a:\n#  recipe to execute (from 'Makefile', line 2):\n\techo 1\n\techo 3\n")])
        #expect(
            questions[1].files["Makefile"]
                == makefile.replacing(
                    "ifdef Z\n", with: "$(info flowrun-asks 0 -)\nifdef Z\n$(info flowrun-asks 0 0)\n"))
    }

    @Test func `values and rules of the database complete and correct what was read`() async throws {
        let variables = """
            # makefile (from 'Makefile', line 1)
            LIST := one two
            # 'override' directive (from 'Makefile', line 2)
            PRICE := 3$$
            # makefile (from 'Makefile', line 3)
            define lines
            echo 1
            echo 2
            endef
            # makefile
            .DEFAULT_GOAL := two
            """
        let rules = """
            one: two | dir
            #  Phony target (prerequisite of .PHONY).
            #  recipe to execute (from 'Makefile', line 5):
            \t@echo a \\
            \t  b $@
            \t-false

            two:
            #  recipe to execute (from 'Makefile', line 5):
            \techo $(PRICE)

            dir:
            #  recipe to execute (from 'Makefile', line 5):
            \tmkdir dir
            """
        let (text, _) = try await asked(
            "$(eval $(RULES))\n", "Makefile", answers: [Self.database(variables, rules)])
        #expect(text.contains("default: [two]"))
        for part in [
            "  one:\n    needs: [two, dir]\n    run: |\n      echo a \\\n        b one\n      false || true\n",
            "  two:\n    run: echo 3$\n", "  dir:\n    run: mkdir dir\n",
        ] { #expect(text.contains(part), "\(part)\nin\n\(text)") }
    }

    @Test func `options of one call and hidden exports leave all steps unfinished`() async throws {
        let database = Self.database("", "a:\n#  recipe to execute (from 'Makefile', line 2):\n\techo a\n")
        for line in [
            "D = export X := $(MAKE_VERSION)\n$(eval $(D))", "$(shell mkdir made)", "$(eval $(shell cat x))",
            "$(foreach g,$(MAKECMDGOALS),$(eval $(g): ;))", "vpath %.c $(shell echo src)",
        ] {
            let (text, _) = try await asked("\(line)\na: ; echo a\n", "Makefile", answers: [database])
            #expect(text.contains("a: to be filled in"), "\(text)")
        }
    }

    @Test func `what just dumps is read where own reading gives up`() async throws {
        let dump = #"""
            {"aliases":{"t":{"attributes":[],"name":"t","target":"test"}},"assignments":{"v":{"export":true,"name":"v","value":["concatenate","x",["evaluate","echo hi"]]}},"doc":null,"first":"test","modules":{},"recipes":{"dep":{"attributes":[],"body":[["echo ",[["variable","n"]]]],"dependencies":[],"doc":null,"name":"dep","parameters":[{"default":null,"export":false,"kind":"singular","name":"n"}],"priors":0,"private":false,"quiet":false,"shebang":false},"test":{"attributes":["linux"],"body":[["echo {{ it's \"q\""]],"dependencies":[{"arguments":["a b"],"recipe":"dep"}],"doc":"the test","name":"test","parameters":[],"priors":1,"private":false,"quiet":true,"shebang":false}},"settings":{"dotenv_load":false,"shell":{"arguments":["-c"],"command":"bash"}},"source":"/x/justfile","unexports":[],"warnings":[]}
            """#
        let (text, questions) = try await asked(
            "import 'made' + '.just'\ntest:\n    echo\n", "justfile", answers: [dump])
        #expect(questions.map(\.runsFile) == [false])
        #expect(!text.contains("to be filled in"), "\(text)")
        for part in ["default: [test]", "description: the test", "shell: [bash, -e, -c]", "it's \"q\"", "  t:\n"] {
            #expect(text.contains(part), "\(part)\nin\n\(text)")
        }
    }

    @Test(arguments: ["", "no JSON: [", "# Make data base, printed on"])
    func `an answer of another form is an error`(_ answer: String) async throws {
        for name in ["Makefile", "justfile", "Taskfile.yml"] {
            let text = name == "Taskfile.yml" ? "tasks:\n  a: { cmds: [echo a] }\n" : "a:\n\techo a\n"
            await #expect(throws: ForeignFileError.self) { try await asked(text, name, answers: [answer]) }
        }
    }
}
