internal import Workflow

/// A parsed command line: the command, its options and its operands.
struct Arguments {
    /// nil if none is given, which means `run`.
    var command: Command?
    var operands: [String] = []
    /// The words after `--`, for the steps of a run; for other commands those words are operands.
    var passed: [String] = []
    /// True if help is requested, for the command or in general.
    var isHelp = false
    /// The folder in which flowrun was called, absolute, before `-C`; nil if it is gone.
    var caller: String?
    /// Options in the order of the command line.
    var given: [Given] = []

    struct Given {
        var option: Option
        let value: String?
    }

    func has(_ name: Option.Name) -> Bool { given.contains { $0.option.name == name } }

    /// Returns the last value of an option; nil if the option is not given, or has no value.
    func value(_ name: Option.Name) -> String? { given.last { $0.option.name == name }?.value }

    /// Returns the values of a repeatable option, in order.
    func values(_ name: Option.Name) -> [String] {
        given.compactMap { $0.option.name == name ? $0.value : nil }
    }

    /// Returns the value of an option that accepts one of the words of `type`; the parser has rejected all others.
    func choice<Choice: RawRepresentable<String>>(_ name: Option.Name, of type: Choice.Type = Choice.self) -> Choice? {
        value(name).flatMap(Choice.init)
    }

    /// Returns the value of an option as a duration; nil if it is not given.
    func duration(_ name: Option.Name) throws(CommandError) -> Duration? {
        try value(name, expected: "a duration such as 90s, 10m or 1h30m") { Duration(workflowText: $0) }
    }

    /// Returns the value of an option as a size in bytes; nil if it is not given.
    func size(_ name: Option.Name) throws(CommandError) -> Int? {
        try value(name, expected: SizeText.expected) { text in
            if case .size(let size) = SizeText.read(text) { size } else { nil }
        }
    }

    private func value<Value>(
        _ name: Option.Name, expected: String, _ read: (String) -> Value?
    ) throws(CommandError) -> Value? {
        guard let given = given.last(where: { $0.option.name == name }), let text = given.value else { return nil }
        if let value = read(text) { return value }
        throw .usage("\(given.option.spelling) \(text): expected \(expected)")
    }

    /// Returns the value of `--jobs`; nil if it is not given.
    func jobs() throws(CommandError) -> Int? {
        guard let text = value(.jobs) else { return nil }
        guard let jobs = Int(text) else { throw .usage("-j \(text): expected a whole number, at least 1") }
        guard jobs >= 1 else {
            throw .usage("-j \(jobs): at least one step must be allowed to run; leave -j out for all cores")
        }
        return jobs
    }
}

/// A `NAME=VALUE` of the command line.
struct Assignment: Sendable {
    let name: String
    let value: String

    /// Returns nil if there is no `=`.
    init?(_ text: String) {
        guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        name = String(text[..<equals])
        value = String(text[text.utf8.index(after: equals)...])
    }
}
