internal import Syntax

/// Reads a command line word by word, by the conventions of getopt_long(3).
///
/// Options may be anywhere before `--`, even before the command; the words after it are for the steps of a run. A
/// value is the next word or joined: `-j 4`, `-j4`, `--jobs 4`, `--jobs=4`; short options without a value may share a
/// dash. If an option is given twice, the last one counts, unless it is repeatable. Long options cannot be
/// abbreviated: an abbreviation that is unique today would change its meaning with the next option.
struct CommandLineParser {
    /// The result of the words read so far.
    private(set) var arguments = Arguments()
    /// The option whose value is the next word.
    private(set) var pending: Option?
    /// True once `--` has ended the options.
    private(set) var isTerminated = false
    /// True if the first word is `help`.
    private(set) var isHelpWord = false
    private let options: [Option]

    /// Tests may pass a table of options other than flowrun's own.
    init(options: [Option] = Option.all) { self.options = options }

    /// Parses a whole command line, without the program's name.
    static func parse(_ words: [String], options: [Option] = Option.all) throws(CommandError) -> Arguments {
        var parser = CommandLineParser(options: options)
        for word in words { try parser.take(word) }
        return try parser.finish()
    }

    /// Reads the next word.
    mutating func take(_ word: String) throws(CommandError) {
        if let option = pending {
            // A forgotten value must not consume the next option.
            guard word != "--", !options.contains(where: { $0.long == word }) else {
                throw missingValue(of: option, before: word)
            }
            pending = nil
            return add(option, word)
        }
        let bytes = word.utf8
        guard !isTerminated, bytes.count > 1, bytes.first == UInt8(ascii: "-") else { return takeOperand(word) }
        guard bytes.dropFirst().first == UInt8(ascii: "-") else { return try takeCluster(word) }
        guard bytes.count > 2 else {
            isTerminated = true
            return
        }
        try takeLong(word)
    }

    private mutating func takeOperand(_ word: String) {
        guard !isTerminated || (arguments.command ?? .run) != .run else { return arguments.passed.append(word) }
        let mayBeCommand = arguments.command == nil && arguments.operands.isEmpty
        if mayBeCommand, let command = Command(rawValue: word) {
            arguments.command = command
        } else if mayBeCommand, word == Command.helpWord, !isHelpWord {
            isHelpWord = true
        } else {
            arguments.operands.append(word)
        }
    }

    private mutating func takeLong(_ word: String) throws(CommandError) {
        let equals = word.utf8.firstIndex(of: UInt8(ascii: "="))
        let name = equals.map { String(word[..<$0]) } ?? word
        let value = equals.map { String(word[word.utf8.index(after: $0)...]) }
        guard let option = option(where: { $0.long == name }) else { throw unknown(name) }
        switch (option.value, value) {
        case (.none, _?): throw .syntax("`\(name)` takes no value, found `\(word)`", command)
        case (.required, nil): pending = option
        default: add(option, value)
        }
    }

    /// Reads a word such as `-j4` or `-hj4`.
    private mutating func takeCluster(_ word: String) throws(CommandError) {
        var rest = word.dropFirst()
        while let letter = rest.popFirst() {
            let name = "-\(letter)"
            guard let option = option(where: { $0.short == name }) else { throw unknown(name) }
            guard case .required = option.value else {
                add(option, nil)
                continue
            }
            if rest.isEmpty {
                pending = option
            } else {
                add(option, String(rest.first == "=" ? rest.dropFirst() : rest))
            }
            return
        }
    }

    private mutating func add(_ option: Option, _ value: String?) {
        arguments.given.append(Arguments.Given(option: option, value: value ?? option.meaning))
    }

    /// The command as far as known: `run` need not be written.
    private var command: Command? { arguments.command ?? (arguments.operands.isEmpty ? nil : .run) }

    /// Returns the option of the command if that is known; options of one name are written alike for all commands.
    private func option(where matches: (Option) -> Bool) -> Option? {
        let command = arguments.command ?? .run
        return options.first { matches($0) && $0.isAccepted(by: command) } ?? options.first(where: matches)
    }

    /// Returns the arguments, once all words are read.
    private mutating func finish() throws(CommandError) -> Arguments {
        if let pending { throw missingValue(of: pending, before: nil) }
        arguments.isHelp = isHelpWord || arguments.has(.help)
        if arguments.isHelp {
            if isHelpWord, arguments.command == nil, let word = arguments.operands.first { throw unknownCommand(word) }
            arguments.command = command
            return arguments
        }
        if arguments.has(.version) { return try checked(nil) }
        let command = arguments.command ?? .run
        let result = try checked(command)
        if let operand = command.operands.first(where: \.isRequired), result.operands.isEmpty {
            throw .syntax("`\(command.rawValue)` needs a \(operand.name)", arguments.command)
        }
        if let last = command.operands.last, !last.isRepeatable, result.operands.count > command.operands.count {
            throw .syntax(
                "unexpected `\(result.operands[command.operands.count])`: `\(command.rawValue)` takes one \(last.name)",
                command)
        }
        return result
    }

    /// Returns the arguments with each option as the command defines it, and with valid values.
    private func checked(_ command: Command?) throws(CommandError) -> Arguments {
        var result = arguments
        for index in result.given.indices {
            var option = result.given[index].option
            if let command, !option.isAccepted(by: command) {
                guard let own = options.first(where: { $0.name == option.name && $0.isAccepted(by: command) }) else {
                    throw foreign(option, command)
                }
                option = own
            }
            if let value = result.given[index].value, let words = option.words, !words.contains(value) {
                let isPlanned = option.name == .format && Command.plannedFormats.contains(value)
                let note = isPlanned ? "; `\(value)` is not built yet" : ""
                throw .usage("\(option.spelling) \(value): expected \(Phrase.alternatives(words))\(note)")
            }
            result.given[index].option = option
        }
        return result
    }

    private func foreign(_ option: Option, _ command: Command) -> CommandError {
        let own = options.filter { $0.name == option.name }
        let owners = Command.allCases.filter { command in own.contains { $0.isAccepted(by: command) } }
        return .syntax(
            "`\(option.spelling)` is an option of \(Phrase.all(owners.map(\.rawValue))), not of `\(command.rawValue)`",
            command)
    }

    private func missingValue(of option: Option, before word: String?) -> CommandError {
        let expected = option.words.map { Phrase.alternatives($0) } ?? option.placeholder
        var message = "`\(option.spelling)` needs a value: expected \(expected)"
        if let word { message += ", found the option `\(word)`" }
        if let word, let long = option.long { message += "; if that is meant, write `\(long)=\(word)`" }
        return .syntax(message, command)
    }

    private func unknown(_ name: String) -> CommandError {
        let known = options.filter { $0.isAccepted(by: arguments.command ?? .run) }
        let near =
            Suggestion.nearest(to: name, among: (known + options).compactMap(\.long))
            ?? abbreviated(by: name, among: known) ?? abbreviated(by: name, among: options)
        return .syntax("unknown option `\(name)`" + (near.map { "; did you mean `\($0)`?" } ?? ""), command)
    }

    /// Returns the only long option with this prefix; nil if there is none, or more than one.
    private func abbreviated(by name: String, among options: [Option]) -> String? {
        let long = Set(options.compactMap(\.long).filter { name.utf8.count > 2 && $0.hasPrefix(name) })
        return long.count == 1 ? long.first : nil
    }

    private func unknownCommand(_ word: String) -> CommandError {
        let near = Suggestion.nearest(to: word, among: Command.allCases.map(\.rawValue))
        return .syntax("there is no command `\(word)`" + (near.map { "; did you mean `\($0)`?" } ?? ""), nil)
    }
}

extension Option {
    /// True if `command` accepts this option; `--help` and `--version` are accepted everywhere.
    func isAccepted(by command: Command) -> Bool { commands.isEmpty || commands.contains(CommandSet(command)) }

    /// The placeholder for the value in help; empty if there is none.
    var placeholder: String {
        switch value {
        case .none: ""
        case .required(let name, _), .optional(let name, _): name
        }
    }
}

/// The reason why a command ends early, with its exit status.
struct CommandError: Error, Equatable {
    let status: ExitStatus
    /// Lines for standard error, without the program's name; empty if everything has been reported.
    let messages: [String]
    /// A hint at further help; nil if the messages name the fix themselves.
    let hint: String?

    init(_ status: ExitStatus, _ messages: [String], hint: String? = nil) {
        self.status = status
        self.messages = messages
        self.hint = hint
    }

    /// The command line is valid, but the request cannot be carried out: there is no such run, for example.
    static func failed(_ message: String) -> CommandError { CommandError(.failure, [message]) }

    /// flowrun itself cannot continue.
    static func unable(_ message: String) -> CommandError { CommandError(.unable, [message]) }

    /// A value or a combination that makes no sense.
    static func usage(_ message: String) -> CommandError { CommandError(.usage, [message]) }

    /// The command line does not have the form of a command; points to the help of that command, or with nil to the
    /// general help.
    static func syntax(_ message: String, _ command: Command?) -> CommandError {
        let help = command.map { "flowrun \($0.rawValue) --help" } ?? "flowrun --help"
        return CommandError(.usage, [message], hint: "see `\(help)`")
    }
}

/// The exit status of the program (flowrun(1), EXIT STATUS). A step's own status is in the log, never here.
package enum ExitStatus: Int32, Sendable, CaseIterable {
    case success = 0
    /// A step failed, timed out or was lost.
    case failure = 1
    /// The workflow is invalid.
    case invalid = 2
    /// Wrong usage; EX_USAGE of sysexits.h.
    case usage = 64
    /// The state directory is in use by a live run of the same workflow; EX_TEMPFAIL of sysexits.h.
    case inUse = 75
    /// The run's own timeout; the same number as timeout(1).
    case timeout = 124
    /// flowrun itself could not continue.
    case unable = 125
    /// `flowrun ctl cancel` ended the run; the status that a shell reports for an interrupt.
    case cancelled = 130
}
