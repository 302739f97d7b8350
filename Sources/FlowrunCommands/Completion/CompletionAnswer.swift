internal import Basics
internal import Glibc
internal import Planning
internal import RunLog
internal import Syntax
internal import Workflow

/// The completions of the last word of an unfinished command line.
struct CompletionAnswer {
    /// The shell's action besides offering the candidates.
    enum Kind: String {
        /// No other action.
        case words
        /// No space after a candidate, because more has to follow.
        case prefixes
        /// Offers files, or folders, too.
        case files, folders
        /// Offers files for the part of the word behind its last `=`.
        case value
    }

    struct Candidate: Equatable {
        let text: String
        /// A short description; empty if there is none.
        let help: String

        init(_ text: String, _ help: String = "") {
            self.text = text
            self.help = help
        }
    }

    private(set) var kind = Kind.words
    private(set) var candidates: [Candidate] = []

    /// Returns the answer to `flowrun __complete SHELL WORD...`; empty for an unknown shell.
    static func text(for request: [String]) -> String {
        guard let shell = request.first.flatMap(CompletionScript.init), request.count > 1 else { return "" }
        var words = Array(request.dropFirst())
        if shell == .bash { words = joined(words) }
        // The shell would expand this when the line is run.
        for index in words.indices.dropLast() { words[index] = words[index].expandingHome }
        let answer = CompletionAnswer(words)
        let last = words[words.count - 1]
        // bash replaces only the part after the last `=` or `:`.
        let kept = shell == .bash ? last.utf8.lastIndex { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ":") } : nil
        let offset = kept.map { last.utf8.distance(from: last.startIndex, to: $0) + 1 } ?? 0
        let lines = answer.candidates.map { candidate in
            let help = candidate.help.asOneLine
            return switch shell {
            case .bash: String(decoding: candidate.text.utf8.dropFirst(offset), as: UTF8.self).escapedForBash
            case .zsh: candidate.text.escapingColons + (help.isEmpty ? "" : ":\(help)")
            case .fish: candidate.text + (help.isEmpty ? "" : "\t\(help)")
            }
        }
        return ([answer.kind.rawValue] + lines).map { $0 + "\n" }.joined()
    }

    /// Joins words again that bash has split: it passes `=` and `:` as separate words, and leaves quotes as typed.
    private static func joined(_ words: [String]) -> [String] {
        var result: [String] = []
        var isOpen = false
        for word in words {
            let isBreak = word == "=" || word == ":"
            if !result.isEmpty, isBreak || isOpen {
                result[result.count - 1] += word
            } else {
                result.append(word)
            }
            isOpen = isBreak
        }
        return result.map { $0.withoutQuotes }
    }

    /// Completes the last of the words.
    init(_ words: [String]) {
        var parser = CommandLineParser()
        // Mistakes before it are reported when the line is run.
        for word in words.dropLast() { try? parser.take(word) }
        let arguments = parser.arguments
        let word = words.last ?? ""
        if let option = parser.pending {
            complete(option.completion, word, arguments)
        } else if !parser.isTerminated, word.hasPrefix("-") {
            completeOption(word, arguments)
        } else {
            completeOperand(word, arguments, isHelp: parser.isHelpWord, isTerminated: parser.isTerminated)
        }
        // A word that needs escapes to be shown cannot be typed.
        candidates = candidates.filter { $0.text.hasPrefix(word) && $0.text.visible == $0.text }
    }

    private mutating func completeOption(_ word: String, _ arguments: Arguments) {
        let isFirst = arguments.command == nil && arguments.operands.isEmpty
        let options = Option.all.filter {
            $0.isAccepted(by: arguments.command ?? .run) && (isFirst || $0.name == .help || !$0.commands.isEmpty)
        }
        guard let equals = word.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            candidates = options.map { Candidate($0.spelling, $0.help) }
            return
        }
        let name = String(word[...equals])
        guard let option = options.first(where: { $0.long.map { $0 + "=" } == name }) else { return }
        complete(option.completion, String(word[word.utf8.index(after: equals)...]), arguments)
        candidates = candidates.map { Candidate(name + $0.text, $0.help) }
    }

    private mutating func completeOperand(_ word: String, _ arguments: Arguments, isHelp: Bool, isTerminated: Bool) {
        let operands = (arguments.command ?? .run).operands
        // The arguments of a step are not known; usually they are files.
        if isTerminated, (arguments.command ?? .run) == .run {
            kind = .files
            return
        }
        let isFirst = arguments.command == nil && arguments.operands.isEmpty
        let count = arguments.operands.count
        if !isHelp, let last = operands.last, count < operands.count || last.isRepeatable {
            complete(operands[min(count, operands.count - 1)].completion, word, arguments)
        }
        if isFirst { candidates = Command.allCases.map { Candidate($0.rawValue, $0.summary) } + candidates }
    }

    private mutating func complete(_ completion: CompletionKind, _ word: String, _ arguments: Arguments) {
        switch completion {
        case .nothing: break
        case .files: kind = .files
        case .workflow:
            if arguments.command?.takesSteps ?? true { completeSteps(arguments, word) }
            if !arguments.has(.file) { kind = .files }
        case .folders: kind = .folders
        case .words(let words): candidates = words.map { Candidate($0) }
        case .findings: candidates = DiagnosticCode.allCases.map { Candidate($0.rawValue, $0.title) }
        case .steps: completeSteps(arguments, word)
        case .parameters: completeParameter(word, arguments)
        case .requests: completeRequest(arguments)
        case .records: completeRecord(arguments)
        }
    }

    /// Behind a step with parameters that have no value yet: their values. `word` is nil where only a step is meant.
    private mutating func completeSteps(_ arguments: Arguments, _ word: String? = nil) {
        guard let outline = FileOutline(arguments) else { return }
        if let word, arguments.command?.takesSteps ?? true, [.run, .plan, .graph].contains(arguments.command ?? .run) {
            let steps = WorkflowChoice.known(arguments, arguments.operands[...])?.steps ?? []
            let parameters = StepWords(steps, in: outline.workflow).openParameters
            guard parameters.isEmpty else {
                return completeValue(word, of: parameters.map { ($0.name, $0) }, isWord: true)
            }
        }
        candidates = outline.steps.map { Candidate($0.text, $0.help) } + (word.map(outline.members) ?? [])
    }

    private mutating func completeParameter(_ word: String, _ arguments: Arguments) {
        guard let workflow = FileOutline(arguments)?.workflow else { return }
        completeValue(word, of: workflow.parameters.map { ($0.name, $0) } + workflow.stepParameters)
    }

    /// Completes `NAME=VALUE`; with `isWord` also the value alone, for the first parameter.
    private mutating func completeValue(
        _ word: String, of parameters: [(name: String, parameter: Parameter)], isWord: Bool = false
    ) {
        guard let equals = word.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            kind = .prefixes
            let first = isWord ? parameters.first?.parameter : nil
            if case .path? = first?.kind { return kind = .files }
            candidates = (first?.words ?? []).map { Candidate($0, first?.description ?? "") }
            candidates += parameters.map { Candidate("\($0.name)=", $0.parameter.description ?? "") }
            return
        }
        let name = String(word[..<equals])
        guard let parameter = parameters.first(where: { $0.name == name })?.parameter else { return }
        candidates = parameter.words.map { Candidate("\(name)=\($0)") }
        if case .path = parameter.kind { kind = .value }
    }

    private mutating func completeRequest(_ arguments: Arguments) {
        let verbs = ControlVerb.allCases
        switch arguments.operands.last.flatMap(ControlVerb.init) {
        case .cancel: completeSteps(arguments)
        case nil where arguments.operands.count < 2:
            candidates = verbs.map { Candidate($0.rawValue) }
            guard arguments.operands.isEmpty else { return }
            if !arguments.has(.file) { kind = .files }
            candidates +=
                Self.directory(arguments).map(ControlClient.answeringRuns)?.map { Candidate($0, "live") } ?? []
        default: break
        }
    }

    private mutating func completeRecord(_ arguments: Arguments) {
        guard let directory = Self.directory(arguments) else { return }
        candidates = ((try? RunHistory(in: directory).runs()) ?? []).map {
            Candidate($0.run, "\($0.state.word), \($0.header.file)")
        }
    }

    /// Returns the state directory of the selected file; nil if there is none yet.
    private static func directory(_ arguments: Arguments) -> StateDirectory? {
        for folder in arguments.values(.folder) where chdir(folder) != 0 { return nil }
        return try? RunSelector(arguments, operand: arguments.operands.first).place().directory
    }
}

/// The parts of a workflow file that completion needs. A file with mistakes has an outline too, because names are
/// completed while the file is being edited.
struct FileOutline {
    /// Larger files take too long to read for completion.
    private static let sizeLimit = 512 << 10
    /// For larger files the instances of fan-outs are not listed, because that takes a plan.
    private static let planLimit = 64 << 10

    let workflow: Workflow
    /// Steps and groups in the order of the file, instances after their fan-out, aliases after the id.
    let steps: [Name]

    /// One of the names of a step or group.
    struct Name {
        let text: String
        /// The id that it stands for.
        let id: String
        let help: String
    }

    /// Returns nil if there is no file, or none that can be read in time. Changes to the folder given on the command
    /// line.
    init?(_ arguments: Arguments) {
        for folder in arguments.values(.folder) where chdir(folder) != 0 { return nil }
        guard let path = WorkflowChoice.known(arguments, arguments.operands[...])?.file else { return nil }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= Self.sizeLimit else {
            return nil
        }
        let (file, unreadable) = SourceFile.read(path)
        guard unreadable == nil,
            let workflow = WorkflowDecoder.read(file, files: UsedFiles.of(path, allowsOutside: true)).workflow
        else { return nil }
        self.workflow = workflow
        func help(of node: NodeIndex) -> String {
            let settings = workflow.settings(of: node)
            return settings?.description ?? settings?.name ?? ""
        }
        if status.st_size <= Self.planLimit, let plan = Planner.plan(workflow, known: .none).plan {
            steps = plan.nodes.dropFirst().filter { !workflow.isInternal($0.definition) }.flatMap { node in
                Self.names(of: node.definition, id: node.id, help(of: node.definition), workflow)
            }
        } else {
            let nodes = workflow.nodes.indices.dropFirst().map { NodeIndex($0) }
            steps = nodes.filter { !workflow.isInternal($0) }.flatMap {
                Self.names(of: $0, id: workflow.path(of: $0), help(of: $0), workflow)
            }
        }
    }

    /// The id, and where it is not that of an instance the aliases.
    private static func names(of node: NodeIndex, id: String, _ help: String, _ workflow: Workflow) -> [Name] {
        let name = Name(text: id, id: id, help: help)
        let aliases = workflow.settings(of: node)?.aliases ?? []
        guard !aliases.isEmpty, id.hasSuffix(workflow[node].id) else { return [name] }
        let group = id.dropLast(workflow[node].id.count)
        return [name]
            + aliases.map { Name(text: group + $0.name, id: id, help: help.isEmpty ? "the same as \(id)" : help) }
    }

    /// Returns the members of a group that an unfinished word names by an alias; they are listed by its id only.
    func members(of word: String) -> [CompletionAnswer.Candidate] {
        guard let dot = word.lastIndex(of: ".") else { return [] }
        var group = ""
        for part in word[..<dot].split(separator: ".", omittingEmptySubsequences: false) {
            let text = group.isEmpty ? String(part) : "\(group).\(part)"
            guard let name = steps.first(where: { $0.text == text }) else { return [] }
            group = name.id
        }
        guard group != word[..<dot] else { return [] }
        return steps.filter { $0.text.hasPrefix("\(group).") }.map {
            CompletionAnswer.Candidate("\(word[..<dot])\($0.text.dropFirst(group.count))", $0.help)
        }
    }
}

extension Parameter {
    /// The values, if there are only a few.
    fileprivate var words: [String] {
        switch kind {
        case .bool: ["true", "false"]
        case .choice(let choices): choices
        case .string, .int, .list, .path: []
        }
    }
}

extension Workflow {
    /// The parameters of steps that the command line can name, with names such as `greet.name`.
    fileprivate var stepParameters: [(name: String, parameter: Parameter)] {
        nodes.indices.map { NodeIndex($0) }.filter { !isInternal($0) }.flatMap { node in
            (settings(of: node)?.parameters ?? []).map { ("\(path(of: node)).\($0.name)", $0) }
        }
    }
}

extension Option {
    fileprivate var completion: CompletionKind {
        switch value {
        case .none: .nothing
        case .required(_, let completion), .optional(_, let completion): completion
        }
    }
}

extension String {
    fileprivate var expandingHome: String {
        guard hasPrefix("~/"), let home = environmentVariable("HOME") else { return self }
        return home + dropFirst()
    }

    /// The text as a candidate for `_describe` of zsh.
    fileprivate var escapingColons: String {
        guard utf8.contains(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "\\") }) else { return self }
        return reduce(into: "") { text, letter in
            text += letter == ":" || letter == "\\" ? "\\\(letter)" : "\(letter)"
        }
    }

    /// bash inserts a candidate into the line unquoted, where `;` would end the command. Brackets need no escape.
    fileprivate var escapedForBash: String {
        var text = ""
        for letter in self {
            let isPlain = letter.isLetter || letter.isNumber || "_-./=:@%+,[]".contains(letter)
            text += isPlain ? "\(letter)" : "\\\(letter)"
        }
        return text
    }

    /// The value that the shell would pass for an unfinished word.
    fileprivate var withoutQuotes: String {
        var text = ""
        var isEscaped = false
        for letter in self {
            if !isEscaped, letter == "\\" {
                isEscaped = true
                continue
            }
            if isEscaped || letter != "\"" && letter != "'" { text.append(letter) }
            isEscaped = false
        }
        return text
    }
}
