/// One option of the command line, for parsing, help, completion and the test of the manual page.
package final class Option: Sendable {
    enum Name: Sendable {
        case jobs, param, env, failFast, timeout, log, logFile, output, progress, color, folder, verbose, trace, paused
        case stateDirectory, noJournal, durable, resume, dryRun, format, strict, file, run, stop, help, version
        case noHistory, from, destination, allowOutside, yes, deadline, simulate, durations, outputLimit, list
        case noWait, askTool
    }

    enum Value: Sendable {
        case none
        /// The next word, or the rest of the option's own word. The name is a placeholder for help.
        case required(String, CompletionKind = .nothing)
        /// Only the text after `=` in the option's own word.
        case optional(String, CompletionKind = .nothing)
    }

    let name: Name
    /// With its dash; nil if there is only a long one.
    package let short: String?
    /// With its dashes; nil if there is only a short one.
    package let long: String?
    let value: Value
    /// The value that the option itself stands for; nil for most.
    let meaning: String?
    /// True if every value counts; for other options only the last one does.
    let isRepeatable: Bool
    /// The commands that accept it; empty for `--help` and `--version`, which replace a command.
    let commands: CommandSet
    let help: String

    init(
        _ name: Name, _ short: String?, _ long: String?, _ value: Value, meaning: String? = nil,
        isRepeatable: Bool = false, _ commands: CommandSet, _ help: String
    ) {
        self.name = name
        self.short = short
        self.long = long
        self.value = value
        self.meaning = meaning
        self.isRepeatable = isRepeatable
        self.commands = commands
        self.help = help
    }

    /// The name in messages.
    var spelling: String { long ?? short ?? "" }

    /// The allowed values; nil if they cannot be listed.
    var words: [String]? {
        switch value {
        case .required(_, .words(let words)), .optional(_, .words(let words)): words
        default: nil
        }
    }

    /// All options; those of one command in the order of its help.
    package static let all: [Option] = [
        Option(
            .jobs, "-j", "--jobs", .required("N"), [.run],
            "Steps that may run at once (default: the cores)."),
        Option(
            .jobs, "-j", "--jobs", .required("N"), [.check], "Steps that may run at once, for --deadline."),
        Option(
            .jobs, "-j", "--jobs", .required("N"), [.plan],
            "Steps that may run at once, for the bound and --simulate."),
        Option(
            .simulate, nil, "--simulate", .none, [.plan],
            "Run it in virtual time: when each step would start and end."),
        Option(
            .durations, nil, "--durations", .required("FILE", .files), [.plan],
            "With --simulate: how long steps take, a JSON object of ids to seconds."),
        Option(
            .param, nil, "--param", .required("NAME=VALUE", .parameters), isRepeatable: true,
            [.run, .plan, .graph, .show],
            "Set a parameter of the workflow, or with STEP.NAME of a step."),
        Option(
            .env, nil, "--env", .required("NAME=VALUE"), isRepeatable: true, [.run],
            "Set a variable of every step's environment; wins over the file."),
        Option(
            .failFast, nil, "--fail-fast", .none, meaning: "true", [.run], "Cancel what runs when a step fails."),
        Option(
            .failFast, "-k", "--keep-going", .none, meaning: "false", [.run],
            "Let the rest go on when a step fails, whatever the top of the file says."),
        Option(
            .timeout, nil, "--timeout", .required("DURATION"), [.run],
            "Limit for the whole run, such as 90s or 1h30m."),
        Option(
            .log, nil, "--log", .required("FORM", .words(["text", "json", "quiet"])), [.run, .replay],
            "What goes to standard output: text, json (one event per line) or quiet."),
        Option(
            .log, nil, "--format", .required("FORM", .words(["text", "json"])), [.run, .replay],
            "The same as --log text and --log json."),
        Option(
            .log, "-q", "--quiet", .none, meaning: "quiet", [.run, .replay],
            "The same as --log quiet: only the errors of a run that did not succeed."),
        Option(
            .logFile, nil, "--log-file", .required("PATH", .files), [.run],
            "Write the JSON Lines log to a file as well."),
        Option(
            .output, nil, "--output", .required("MODE", .words(["grouped", "stream", "failed", "none"])),
            [.run, .replay],
            "What the text log shows of steps' output: grouped, stream, failed or none; wins over the file."),
        Option(
            .progress, nil, "--progress", .required("MODE", .words(["auto", "live", "plain", "none"])), [.run],
            "Progress on standard error: auto, live, plain or none."),
        Option(
            .format, nil, "--format", .required("FORM", .words(["text", "json", "sarif", "github"])), [.check],
            "The form of the findings: text, json, sarif or github."),
        Option(
            .format, nil, "--format", .required("FORM", .words(["text", "json"])),
            [.plan, .list, .show, .why, .runs, .explain],
            "The form of the answer: text or json."),
        Option(
            .format, nil, "--format", .required("FORM", .words(["dot", "mermaid", "json"])), [.graph],
            "The language of the graph: dot, mermaid or json."),
        Option(
            .format, nil, "--format", .required("FORM", .words(["text", "json"])), [.ctl],
            "The form of the answer to `status`: text or json."),
        Option(.strict, nil, "--strict", .none, [.check], "Treat warnings as errors."),
        Option(
            .deadline, nil, "--deadline", .required("DURATION"), [.check],
            "An error if a run can take longer, such as 90s or 1h30m."),
        Option(
            .color, nil, "--color", .required("WHEN", .words(["auto", "always", "never"])), [.run, .check, .replay],
            "Colours: auto, always or never."),
        Option(.run, nil, "--run", .required("ID", .records), [.why], "The id of the run (default: the last one)."),
        Option(.stop, nil, "--stop", .none, [.ctl], "With pause: also stop what runs, until resume."),
        Option(
            .stateDirectory, nil, "--state-dir", .required("FOLDER", .folders),
            [.run, .plan, .ctl, .why, .runs, .replay],
            "Where the state of runs is kept (default: .flowrun beside the file)."),
        Option(
            .file, "-f", "--file", .required("PATH", .files), .ofWorkflow,
            "The workflow file; then all operands are steps."),
        Option(
            .allowOutside, nil, "--allow-outside", .none, [.run, .check, .plan, .graph, .list, .show],
            "Let the workflow use files outside of its folder."),
        Option(
            .from, nil, "--from", .required("FILE", .files), [.`init`],
            "A Makefile, Taskfile, justfile or GitHub workflow to convert."),
        Option(
            .askTool, nil, "--ask-tool", .none, [.`init`],
            "With --from: also ask make, just or task, in a copy of the folder."),
        Option(
            .timeout, nil, "--timeout", .required("DURATION"), [.`init`],
            "With --ask-tool: how long each answer may take (default: 1m)."),
        Option(
            .destination, "-o", nil, .required("FILE", .files), [.`init`],
            "Where to write (default: flowrun.yml); - is standard output."),
        Option(
            .folder, "-C", nil, .required("FOLDER", .folders), isRepeatable: true, .ofWorkflow.union(.`init`),
            "Change to a folder first; of several, each counts from the one before."),
        Option(
            .dryRun, "-n", "--dry-run", .none, [.run],
            "Print every command that would run, with its values filled in; run nothing."),
        Option(
            .verbose, "-v", "--verbose", .none, [.run, .replay],
            "Also log starts, signals and steps that did not run."),
        Option(.list, "-l", "--list", .none, [.run], "List the steps, as `list` does; run nothing."),
        Option(.yes, "-y", "--yes", .none, [.run], "Answer yes to what steps ask before they start (confirm)."),
        Option(.trace, nil, "--trace", .none, [.run], "Run scripts with -x: shells show each command."),
        Option(.paused, nil, "--paused", .none, [.run], "Start nothing until `flowrun ctl resume`."),
        Option(
            .noJournal, nil, "--no-journal", .none, [.run],
            "Keep no journal of the run, which `why`, `runs` and `replay` read."),
        Option(
            .noHistory, nil, "--no-history", .none, [.run, .plan],
            "Order ready steps by the longest path in steps, not by past durations."),
        Option(
            .noWait, nil, "--no-wait", .none, [.run],
            "Exit with 75 instead of waiting for what other runs of the file have."),
        Option(
            .resume, nil, "--resume", .optional("RUN", .records), [.run],
            "Restore what the last run, or RUN, has finished; run the rest."),
        Option(
            .from, nil, "--from", .required("STEP", .steps), isRepeatable: true, [.run],
            "Resume, but run STEP and all its dependents again."),
        Option(
            .durable, nil, "--durable", .none, [.run],
            "Write the journal through to the disk before what depends on it starts."),
        Option(
            .outputLimit, nil, "--output-limit", .required("SIZE"), [.run],
            "How much of the steps' output is kept for replay, such as 64MiB; wins over the file."),
        Option(.version, nil, "--version", .none, [], "Print the version."),
        Option(.help, "-h", "--help", .none, [], "Print the commands, or after a command its options."),
    ]
}
