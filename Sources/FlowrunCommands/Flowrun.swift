internal import Basics
internal import Glibc
internal import Processes
internal import Syntax

/// The version of the program; written nowhere else in the sources.
package let flowrunVersion = "0.1.0"

/// The program.
package enum Flowrun {
    /// Executes a command line, given without the program's name, and exits with its status.
    package static func main(_ words: [String]) -> Never {
        StandardStream.reserveDescriptors()
        // A failed write (`ulimit -f`) can be reported, a death by this signal cannot. Steps get the default action.
        signal(SIGXFSZ, SIG_IGN)
        let status: ExitStatus
        do throws(CommandError) {
            status = try carryOut(words)
        } catch {
            error.messages.forEach(StandardStream.error.say)
            if let hint = error.hint { StandardStream.error.write(hint + "\n") }
            status = error.status
        }
        exit(status.rawValue)
    }

    private static func carryOut(_ words: [String]) throws(CommandError) -> ExitStatus {
        if words.first == CompletionScript.word {
            try StandardStream.output.deliver(.lines(CompletionAnswer.text(for: Array(words.dropFirst()))))
            return .success
        }
        var arguments: Arguments
        do throws(CommandError) {
            arguments = try CommandLineParser.parse(words)
        } catch {
            // A command that needs a word may have been meant as a step.
            if words.count == 1, let command = Command(rawValue: words[0]) {
                WorkflowChoice.announce(command, Arguments())
            }
            throw error
        }
        if let text = information(arguments) {
            if words.first == Command.helpWord { WorkflowChoice.announceHelp() }
            try StandardStream.output.deliver(.lines(text))
            return .success
        }
        if arguments.has(.list) { arguments.command = .list }
        arguments.caller = WorkflowChoice.currentFolder
        for folder in arguments.values(.folder) { try changeFolder(to: folder) }
        if let command = arguments.command, command != .run { WorkflowChoice.announce(command, arguments) }
        switch arguments.command {
        case .run, nil: return try run(arguments)
        case .check: return try WorkflowCommands.check(arguments)
        case .plan: try WorkflowCommands.plan(arguments)
        case .graph: try WorkflowCommands.graph(arguments)
        case .list: try WorkflowCommands.list(arguments)
        case .show: try WorkflowCommands.show(arguments)
        case .explain: try WorkflowCommands.explain(arguments)
        case .schema: try WorkflowCommands.schema(arguments)
        case .completion: try completion(arguments)
        case .ctl: try CtlCommand(arguments)()
        case .why: try WhyCommand(arguments)()
        case .runs: try RunsCommand(arguments)()
        case .replay: try ReplayCommand(arguments)()
        case .`init`: try InitCommand(arguments)()
        }
        return .success
    }

    private static func run(_ arguments: Arguments) throws(CommandError) -> ExitStatus {
        // Most runs have their guard since before `main`. This is for those that it does not recognize, such as
        // `flowrun ci.yml check`, where `check` is a step.
        if !arguments.has(.dryRun) { Guard.enter() }
        let request = try RunRequest(arguments)
        request.choice.tellFolder()
        return try Run(request)()
    }

    private static func completion(_ arguments: Arguments) throws(CommandError) {
        guard let script = CompletionScript(rawValue: arguments.operands[0]) else {
            let shells = CompletionScript.allCases.map(\.rawValue)
            throw .usage("completion \(arguments.operands[0]): expected \(Phrase.alternatives(shells))")
        }
        try StandardStream.output.deliver(.asIs(script.text))
    }

    /// `-C`: changes the current folder, as make does.
    private static func changeFolder(to folder: String) throws(CommandError) {
        guard chdir(folder) == 0 else { throw .usage("cannot change to `\(folder)`: \(SystemError(errno).words)") }
    }

    /// Returns the text printed instead of executing a command; nil if neither help nor the version is requested.
    private static func information(_ arguments: Arguments) -> String? {
        if arguments.isHelp { return HelpText.text(of: arguments.command) }
        return arguments.has(.version) ? "flowrun \(flowrunVersion)\n" : nil
    }
}
