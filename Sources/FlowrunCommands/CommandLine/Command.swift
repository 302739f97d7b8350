internal import CLinux
internal import CSchemas

/// The commands of flowrun, in the order in which help shows them.
package enum Command: String, CaseIterable, Sendable {
    case run, check, plan, graph, list, show, ctl, why, runs, replay, `init`, explain, schema, completion

    /// Before any other word it asks for help.
    static let helpWord = "help"

    /// True if the first word of a command line with this text is not a step.
    static func isWord(_ text: String) -> Bool { Command(rawValue: text) != nil || text == helpWord }

    /// One sentence for the list of commands.
    var summary: String {
        switch self {
        case .run: "Run a workflow, or only what some of its steps need."
        case .check: "Find everything that is wrong with workflow files; run nothing."
        case .plan: "Show order, levels, critical path and bound; run nothing."
        case .graph: "Print the graph of steps and groups."
        case .list: "List steps and groups with their descriptions."
        case .show: "Print a step or group with all that it inherits, values filled in."
        case .ctl: "Steer a live run."
        case .why: "Say why a step of the last run, or of a live one, ended as it did."
        case .runs: "List the runs that are kept."
        case .replay: "Show the log of a past run again, in any form."
        case .`init`: "Write a first workflow file, or convert the file of another tool."
        case .explain: "Explain a finding by its code, such as FR0301."
        case .schema: "Print the JSON schema of workflow files, or of the log."
        case .completion: "Print a completion script for bash, zsh or fish."
        }
    }

    /// The operands that the command accepts.
    var operands: [Operand] {
        switch self {
        case .run:
            [.workflow, Operand("STEP", .optionalList, "Steps or groups to run, with all they need.", .steps)]
        case .check:
            [Operand("FILE", .optionalList, "The workflow files (default: flowrun.yml); - is standard input.", .files)]
        case .plan, .graph:
            [.workflow, Operand("STEP", .optionalList, "Steps or groups to show, with all they need.", .steps)]
        case .list, .runs: [.workflow]
        case .replay: [Operand("RUN", .optional, "The id of the run (default: the last one).", .records)]
        case .ctl:
            [Operand("REQUEST", .list, "The workflow file or the id of a run; then what to do.", .requests)]
        case .show: [.workflow, Operand("STEP", .one, "The full id of a step, group or copy.", .steps)]
        case .why: [.workflow, Operand("STEP", .one, "The full id of a step or group.", .steps)]
        case .`init`: []
        case .explain: [Operand("CODE", .optional, "The code of a finding.", .findings)]
        case .schema:
            [
                Operand(
                    "KIND", .optional, "workflow (the default) or log.", .words(SchemaKind.allCases.map(\.rawValue)))
            ]
        case .completion:
            [
                Operand(
                    "SHELL", .one, "The shell: bash, zsh or fish.", .words(CompletionScript.allCases.map(\.rawValue)))
            ]
        }
    }

    /// True if its operands may be steps.
    var takesSteps: Bool { operands.contains { if case .steps = $0.completion { true } else { false } } }

    /// The lines after `usage:`.
    var usage: [String] {
        switch self {
        case .run: ["flowrun [run] [OPTIONS] [FILE] [STEP [VALUE...]]... [-- ARGUMENT...]"]
        case .ctl:
            [
                "flowrun ctl [OPTIONS] [FILE | RUN] status [--format FORM]",
                "flowrun ctl [OPTIONS] [FILE | RUN] pause [--stop] | resume",
                "flowrun ctl [OPTIONS] [FILE | RUN] cancel [STEP] | jobs N",
            ]
        default: ["flowrun \(rawValue) [OPTIONS]\(operands.map { " \($0.usage)" }.joined())"]
        }
    }

    /// Further text for the command's help; empty if the options are enough.
    var details: String {
        switch self {
        case .check: "Exits with 0 when there is no error and with 2 when there is one."
        case .ctl:
            """
            Requests:
              status       what runs, what waits, and how many have ended
              pause        start nothing new; with --stop, also stop what runs
              resume       end the pause
              cancel STEP  end a step or group; without STEP the whole run
              jobs N       how many steps may run at once from now on
            """
        case .why:
            """
            Follows the chain of causes down to its root, with the place in the file and the
            last output.
            """
        case .`init`:
            """
            Writes a flowrun.yml to start from, made for the files of this folder. With
            --from it converts a Makefile, a Taskfile, a justfile or a GitHub workflow;
            what flowrun has no key for becomes a comment that names the source line.
            It runs nothing of that file. With --ask-tool the file's own tool is asked as
            well, which may run commands of it in a copy of the folder, removed at the end.
            Never replaces an existing file.
            """
        case .schema:
            """
            An editor that uses yaml-language-server checks and completes a file whose first
            line names the schema:
              # yaml-language-server: $schema=flowrun.schema.json
            `flowrun init` writes it. `flowrun schema > flowrun.schema.json` makes the file.
            """
        case .explain: "Without a code: all codes and what they are about."
        case .completion:
            """
            To load it at the start of the shell:
              source <(flowrun completion bash)    in ~/.bashrc
              source <(flowrun completion zsh)     in ~/.zshrc, after compinit
              flowrun completion fish | source     in ~/.config/fish/config.fish
            """
        case .run:
            """
            Behind a step with params come their values: `greet World`, `greet name=World`.
            Arguments go to the named steps, or else to all that run: \"$@\" in a script,
            ${{ args }} in a list.
            """
        case .show:
            """
            The answer is a workflow file of its own. Comments say where inherited values
            are from, and what the step needs. <vars.x> stands for what only a run knows.
            """
        case .replay:
            """
            For a run that was killed, shows everything up to that moment.
            """
        case .plan, .graph, .list, .runs: ""
        }
    }

    /// Values of `--format` that later versions will accept.
    static let plannedFormats = ["svg"]

    /// Words that later versions will accept as commands, unless the file has a step of that name.
    static let planned = ["watch"]
}

/// The JSON schemas that `flowrun schema` prints.
enum SchemaKind: String, CaseIterable, Sendable {
    /// Of workflow files.
    case workflow
    /// Of the lines of the JSON log.
    case log

    var text: String {
        let schema = self == .workflow ? cschemas_workflow : cschemas_event
        let bytes = UnsafeRawBufferPointer(start: schema.bytes, count: schema.size)
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Some of the commands.
struct CommandSet: OptionSet, Sendable {
    let rawValue: UInt16

    init(rawValue: UInt16) { self.rawValue = rawValue }

    init(_ command: Command) {
        rawValue =
            switch command {
            case .run: Self.run.rawValue
            case .check: Self.check.rawValue
            case .plan: Self.plan.rawValue
            case .graph: Self.graph.rawValue
            case .list: Self.list.rawValue
            case .ctl: Self.ctl.rawValue
            case .show: Self.show.rawValue
            case .why: Self.why.rawValue
            case .runs: Self.runs.rawValue
            case .replay: Self.replay.rawValue
            case .explain: Self.explain.rawValue
            case .`init`: Self.`init`.rawValue
            case .completion: Self.completion.rawValue
            case .schema: Self.schema.rawValue
            }
    }

    static let run = CommandSet(rawValue: 1)
    static let check = CommandSet(rawValue: 2)
    static let plan = CommandSet(rawValue: 4)
    static let graph = CommandSet(rawValue: 8)
    static let list = CommandSet(rawValue: 16)
    static let ctl = CommandSet(rawValue: 32)
    static let why = CommandSet(rawValue: 64)
    static let explain = CommandSet(rawValue: 128)
    static let `init` = CommandSet(rawValue: 256)
    static let completion = CommandSet(rawValue: 512)
    static let runs = CommandSet(rawValue: 1024)
    static let replay = CommandSet(rawValue: 2048)
    static let show = CommandSet(rawValue: 4096)
    static let schema = CommandSet(rawValue: 8192)
    /// The commands that are about a workflow file.
    static let ofWorkflow: CommandSet = [.run, .check, .plan, .graph, .list, .show, .ctl, .why, .runs, .replay]
}

/// A word of the command line that is not an option.
struct Operand: Sendable {
    enum Count: Sendable {
        case one, optional, list, optionalList
    }

    static let workflow = Operand(
        "FILE", .optional, "The workflow file (default: flowrun.yml); - is standard input.", .workflow)

    let name: String
    let count: Count
    let help: String
    let completion: CompletionKind

    init(_ name: String, _ count: Count, _ help: String, _ completion: CompletionKind) {
        self.name = name
        self.count = count
        self.help = help
        self.completion = completion
    }

    var isRequired: Bool { count == .one || count == .list }
    var isRepeatable: Bool { count == .list || count == .optionalList }

    /// `FILE`, `FILE...`, `[STEP...]`.
    var usage: String {
        let word = isRepeatable ? name + "..." : name
        return isRequired ? word : "[\(word)]"
    }
}

/// The completions that a shell may offer for a word.
enum CompletionKind: Sendable {
    case nothing, files, folders
    /// A workflow file, or a step of the default one.
    case workflow
    case words([String])
    /// Ids of the workflow's steps and groups.
    case steps
    /// Names and values of the workflow's parameters.
    case parameters
    /// The requests of `ctl`, and the live runs.
    case requests
    /// The recorded runs.
    case records
    /// Codes of findings.
    case findings
}

/// The words of flowrun's own command line. Not those of `CommandLine`, which reads /proc and takes five times as
/// long, which matters for small runs.
package enum CommandWords {
    /// All words without the program's name; bytes that are not UTF-8 are repaired.
    package static var all: [String] {
        var all: [String] = []
        forEach { all.append(String(cString: $0)) }
        return all
    }

    /// True if every word is UTF-8.
    static var areExact: Bool {
        var areExact = true
        forEach { areExact = areExact && String(validatingCString: $0) != nil }
        return areExact
    }

    private static func forEach(_ body: (UnsafeMutablePointer<CChar>) -> Void) {
        var count: Int32 = 0
        guard let words = clinux_arguments(&count), count > 1 else { return }
        for index in 1..<Int(count) { words[index].map(body) }
    }
}
