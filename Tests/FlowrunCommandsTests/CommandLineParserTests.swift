import RunLog
import Running
import Testing

@testable import FlowrunCommands

/// How a command line is read.
@Suite struct CommandLineParserTests {
    private func given(_ arguments: Arguments) -> [String] {
        arguments.given.map { "\($0.option.spelling)" + ($0.value.map { "=\($0)" } ?? "") }
    }

    @Test(arguments: [
        ["a.yml", "-j", "4", "--log", "json"], ["-j4", "--log=json", "a.yml"], ["--jobs=4", "a.yml", "--log", "json"],
        ["run", "--jobs", "4", "--log", "json", "a.yml"], ["-j", "4", "run", "--log=json", "a.yml"],
        ["-j=4", "--log", "json", "a.yml", "--"],
    ])
    func `a value stands behind its option or is joined to it, and options stand anywhere`(words: [String]) throws {
        let arguments = try CommandLineParser.parse(words)
        #expect(arguments.operands == ["a.yml"])
        #expect(given(arguments) == ["--jobs=4", "--log=json"])
    }

    @Test func `the last of several values counts, and all of a repeatable option`() throws {
        let arguments = try CommandLineParser.parse(
            ["-C", "x", "a.yml", "--param", "a=1", "--log", "json", "-Cy", "--log=quiet", "--param=b=2=3"])
        #expect(arguments.value(.log) == "quiet")
        #expect(arguments.values(.param) == ["a=1", "b=2=3"])
        #expect(arguments.values(.folder) == ["x", "y"])
    }

    @Test func `short options may share a dash, and one that stands for a value counts as the value`() throws {
        let arguments = try CommandLineParser.parse(["-qvyk", "a.yml"])
        #expect(given(arguments) == ["--quiet=quiet", "--verbose", "--yes", "--keep-going=false"])
        let request = try RunRequest(arguments)
        #expect(request.log == .quiet && request.isVerbose && request.options.isConfirmed)
        #expect(request.options.failFast == false)
        for (words, log) in [(["-q", "--log", "json"], LogForm.json), (["--log", "json", "-q"], .quiet)] {
            #expect(try RunRequest(CommandLineParser.parse(["a.yml"] + words)).log == log)
        }
        let last = try CommandLineParser.parse(["a.yml", "-k", "--fail-fast"])
        #expect(try RunRequest(last).options.failFast == true)
        #expect(throws: CommandError.self) { try CommandLineParser.parse(["a.yml", "--quiet=x"]) }
    }

    @Test func `two dashes end the options, and what follows is for the steps of a run`() throws {
        for words in [["a.yml", "--", "--paused", "-j"], ["run", "a.yml", "--", "--paused", "-j"]] {
            let arguments = try CommandLineParser.parse(words)
            #expect(arguments.operands == ["a.yml"])
            #expect(arguments.passed == ["--paused", "-j"])
            #expect(arguments.given.isEmpty)
        }
        let other = try CommandLineParser.parse(["check", "--", "-a.yml"])
        #expect(other.operands == ["-a.yml"])
        #expect(other.passed == [])
    }

    @Test func `one dash is an operand`() throws {
        #expect(try CommandLineParser.parse(["check", "-", "a.yml"]).operands == ["-", "a.yml"])
    }

    @Test func `a value may begin with a dash`() throws {
        #expect(try CommandLineParser.parse(["a.yml", "--param", "-x=1"]).value(.param) == "-x=1")
        #expect(try CommandLineParser.parse(["a.yml", "--log-file=--paused"]).value(.logFile) == "--paused")
    }

    @Test func `only the first word is a command`() throws {
        let step = try CommandLineParser.parse(["run", "check", "plan"])
        #expect(step.command == .run)
        #expect(step.operands == ["check", "plan"])
        let file = try CommandLineParser.parse(["--", "check"])
        #expect(file.command == nil)
        #expect(file.operands == [])
        #expect(file.passed == ["check"])
    }

    private static let table = [
        Option(.jobs, "-j", "--jobs", .required("N"), [.run], ""),
        Option(.paused, "-p", "--paused", .none, [.run], ""),
        Option(.verbose, "-v", "--verbose", .none, [.run], ""),
        Option(.run, "-r", "--resume", .optional("RUN"), [.run], ""),
    ]

    @Test func `short options without a value share a dash, and the last may have one`() throws {
        for words in [["-pvj4", "f"], ["-pv", "-j", "4", "f"], ["-pvj", "4", "f"]] {
            let arguments = try CommandLineParser.parse(words, options: Self.table)
            #expect(given(arguments) == ["--paused", "--verbose", "--jobs=4"])
            #expect(arguments.operands == ["f"])
        }
    }

    @Test func `an optional value is only taken when it is joined`() throws {
        let without = try CommandLineParser.parse(["--resume", "f"], options: Self.table)
        #expect(given(without) == ["--resume"])
        #expect(without.operands == ["f"])
        #expect(given(try CommandLineParser.parse(["--resume=7", "f"], options: Self.table)) == ["--resume=7"])
    }

    @Test(arguments: [
        (["a.yml", "--jbos", "4"], "unknown option `--jbos`; did you mean `--jobs`?"),
        (["a.yml", "--job", "4"], "unknown option `--job`; did you mean `--jobs`?"),
        (["a.yml", "--par", "a=1"], "unknown option `--par`; did you mean `--param`?"),
        (["a.yml", "--col=never"], "unknown option `--col`; did you mean `--color`?"),
        (["a.yml", "--pa"], "unknown option `--pa`"), (["a.yml", "--p"], "unknown option `--p`"),
        (["check", "--po", "a.yml"], "unknown option `--po`"),
        (["a.yml", "-x"], "unknown option `-x`"),
        (["a.yml", "--strict"], "`--strict` is an option of `check`, not of `run`"),
        (["graph", "-j4", "a.yml"], "`--jobs` is an option of `run`, `check` and `plan`, not of `graph`"),
        (
            ["check", "--state-dir", "s", "a.yml"],
            "`--state-dir` is an option of `run`, `plan`, `ctl`, `why`, `runs` and `replay`, not of `check`"
        ),
        (["a.yml", "--jobs"], "`--jobs` needs a value: expected N"),
        (["a.yml", "--paused=yes"], "`--paused` takes no value, found `--paused=yes`"),
        (["a.yml", "--log", "xml"], "--log xml: expected `text`, `json` or `quiet`"),
        (["graph", "a.yml", "--format", "text"], "--format text: expected `dot`, `mermaid` or `json`"),
        (["ctl"], "`ctl` needs a REQUEST"), (["why"], "`why` needs a STEP"),
        (["list", "a.yml", "b.yml"], "unexpected `b.yml`: `list` takes one FILE"),
        (["why", "a.yml", "b", "c"], "unexpected `c`: `why` takes one STEP"),
        (["help", "chek"], "there is no command `chek`; did you mean `check`?"),
    ])
    func `what cannot be meant is refused with what is accepted`(words: [String], message: String) {
        let error = #expect(throws: CommandError.self) { try CommandLineParser.parse(words) }
        #expect(error?.status == .usage)
        #expect(error?.messages == [message])
    }

    @Test func `a forgotten value does not swallow the next option`() {
        let error = #expect(throws: CommandError.self) {
            try CommandLineParser.parse(["a.yml", "--log-file", "--paused"])
        }
        let message = "`--log-file` needs a value: expected PATH, found the option `--paused`"
        #expect(error?.messages == [message + "; if that is meant, write `--log-file=--paused`"])
    }

    @Test(
        arguments: [
            (["help"], nil), (["--help"], nil), (["-h"], nil), (["help", "check"], .check), (["check", "-h"], .check),
            (["--help", "check"], .check), (["a.yml", "--help"], .run), (["plan", "--help", "--format", "xml"], .plan),
        ] as [([String], Command?)])
    func `help is of the command, whatever else is missing`(words: [String], command: Command?) throws {
        let arguments = try CommandLineParser.parse(words)
        #expect(arguments.isHelp)
        #expect(arguments.command == command)
    }

    @Test func `an option takes exactly the words that its command knows`() {
        func words(_ name: Option.Name) -> [String]? { Option.all.first { $0.name == name }?.words }
        #expect(words(.log) == LogForm.allCases.map(\.rawValue))
        #expect(words(.output) == OutputMode.allCases.map(\.rawValue))
        #expect(words(.progress) == ProgressMode.allCases.map(\.rawValue))
        #expect(words(.color) == ColorMode.allCases.map(\.rawValue))
    }

    @Test func `no two options of a command are written alike`() {
        for command in Command.allCases {
            let options = Option.all.filter { $0.isAccepted(by: command) }
            let spellings = options.flatMap { [$0.short, $0.long].compactMap(\.self) }
            #expect(Set(spellings).count == spellings.count)
        }
    }

    @Test func `an option of several commands takes a value for all or for none`() {
        for option in Option.all {
            let others = Option.all.filter { $0.long == option.long }
            #expect(others.allSatisfy { $0.placeholder.isEmpty == option.placeholder.isEmpty })
        }
    }

    @Test(arguments: [nil] + Command.allCases.map { $0 as Command? })
    func `help fits into 80 columns and ends with a line end`(command: Command?) {
        let text = HelpText.text(of: command)
        #expect(text.hasSuffix("\n") && !text.hasSuffix("\n\n"))
        for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    }
}
