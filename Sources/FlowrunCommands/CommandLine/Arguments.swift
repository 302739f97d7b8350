internal import Workflow

/// A command line that has been read: the command, its options and its operands.
struct Arguments {
    /// nil if none is written, which means `run`.
    var command: Command?
    var operands: [String] = []
    /// What follows `--`, for the steps of a run; of other commands that is operands.
    var passed: [String] = []
    /// Whether help is asked for, of the command or of all.
    var isHelp = false
    /// Options in the order of the command line.
    var given: [Given] = []

    struct Given {
        var option: Option
        let value: String?
    }

    func has(_ name: Option.Name) -> Bool { given.contains { $0.option.name == name } }

    /// The value that counts: the last one. nil if the option is not given, or has no value.
    func value(_ name: Option.Name) -> String? { given.last { $0.option.name == name }?.value }

    /// The values of a repeatable option, in order.
    func values(_ name: Option.Name) -> [String] {
        given.compactMap { $0.option.name == name ? $0.value : nil }
    }

    /// The value of an option that takes one of the words of `type`; the parser has refused others.
    func choice<Choice: RawRepresentable<String>>(_ name: Option.Name, of type: Choice.Type = Choice.self) -> Choice? {
        value(name).flatMap(Choice.init)
    }

    /// An option that takes a duration; nil if it is not given.
    func duration(_ name: Option.Name) throws(CommandError) -> Duration? {
        guard let given = given.last(where: { $0.option.name == name }), let text = given.value else { return nil }
        if let duration = Duration(workflowText: text) { return duration }
        throw .usage("\(given.option.spelling) \(text): expected a duration such as 90s, 10m or 1h30m")
    }

    /// An option that takes a size, in bytes; nil if it is not given.
    func size(_ name: Option.Name) throws(CommandError) -> Int? {
        guard let given = given.last(where: { $0.option.name == name }), let text = given.value else { return nil }
        if case .size(let size) = SizeText.read(text) { return size }
        throw .usage("\(given.option.spelling) \(text): expected \(SizeText.expected)")
    }

    /// `--jobs`; nil if it is not given.
    func jobs() throws(CommandError) -> Int? {
        guard let text = value(.jobs) else { return nil }
        guard let jobs = Int(text) else { throw .usage("-j \(text): expected a whole number, at least 1") }
        guard jobs >= 1 else {
            throw .usage("-j \(jobs): at least one step must be allowed to run; leave -j out for all cores")
        }
        return jobs
    }
}
