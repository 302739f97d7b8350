/// The text of `--help`: at most 80 columns, no colours.
enum HelpText {
    private static let width = 80
    /// The column in which the explanations of options and operands begin.
    private static let column = 26

    /// Returns the help of a command, or with nil that of the whole program.
    static func text(of command: Command?) -> String {
        guard let command else { return overview }
        let options = Option.all.filter { $0.isAccepted(by: command) && ($0.name == .help || !$0.commands.isEmpty) }
        var text = usage(command.usage) + "\n" + wrapped(command.summary, from: 0) + "\n"
        if command != .ctl, !command.operands.isEmpty {
            text += "\n" + command.operands.map { entry($0.name, $0.help) }.joined()
        }
        if !command.details.isEmpty { text += "\n\(command.details)\n" }
        return text + "\nOptions:\n" + options.map { entry($0.usage, $0.help) }.joined()
    }

    /// Shown if there is no workflow file yet.
    static let firstSteps = """
        usage: flowrun [FILE] [STEP...]   run a workflow file, or only some of its steps
               flowrun init               write a first flowrun.yml, or convert a Makefile
               flowrun --help             all commands and options
               man flowrun-workflow       what a workflow file says
        """

    private static var overview: String {
        var text = usage(["flowrun [run] [OPTIONS] [FILE] [STEP...] [-- ARGUMENT...]", "flowrun COMMAND [OPTIONS] ..."])
        text += "\nRun workflows of steps, dependencies, timeouts and fan-out groups.\n\nCommands:\n"
        for command in Command.allCases { text += "  \(command.rawValue.padded(to: 12))\(command.summary)\n" }
        text += "\nOptions:\n"
        for option in Option.all where option.commands.isEmpty { text += entry(option.usage, option.help) }
        text += """

            Examples:
              flowrun                         run flowrun.yml of this folder
              flowrun test                    run only its step `test` and what that needs
              flowrun release.yml             run another workflow file
              flowrun check                   all findings, nothing executed

            `flowrun help COMMAND` shows the options of a command.

            """
        return text
    }

    private static func usage(_ lines: [String]) -> String {
        "usage: " + lines.joined(separator: "\n       ") + "\n"
    }

    /// Returns a name and, from the column of explanations on, its meaning.
    private static func entry(_ name: String, _ help: String) -> String {
        let head = "  \(name)  "
        let lines = wrapped(help, from: column)
        return head.utf8.count > column
            ? "  \(name)\n\(String(repeating: " ", count: column))\(lines)\n" : head.padded(to: column) + lines + "\n"
    }

    /// Wraps a text at spaces and indents all lines but the first, which is assumed to begin at `column`.
    private static func wrapped(_ text: String, from column: Int) -> String {
        var result = ""
        var used = column
        for word in text.split(separator: " ") {
            if used > column, used + 1 + word.count > width {
                result += "\n" + String(repeating: " ", count: column)
                used = column
            } else if used > column {
                result += " "
                used += 1
            }
            result += word
            used += word.count
        }
        return result
    }
}

extension Option {
    /// `-j, --jobs N`.
    fileprivate var usage: String {
        let spellings = [short, long].compactMap(\.self).joined(separator: ", ")
        switch value {
        case .none: return spellings
        case .required(let name, _): return "\(spellings) \(name)"
        case .optional(let name, _): return "\(spellings)[=\(name)]"
        }
    }
}
