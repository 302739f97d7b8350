internal import Basics
internal import Glibc
internal import Planning
internal import RunLog
internal import Syntax
internal import Workflow

/// The workflow file that a command line selects, and the steps of it.
///
/// The first operand is the file if it looks like one or is one. Otherwise the file is `flowrun.yml` of the current
/// folder, and all operands are steps. `-f` names the file in any case. `-C` must be applied first, because this
/// looks at the current folder.
struct WorkflowChoice: Sendable, Equatable {
    /// The files to look for if none is named; the first existing one is used.
    static let defaultFiles = ["flowrun.yml", "flowrun.yaml"]

    /// `-` is standard input.
    let file: String
    let steps: [String]
    /// True if the command line names the file.
    let isNamed: Bool
    /// True if the workflow may use files outside of its folder.
    private(set) var allowsOutside = false
    /// True if the first step is in the place of a command.
    private var isFirstWord = false

    init(file: String, steps: [String] = [], isNamed: Bool = true) {
        self.file = file
        self.steps = steps
        self.isNamed = isNamed
    }

    init(_ arguments: Arguments) throws(CommandError) { try self.init(arguments, operands: arguments.operands[...]) }

    /// Chooses from some of the operands, if others have another meaning.
    init(_ arguments: Arguments, operands: ArraySlice<String>) throws(CommandError) {
        guard let known = Self.known(arguments, operands) else {
            throw Self.nothingHere(operands.first, isFirstWord: arguments.command == nil)
        }
        self = known
        allowsOutside = arguments.has(.allowOutside)
        isFirstWord = arguments.command == nil && !isNamed
    }

    /// Returns the choice; nil if no file is named and the current folder has none.
    static func known(_ arguments: Arguments, _ operands: ArraySlice<String>) -> WorkflowChoice? {
        if let file = arguments.value(.file) { return WorkflowChoice(file: file, steps: Array(operands)) }
        if let first = operands.first, isFile(first) {
            return WorkflowChoice(file: first, steps: Array(operands.dropFirst()))
        }
        return found.map { WorkflowChoice(file: $0, steps: Array(operands), isNamed: false) }
    }

    /// The default file of the current folder; nil if there is none.
    static var found: String? { defaultFiles.first { access($0, F_OK) == 0 } }

    /// True if an operand names a file: by its form, or because such a file exists.
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

    /// A hint for a file that is no workflow and has the name of a step; nil otherwise.
    var advice: String? {
        guard isNamed, !Self.hasFormOfFile(file), let found = Self.found else { return nil }
        return "`\(file)` is a file here; for the step of this name write `flowrun -f \(found) \(file.shellWord)`"
    }
}

// Messages about a word that is neither a file nor a step.
extension WorkflowChoice {
    /// No file is named, and none was found. `word` is the first operand, nil for a bare command.
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

    /// A file is required, and there is none named `word`.
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

    /// Returns a message about the likely meaning of a word that is neither a file nor a step; nil if there is no
    /// guess. Only the first word of a command line can be a command.
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

    /// Returns a message for `NAME=value`, which make accepts.
    private static func assignment(_ word: String) -> String? {
        guard word.utf8.dropFirst().contains(UInt8(ascii: "=")) else { return nil }
        return "`\(word)` is not a step; to give a parameter its value, write `--param \(word)`"
    }

    /// The absolute path of the current folder; nil if it is gone.
    static var currentFolder: String? {
        guard let path = getcwd(nil, 0) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }
}

extension WorkflowChoice {
    /// Returns the plan of the whole file. Shows all findings on standard error; throws if one is an error.
    func wholePlan() throws(CommandError) -> Plan { try whole(color: .auto) { _ in .none } }

    /// Returns the plan of the chosen steps, or else of those that run by default, and the given values, which `read`
    /// makes from the workflow.
    func plan(
        color: ColorMode = .auto, reading read: (Workflow) -> RunValues
    ) throws(CommandError) -> (plan: Plan, values: RunValues) {
        var values: RunValues?
        let whole = try whole(color: color) { workflow in
            let made = read(workflow)
            values = made
            return made.known
        }
        let plan = try chosen(of: whole)
        return (plan, values ?? read(plan.workflow))
    }

    private func whole(color: ColorMode, known: (Workflow) -> KnownValues) throws(CommandError) -> Plan {
        let loaded = WorkflowLoader(file, allowsOutside: allowsOutside, known: known)
        StandardStream.error.show(loaded.diagnostics, color: color)
        guard let plan = loaded.plan else { throw CommandError(.invalid, [], hint: advice) }
        return plan
    }

    private func chosen(of whole: Plan) throws(CommandError) -> Plan {
        let plan: Plan
        do {
            plan = try whole.restricted(to: steps)
        } catch {
            throw self.error(for: error)
        }
        guard plan.hasWork || !plan.workflow.hasManual else { throw .usage(nothingToRun(of: plan.workflow)) }
        return plan
    }

    /// The message if all remaining steps have to be named.
    private func nothingToRun(of workflow: Workflow) -> String {
        let manual = workflow.nodes.indices.first { workflow.settings(of: NodeIndex($0))?.isManual == true }
        let example = manual.map { ", such as `\(workflow.path(of: NodeIndex($0)))`" } ?? ""
        let what = steps.isEmpty ? "every step" : "everything in \(Phrase.all(steps))"
        return "nothing to run: \(what) is manual; name what is to run\(example)"
    }
}

extension Plan {
    /// True if there is a step, or may be one that the run makes.
    fileprivate var hasWork: Bool { rows.contains { nodes[$0].role == .step || isDynamicFanOut($0) } }
}
