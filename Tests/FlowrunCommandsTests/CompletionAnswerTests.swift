import FlowrunTestSupport
import Glibc
import Testing

@testable import FlowrunCommands

/// What may stand in the place of the last word.
@Suite struct CompletionAnswerTests {
    private func candidates(_ words: String...) -> [String] { CompletionAnswer(words).candidates.map(\.text) }

    private func kind(_ words: String...) -> CompletionAnswer.Kind { CompletionAnswer(words).kind }

    @Test func `a first word is a command or a file`() {
        #expect(candidates("pl") == ["plan"])
        #expect(candidates("") == Command.allCases.map(\.rawValue))
        #expect(kind("pl") == .files)
        #expect(candidates("help", "ex") == ["explain"])
        #expect(kind("help", "ex") == .words)
    }

    @Test func `options are those of the command`() {
        #expect(
            candidates("check", "--") == [
                "--jobs", "--format", "--strict", "--deadline", "--color", "--file", "--allow-outside", "--help",
            ])
        #expect(candidates("--pa") == ["--param", "--paused"])
        #expect(candidates("completion", "") == ["bash", "zsh", "fish"])
        #expect(candidates("why", "--r") == ["--run"])
        #expect(candidates("a.yml", "--", "--pa") == [])
    }

    @Test func `a value is completed behind its option and joined to it`() {
        #expect(candidates("a.yml", "--log", "") == ["text", "json", "quiet"])
        #expect(candidates("a.yml", "--log=j") == ["--log=json"])
        #expect(candidates("graph", "--format", "m") == ["mermaid"])
        #expect(kind("a.yml", "--log-file", "x") == .files)
        #expect(kind("a.yml", "--log-file=x") == .files)
        #expect(kind("a.yml", "-C", "") == .folders)
        #expect(kind("a.yml", "--timeout", "") == .words)
    }

    @Test func `behind two dashes there are files`() {
        #expect(kind("a.yml", "--", "x") == .files)
        #expect(candidates("--", "pl") == [])
        #expect(kind("ctl", "--", "p") == .files)
    }

    @Test func `ctl has requests`() {
        #expect(candidates("ctl", "p") == ["pause"])
        #expect(candidates("ctl", "20261121T121845-1f3a9c", "r") == ["resume"])
        #expect(candidates("ctl", "resume", "") == [])
    }

    @Test func `steps and parameters are those of the file`() throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { mode: { type: enum, values: [fast, full], default: fast }, dry: { type: bool }, path: { type: string } }
            steps:
              build: { description: "compiles", matrix: { os: [a, b] }, run: x }
              bench: { run: x }
            """)
        let file = test.path("workflow.yml")
        #expect(candidates(file, "b") == ["build", "build[a]", "build[b]", "bench"])
        #expect(candidates("run", file, "bench", "build[") == ["build[a]", "build[b]"])
        #expect(candidates("ctl", "--file", file, "cancel", "be") == ["bench"])
        #expect(candidates("why", "--file", file, "be") == ["bench"])
        #expect(CompletionAnswer([file, "build"]).candidates.first?.help == "compiles")
        #expect(candidates(file, "--param", "m") == ["mode="])
        #expect(kind(file, "--param", "m") == .prefixes)
        #expect(candidates(file, "--param", "mode=fu") == ["mode=full"])
        #expect(candidates(file, "--param=dry=") == ["--param=dry=true", "--param=dry=false"])
    }

    @Test func `aliases are names too, and what is internal is none`() throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              build: { aliases: [make, mk], run: x }
              g: { aliases: [group], steps: { s: { aliases: [z], matrix: { o: [a] }, run: x } } }
              helper: { internal: true, aliases: [h], run: x }
              inner: { internal: true, steps: { part: { run: x } } }
            """)
        let file = test.path("workflow.yml")
        #expect(candidates(file, "") == ["build", "make", "mk", "g", "group", "g.s", "g.z", "g.s[a]"])
        #expect(CompletionAnswer([file, "mk"]).candidates.first?.help == "the same as build")
        #expect(candidates(file, "group.") == ["group.s", "group.z", "group.s[a]"])
        #expect(candidates(file, "run", "group.z") == ["group.z"])
        for word in ["mk.", "none.", ".", "helper.", "inner."] { #expect(candidates(file, word) == [], "\(word)") }
    }

    @Test func `behind a step with parameters are their values, then steps again`() throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { mode: { type: enum, values: [fast, full], default: fast } }
            steps:
              deploy:
                aliases: [d]
                params:
                  stage: { type: enum, values: [prod, test], required: true, description: where to }
                  dry: { type: bool }
                  file: { type: path, default: . }
                run: x
              other: { run: x }
            """)
        let file = test.path("workflow.yml")
        #expect(candidates(file, "deploy", "") == ["prod", "test", "stage=", "dry=", "file="])
        #expect(kind(file, "deploy", "") == .prefixes)
        #expect(candidates(file, "d", "prod", "") == ["true", "false", "dry=", "file="])
        #expect(candidates(file, "d", "stage=t") == ["stage=test"])
        #expect(candidates("run", file, "d", "dry=true", "") == ["prod", "test", "stage=", "file="])
        #expect(kind(file, "d", "prod", "true", "") == .files)
        #expect(kind(file, "d", "file=") == .value)
        #expect(kind(file, "--param", "deploy.file=x") == .value)
        #expect(kind(file, "--param=deploy.file=x") == .value)
        #expect(candidates(file, "d", "prod", "true", ".", "") == ["deploy", "d", "other"])
        #expect(candidates("why", "--file", file, "") == ["deploy", "d", "other"])
        #expect(candidates(file, "--param", "") == ["mode=", "deploy.stage=", "deploy.dry=", "deploy.file="])
        #expect(candidates(file, "--param", "deploy.stage=p") == ["deploy.stage=prod"])
        #expect(CompletionAnswer([file, "deploy", "st"]).candidates.first?.help == "where to")
    }

    @Test func `a file with mistakes has the names that are in it, and what is no workflow has none`() throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { needs: [x], run: y }, g: { steps: { b: { rum: z } } } }\n", files: ["text": "["])
        #expect(candidates(test.path("workflow.yml"), "") == ["a", "g", "g.b"])
        #expect(candidates(test.path("text"), "") == [])
        #expect(candidates("-", "") == [])
        #expect(candidates("/dev/zero", "") == [])
    }

    @Test func `each shell gets its own form`() throws {
        #expect(CompletionAnswer.text(for: ["bash", "a.yml", "--log", "=", "j"]) == "words\njson\n")
        #expect(CompletionAnswer.text(for: ["bash", "a.yml", "--log", "="]) == "words\ntext\njson\nquiet\n")
        #expect(CompletionAnswer.text(for: ["fish", "a.yml", "--log=j"]) == "words\n--log=json\n")
        #expect(CompletionAnswer.text(for: ["zsh", "chec"]) == "files\ncheck:\(Command.check.summary)\n")
        #expect(CompletionAnswer.text(for: ["fish", "chec"]) == "files\ncheck\t\(Command.check.summary)\n")
        #expect(CompletionAnswer.text(for: ["bash", "check", "--str"]) == "words\n--strict\n")
        let test = try FlowrunTest(
            """
            version: 1
            params: { p: { type: enum, values: ["a;b c", d], default: d } }
            steps: { s: { run: x, env: { P: "${{ params.p }}" } } }
            """)
        let file = test.path("workflow.yml")
        #expect(
            CompletionAnswer.text(for: ["bash", file, "--param", "p", "=", ""]) == "words\na\\;b\\ c\nd\n",
            "a candidate is no code")
        #expect(CompletionAnswer.text(for: ["tcsh", "x"]) == "")
        #expect(CompletionAnswer.text(for: []) == "")
    }

    @Test func `a line that names another folder or file means its steps`() throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: x } }\n",
            files: ["sub/flowrun.yml": "version: 1\nsteps: { b: { run: x } }\n"])
        #expect(candidates("list", "-f", test.path("workflow.yml"), "") == [])
        #expect(candidates("plan", "-f", test.path("sub/flowrun.yml"), "") == ["b"])
        #expect(candidates("why", "--file=\(test.path("sub/flowrun.yml"))", "") == ["b"])
    }

    @Test func `the names of two thousand steps take hardly longer than a plan of them`() throws {
        let steps = (1...2000).map { number in
            "  step-\(number): { description: part \(number), needs: [\(number > 1 ? "step-\(number - 1)" : "")], run: make part-\(number) }"
        }
        let test = try FlowrunTest("version: 1\nsteps:\n" + steps.joined(separator: "\n") + "\n")
        let file = test.path("workflow.yml")
        #expect(candidates(file, "step-199").count == 11)
        func cost(_ body: () -> Void) -> Duration {
            let start = Self.processorTime
            body()
            return Self.processorTime - start
        }
        // By turns, because others take the caches away.
        let rounds = (0..<5).map { _ in
            (answer: cost { _ = CompletionAnswer([file, "step-199"]) }, plan: cost { _ = WorkflowLoader(file).plan })
        }
        let (answer, plan) = (rounds.map(\.answer).min()!, rounds.map(\.plan).min()!)
        #expect(answer < plan * 5 / 4)
    }

    /// Of this thread.
    private static var processorTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
