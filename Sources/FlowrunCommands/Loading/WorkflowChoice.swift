internal import Basics
internal import Glibc
internal import Planning
internal import Syntax

/// Which workflow file a command line means, and which steps of it.
///
/// The first operand is the file if it looks like one or is one; else the file is `flowrun.yml` of the current folder,
/// and all operands are steps. `-f` names the file in any case. Looks at the current folder, so `-C` comes first.
struct WorkflowChoice: Sendable, Equatable {
    /// Files that are looked for where none is named, the first one that is there.
    static let defaultFiles = ["flowrun.yml", "flowrun.yaml"]

    /// `-` is standard input.
    let file: String
    let steps: [String]
    /// Whether the command line names the file.
    let isNamed: Bool
    /// Whether the workflow may use files outside of its folder.
    private(set) var allowsOutside = false
    /// Whether the first step stands where a command could.
    private var isFirstWord = false

    init(file: String, steps: [String] = [], isNamed: Bool = true) {
        self.file = file
        self.steps = steps
        self.isNamed = isNamed
    }

    init(_ arguments: Arguments) throws(CommandError) { try self.init(arguments, operands: arguments.operands[...]) }

    /// The same with some of the operands, where others mean something else.
    init(_ arguments: Arguments, operands: ArraySlice<String>) throws(CommandError) {
        guard let known = Self.known(arguments, operands) else {
            throw Self.nothingHere(operands.first, isFirstWord: arguments.command == nil)
        }
        self = known
        allowsOutside = arguments.has(.allowOutside)
        isFirstWord = arguments.command == nil && !isNamed
    }

    /// The choice; nil where no file is named and the current folder has none.
    static func known(_ arguments: Arguments, _ operands: ArraySlice<String>) -> WorkflowChoice? {
        if let file = arguments.value(.file) { return WorkflowChoice(file: file, steps: Array(operands)) }
        if let first = operands.first, isFile(first) {
            return WorkflowChoice(file: first, steps: Array(operands.dropFirst()))
        }
        return found.map { WorkflowChoice(file: $0, steps: Array(operands), isNamed: false) }
    }

    /// The file of the current folder; nil where there is none.
    static var found: String? { defaultFiles.first { access($0, F_OK) == 0 } }

    /// Whether an operand names a file: by its form, or because there is one.
    static func isFile(_ operand: String) -> Bool { hasFormOfFile(operand) || isRegularFile(operand) }

    private static func hasFormOfFile(_ operand: String) -> Bool {
        // The values in an instance's name do not count, as in `build[windows/amd64]`.
        var form = ""
        var depth = 0
        for character in operand {
            if character == "[" { depth += 1 }
            if depth == 0 { form.append(character) }
            if character == "]" { depth = max(0, depth - 1) }
        }
        return form == "-" || form.utf8.contains(UInt8(ascii: "/")) || form.hasSuffix(".yml") || form.hasSuffix(".yaml")
    }

    private static func isRegularFile(_ operand: String) -> Bool {
        var status = stat()
        guard stat(operand, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFREG || status.st_mode & S_IFMT == S_IFIFO
    }

    /// What to say beside the findings of a file that is not a workflow and has the name of a step; nil elsewhere.
    var advice: String? {
        guard isNamed, !Self.hasFormOfFile(file), let found = Self.found else { return nil }
        return "`\(file)` is a file here; for the step of this name write `flowrun -f \(found) \(file.shellWord)`"
    }
}

// What to say where a word is neither a file nor a step.
extension WorkflowChoice {
    /// No file is named, and there is none to be found. `word` is the first operand, nil for a bare command.
    private static func nothingHere(_ word: String?, isFirstWord: Bool) -> CommandError {
        let lookedFor = "looked for \(Phrase.all(defaultFiles))"
        guard let word else {
            let folder = currentFolder.map { " in `\($0)`" } ?? " in the current folder"
            return CommandError(
                .usage, ["no workflow file is named, and there is none here: \(lookedFor)\(folder)"],
                hint: HelpText.firstSteps)
        }
        if let message = meaning(of: word, isFirstWord: isFirstWord) { return .usage(message) }
        return .usage("there is no file `\(word)`, and no workflow file here that could have such a step: \(lookedFor)")
    }

    /// A word stands where a file is wanted, and there is none of that name.
    static func missing(_ word: String) -> CommandError {
        .usage(meaning(of: word, isFirstWord: false) ?? "there is no file `\(word)`")
    }

    /// Some of the names are of no step or group.
    func error(for unknown: UnknownTargets) -> CommandError {
        for name in unknown.names {
            if let message = Self.assignment(name.name) { return .usage(message) }
            guard !isNamed, name.name == steps.first else { continue }
            if let message = Self.meaning(of: name.name, isFirstWord: isFirstWord && name.suggestion == nil) {
                return .usage(message)
            }
        }
        let message = isNamed ? unknown.description : "\(unknown.description) (in `\(file)`)"
        let isTold = unknown.names.contains { $0.suggestion != nil || $0.fanOut != nil }
        return .usage(isTold ? message : "\(message); `flowrun list\(isNamed ? " \(file)" : "")` shows them")
    }

    /// What a word most likely means that is neither a file nor a step; nil where it cannot be told. Only the first
    /// word of a command line can be meant as a command.
    private static func meaning(of word: String, isFirstWord: Bool) -> String? {
        if let message = assignment(word) { return message }
        if isFirstWord, Command.planned.contains(word) { return "the command `\(word)` is not built yet" }
        if let file = [word + ".yml", word + ".yaml"].first(where: isRegularFile) {
            return "there is no file `\(word)`; did you mean `\(file)`?"
        }
        guard isFirstWord else { return nil }
        return Suggestion.nearest(to: word, among: Command.allCases.map(\.rawValue))
            .map { "there is no file `\(word)`; did you mean the command `\($0)`?" }
    }

    /// `NAME=value`, as make takes it.
    private static func assignment(_ word: String) -> String? {
        guard word.utf8.dropFirst().contains(UInt8(ascii: "=")) else { return nil }
        return "`\(word)` is not a step; to give a parameter its value, write `--param \(word)`"
    }

    private static var currentFolder: String? {
        guard let path = getcwd(nil, 0) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }
}
