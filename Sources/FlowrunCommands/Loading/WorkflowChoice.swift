internal import Basics
internal import Glibc
internal import Planning
internal import RunLog
internal import Syntax
internal import Workflow

/// The workflow file that a command line selects, and the steps of it.
///
/// The first operand is the file if it looks like one or is one. Otherwise the file is `flowrun.yml` of the current
/// folder or of one above, and all operands are steps. `-f` names the file in any case. `-C` must be applied first,
/// because this looks at the current folder.
struct WorkflowChoice: Sendable, Equatable {
    /// `-` is standard input.
    let file: String
    private(set) var steps: [String]
    /// True if the command line names the file.
    let isNamed: Bool
    /// True if the workflow may use files outside of its folder.
    private(set) var allowsOutside = false
    /// True if the first step is in the place of a command.
    private var isFirstWord = false
    /// True if the command line is `flowrun run`, with no more than options.
    private var isBareRun = false

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
        isBareRun = arguments.command == .run && !isNamed && steps.isEmpty
    }

    /// Returns the choice; nil if no file is named and none is found.
    static func known(_ arguments: Arguments, _ operands: ArraySlice<String>) -> WorkflowChoice? {
        if let file = arguments.value(.file) { return WorkflowChoice(file: file, steps: Array(operands)) }
        if let first = operands.first, isFile(first) {
            return WorkflowChoice(file: first, steps: Array(operands.dropFirst()))
        }
        return DefaultFile.found.map { WorkflowChoice(file: $0, steps: Array(operands), isNamed: false) }
    }

    /// Says on standard error, for a command that is not `run`, which file is meant if it is in a folder above, and how
    /// a step is run that has the name of the command.
    static func announce(_ command: Command, _ arguments: Arguments) {
        guard let choice = known(arguments, arguments.operands[...]) else {
            // All others end with that message.
            if [.ctl, .why, .runs, .replay].contains(command), let message = DefaultFile.refusal {
                StandardStream.error.say(message)
            }
            return
        }
        guard !choice.isNamed else { return }
        if CommandSet.ofWorkflow.contains(CommandSet(command)) { choice.tellFolder() }
        if !arguments.has(.list), choice.hasStep(command.rawValue) { tellStep(named: command.rawValue) }
    }

    /// Says on standard error how a step named `help` is run, if the file has one.
    static func announceHelp() {
        guard let choice = known(Arguments(), []), choice.hasStep(Command.helpWord) else { return }
        tellStep(named: Command.helpWord)
    }

    /// Says on standard error which file is meant if nothing names it and it is in a folder above.
    func tellFolder() {
        if !isNamed, file.utf8.first == UInt8(ascii: "/") { StandardStream.error.say("using `\(file.visible)`") }
    }

    private static func tellStep(named word: String) {
        StandardStream.error.say("`\(word)` is also a step: `flowrun run \(word)` runs it")
    }

    /// True if the file has such a step or group, not in another one, whatever else may be wrong with it.
    private func hasStep(_ name: String) -> Bool {
        // Most files do not even have the word.
        let workflow = Self.workflow(of: file, having: name, allowsOutside)
        return workflow.map { $0.hasMember(named: $0.withoutAliases(name)) } ?? false
    }

    /// Returns the full id that a name of a step or group means in a file, whatever may be wrong with that; the name if
    /// it means nothing there.
    static func id(of name: String, in file: String) -> String {
        workflow(of: file, having: WorkflowKey.aliases.spelling, true)?.withoutAliases(name) ?? name
    }

    /// nil for a file without the word.
    private static func workflow(of file: String, having word: String, _ allowsOutside: Bool) -> Workflow? {
        let (source, error) = SourceFile.read(file)
        guard error == nil, source.bytes.withUnsafeBufferPointer({ $0.hasWord(word) }) else { return nil }
        return WorkflowDecoder.read(source, files: UsedFiles.of(file, allowsOutside: allowsOutside)).workflow
    }

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
        guard isNamed, !Self.hasFormOfFile(file), let found = DefaultFile.found else { return nil }
        let command = "flowrun -f \(found.shellWord) \(file.shellWord)"
        return "`\(file)` is a file here; for the step of this name write `\(command)`"
    }
}

// Messages about a word that is neither a file nor a step.
extension WorkflowChoice {
    /// No file is named, and none was found. `word` is the first operand, nil for a bare command.
    private static func nothingHere(_ word: String?, isFirstWord: Bool) -> CommandError {
        if let message = DefaultFile.refusal { return .usage(message) }
        let lookedFor = "looked for \(Phrase.all(DefaultFile.names))"
        guard let word else {
            let folder = currentFolder.map { " in `\($0)`" } ?? " in the current folder"
            return CommandError(
                .usage, ["no workflow file is named, and there is none here: \(lookedFor)\(folder) and above"],
                hint: HelpText.firstSteps)
        }
        if let message = meaning(of: word, isFirstWord: isFirstWord) { return .usage(message) }
        return CommandError(
            .usage,
            [
                "there is no file `\(word)`, and no workflow file here or above that could have such a step: "
                    + lookedFor
            ],
            hint: HelpText.firstSteps)
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
        let message = isNamed ? unknown.description : "\(unknown.description) (in `\(file.visible)`)"
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

    /// Returns the plan of the chosen steps, or else of those that run by default, the given values, which `read` makes
    /// from the workflow, and the choice with the ids of the steps. With `mayList`, a plan without a step is no mistake
    /// if the file has the steps listed by default.
    func plan(
        color: ColorMode = .auto, mayList: Bool = false, given: [Assignment],
        reading read: (Workflow, StepWords) -> RunValues
    ) throws(CommandError) -> (plan: Plan, values: RunValues, choice: WorkflowChoice) {
        var made: (words: StepWords, values: RunValues)?
        let given = given.map { StepWords.Given(name: $0.name, text: $0.value) }
        func reading(_ workflow: Workflow) -> (words: StepWords, values: RunValues) {
            let words = StepWords(steps, given: given, in: workflow)
            return (words, read(workflow, words))
        }
        let whole = try whole(color: color) { workflow in
            let first = reading(workflow)
            made = first
            return first.values.known
        }
        var choice = self
        let (words, values) = made ?? reading(whole.workflow)
        guard words.mistakes.isEmpty else { throw CommandError(.usage, words.mistakes) }
        choice.steps = words.steps
        let plan = try choice.chosen(of: whole, mayList: mayList)
        return (plan, values, choice)
    }

    /// True if the file has the steps listed where the command line names none.
    func lists(_ plan: Plan) -> Bool { steps.isEmpty && plan.workflow.defaultSteps?.isEmpty == true }

    private func whole(color: ColorMode, known: (Workflow) -> KnownValues) throws(CommandError) -> Plan {
        let loaded = WorkflowLoader(file, allowsOutside: allowsOutside, known: known)
        StandardStream.error.show(loaded.diagnostics.filter { $0.severity != .note }, color: color)
        guard let plan = loaded.plan else { throw CommandError(.invalid, [], hint: advice) }
        return plan
    }

    private func chosen(of whole: Plan, mayList: Bool) throws(CommandError) -> Plan {
        if isBareRun, whole.has(Command.run.rawValue) { Self.tellStep(named: Command.run.rawValue) }
        let plan: Plan
        do {
            plan = try whole.restricted(to: steps)
        } catch {
            throw self.error(for: error)
        }
        guard plan.hasWork || !plan.workflow.hasManual || mayList && lists(plan) else {
            throw .usage(nothingToRun(of: plan.workflow))
        }
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

/// The file that a command is about if none is named: that of the current folder, or else of the nearest folder above
/// that has one.
///
/// The search ends with the first folder that has `.git`, stays in one file system, and takes neither the home folder
/// nor one above it: what is there belongs to no project. In a folder above, others must not be able to write.
enum DefaultFile {
    /// The first one that exists is used.
    static let names = ["flowrun.yml", "flowrun.yaml"]

    private enum Search {
        /// A name in the current folder, or an absolute path.
        case found(String)
        /// `reason` is a clause.
        case refused(path: String, reason: String)
        case nothing
    }

    static var found: String? { if case .found(let path) = search() { path } else { nil } }

    /// A message about a file that is there and must not be used; nil if there is none.
    static var refusal: String? {
        guard case .refused(let path, let reason) = search() else { return nil }
        return "`\(path.visible)` is not used, because \(reason); name it with -f if it is meant"
    }

    private static func search() -> Search {
        if let name = names.first(where: { access($0, F_OK) == 0 }) { return .found(name) }
        guard let start = WorkflowChoice.currentFolder, let device = status(of: start)?.st_dev,
            let home = environmentVariable("HOME").flatMap(resolved)
        else { return .nothing }
        var folder = start
        while access("\(folder)/.git", F_OK) != 0, let slash = folder.utf8.lastIndex(of: UInt8(ascii: "/")) {
            folder = String(folder[..<slash])
            // The root is above every home.
            guard !folder.isEmpty, home != folder, !home.hasPrefix("\(folder)/"),
                status(of: folder)?.st_dev == device
            else { return .nothing }
            let paths = names.map { "\(folder)/\($0)" }
            guard let path = paths.first(where: { access($0, F_OK) == 0 }) else { continue }
            // Where it is a link, also what it leads to.
            let real = resolved(path) ?? path
            let realFolder = String(real[..<(real.lastIndex(of: "/") ?? real.startIndex)])
            for checked in [folder, path, realFolder] where !checked.isEmpty {
                if let reason = danger(of: checked) { return .refused(path: path, reason: reason) }
            }
            return .found(path)
        }
        return .nothing
    }

    private static func danger(of path: String) -> String? {
        guard let status = status(of: path) else { return "the owner of `\(path.visible)` cannot be read" }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            return "`\(path.visible)` belongs to another user (uid \(status.st_uid))"
        }
        return status.st_mode & 0o022 == 0 ? nil : "others may write into `\(path.visible)`"
    }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    private static func resolved(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }
}
