internal import Basics
internal import Syntax

extension WorkflowDecoder {
    /// `run`: a text is a script, a list the words of a command.
    mutating func decodeRun(_ entry: MappingReader.Entry) -> WorkflowNode.Body {
        let value = entry.value
        switch value.kind {
        case .invalid:
            return .script(.empty)
        case .sequence:
            return .arguments(arguments(entry))
        case .mapping:
            reportType(
                entry, expected: "a script or a list of words",
                fix: .init("quote the command if the braces belong to it"))
            return .script(.empty)
        case .scalar:
            guard value.type == .string else {
                reportBareWord(entry)
                return .script(.empty)
            }
            if document.hasExpressions { document.scriptRows.insert(value.contentRow) }
            if value.bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }) {
                report(.invalidValue, "the script of `run` is blank", at: entry.place, fix: .init("write a command"))
            }
            return .script(value.verbatim.map { .inFile($0) } ?? .spelled(value.text, in: value.contentRange))
        }
    }

    /// `run: true` means the program, not the boolean.
    private mutating func reportBareWord(_ entry: MappingReader.Entry) {
        let value = entry.value
        guard !value.isNull else { return reportType(entry, expected: "a script or a list of words") }
        let text = value.text
        reportType(
            entry, expected: "a script or a list of words",
            fix: replacing(value, by: "\"\(text)\"", "write `run: \"\(text)\"` or `run: [\"\(text)\"]`"))
    }

    private mutating func arguments(_ entry: MappingReader.Entry) -> [Template] {
        let words = words(of: entry, what: "a command") { $0.template($1) }
        if entry.value.count == 0 {
            report(
                .emptyList, "the list of `run` is empty", at: entry.value,
                fix: .init("write a program and its arguments"))
        } else if words.first?.literal?.isEmpty == true {
            report(
                .invalidValue, "the command of `run` begins with an empty text", at: entry.value,
                fix: .init("write the program's name first"))
        } else {
            reportJoinedWords(entry.value)
        }
        return words
    }

    /// The scalars of a list, each read by `read`.
    private mutating func words<Word>(
        of entry: MappingReader.Entry, what: String, read: (inout Self, YAMLNode) -> Word
    ) -> [Word] {
        var words: [Word] = []
        words.reserveCapacity(entry.value.count)
        for element in entry.value.elements {
            if element.kind == .scalar, !element.isNull {
                words.append(read(&self, element))
            } else if element.kind != .invalid {
                let range = element.range.start == element.range.end ? entry.value.range : element.range
                report(
                    .wrongType, "\(what) is a list of words, found \(found(element)) in it", at: range,
                    fix: .init(element.kind == .sequence ? "write its words one by one" : "quote the word"))
            }
        }
        return words
    }

    /// `shell`: a name, or the command to which the script is appended.
    mutating func shell(_ entry: MappingReader.Entry?) -> Shell? {
        guard let entry else { return nil }
        let value = entry.value
        if value.kind == .sequence {
            let words = words(of: entry, what: "`shell`") { $1.text }
            guard let program = words.first, !program.isEmpty else {
                report(
                    .emptyList, "the list of `shell` names no program", at: value,
                    fix: .init("write a program and its arguments, such as [bash, -c]"))
                return nil
            }
            return Shell(arguments: words)
        }
        guard value.kind == .scalar, value.type == .string else {
            reportType(entry, expected: "a shell's name or a list of words")
            return nil
        }
        let name = value.text
        let parts = name.split(whereSeparator: \.isWhitespace)
        guard parts.count == 1, parts[0].utf8.count == name.utf8.count else {
            let list = "[" + (parts.map(String.init) + (parts.last == "-c" ? [] : ["-c"])).joined(separator: ", ") + "]"
            let isSafe = name.utf8.allSatisfy { byte in !",[]{}\"'#&*!|>%@`:".utf8.contains(byte) }
            reportValue(
                entry, expected: "one name, or a list of words",
                fix: isSafe && !parts.isEmpty ? replacing(value, by: list) : nil)
            return nil
        }
        return Shell(named: name)
    }
}

extension WorkflowDecoder {
    /// `outputs` of a step: names to types.
    mutating func stepOutputs(_ entry: MappingReader.Entry?) -> [OutputDeclaration] {
        outputs(entry, expected: "a mapping of names to types such as `{ version: string }`") { decoder, entry in
            decoder.stepOutput(entry)
        }
    }

    /// `outputs` of a group or the workflow: names to expressions.
    mutating func groupOutputs(_ entry: MappingReader.Entry?) -> [OutputDeclaration] {
        outputs(entry, expected: "a mapping of names to expressions") { decoder, entry in
            decoder.groupOutput(entry).map(OutputDeclaration.Source.expression)
        }
    }

    private mutating func outputs(
        _ entry: MappingReader.Entry?, expected: String,
        source: (inout WorkflowDecoder, MappingReader.Entry) -> OutputDeclaration.Source?
    ) -> [OutputDeclaration] {
        guard let entry else { return [] }
        guard entry.value.kind == .mapping else {
            reportType(entry, expected: expected)
            return []
        }
        var outputs: [OutputDeclaration] = []
        for (key, value) in entry.value.entries where checkName(key, of: "an output") {
            guard let source = source(&self, MappingReader.Entry(key: key, value: value)) else { continue }
            outputs.append(OutputDeclaration(name: key.text, source: source, range: key.range))
        }
        return outputs
    }

    /// A type, or `{ type, from: stdout }`. A wrong one still counts as declared, of any type.
    private mutating func stepOutput(_ entry: MappingReader.Entry) -> OutputDeclaration.Source {
        guard entry.value.kind == .mapping else {
            if isExpression(entry.value) {
                reportComputed(entry)
                return .file(.json)
            }
            return .file(outputKind(entry) ?? .json)
        }
        let fields = fields(entry.value, of: .output)
        let kind = fields.take("type").map { outputKind($0) ?? .json } ?? .string
        guard let from = fields.take("from") else { return .file(kind) }
        if from.value.isText("lines") {
            reportLines(from, fields.take("type"))
            return .file(.lines)
        }
        _ = word(from, of: ["stdout"])
        return .standardOutput(kind)
    }

    /// `from` says where a value is written, `type` how it is read.
    private mutating func reportLines(_ from: MappingReader.Entry, _ type: MappingReader.Entry?) {
        report(
            .invalidValue, "`from` takes `stdout`, found `lines`", at: from.value,
            fix: type.map { replacing($0.value, by: "lines", "write `type: lines` and no `from`") }
                ?? .init("write `type: lines`"))
    }

    /// In other tools, an output is an expression.
    private mutating func reportComputed(_ entry: MappingReader.Entry) {
        let name = Phrase.quoted(entry.key.text)
        refuse(entry.value)
        report(
            .wrongType, "\(name) takes the type of what the step writes, found an expression", at: entry.value,
            fix: .init("write a type such as `string`, and let the script append `NAME=value` to \"$FLOWRUN_OUTPUT\""))
    }

    mutating func outputKind(_ entry: MappingReader.Entry) -> OutputDeclaration.Kind? {
        typeWord(entry, of: OutputDeclaration.Kind.allCases.map(\.rawValue)).flatMap(OutputDeclaration.Kind.init)
    }

    private mutating func groupOutput(_ entry: MappingReader.Entry) -> Template? {
        let value = entry.value
        let expected = "an expression in `${{ }}` over the outputs of members"
        guard value.kind == .scalar, !value.isNull else {
            reportType(entry, expected: expected)
            return nil
        }
        let template = template(value)
        guard let text = template.literal else { return template }
        let fix = Self.looksLikeExpression(text) ? replacing(value, by: Self.braced(text)) : nil
        reportType(entry, expected: expected, fix: fix)
        return nil
    }

    /// True for a text that was most likely meant as an expression, with its braces missing.
    static func looksLikeExpression(_ text: String) -> Bool {
        ["steps.", "params.", "previous.", "fromJSON("].contains(where: text.hasPrefix)
    }

    /// A text as an expression in a double-quoted scalar, which is also valid in a flow collection.
    static func braced(_ text: String) -> String { quoted("${{ \(text) }}") }
}

extension WorkflowDecoder {
    /// The largest number of names in one `vars`: each script is searched for each of them.
    static let sharedValueLimit = 1000

    /// `vars`: names to values, or to commands that print them. An invalid one keeps its name, so that its readers
    /// still find it.
    mutating func sharedValues(_ entry: MappingReader.Entry?) -> [SharedValue] {
        guard let entry else { return [] }
        guard entry.value.kind == .mapping else {
            reportType(entry, expected: "a mapping of names to values or to `{ run: command }`")
            return []
        }
        guard entry.value.count <= Self.sharedValueLimit else {
            report(
                .fanOutTooLarge, "`vars` has \(entry.value.count) names, at most \(Self.sharedValueLimit) are accepted",
                at: entry.key, fix: .init("let one command make several of them, as `type: json`"))
            refuse(entry.value)
            return []
        }
        return entry.value.entries.map { sharedValue(MappingReader.Entry(key: $0.key, value: $0.value)) }
    }

    private mutating func sharedValue(_ entry: MappingReader.Entry) -> SharedValue {
        let name = entry.key.text
        checkVariable(name, at: entry.key.range)
        let source: SharedValue.Source
        switch entry.value.kind {
        case .mapping: source = sharedMapping(entry)
        case .sequence: source = literalList(entry).map(SharedValue.Source.literal) ?? .template("")
        case .scalar where !entry.value.isNull: source = .template(template(entry.value))
        case .scalar, .invalid:
            reportType(
                entry, expected: "a text, a list of texts, or `{ run: command }`",
                fix: .init("write `\"\"` for an empty text"))
            source = .template("")
        }
        return SharedValue(name: name, source: source, range: entry.key.range)
    }

    /// `{ run, type, … }` or `{ value, type }`.
    private mutating func sharedMapping(_ entry: MappingReader.Entry) -> SharedValue.Source {
        let fields = fields(entry.value, of: .sharedValue)
        let kind = fields.take("type").flatMap { outputKind($0) }
        let (run, value) = (fields.take("run"), fields.take("value"))
        if let run, let value {
            report(
                .conflictingKeys, "a var has either `run` or `value`, this one has both", at: value.key,
                notes: [.init("`run` is here", at: run.key.range)], fix: .init("remove one of the two"))
        }
        if let run {
            let body = decodeRun(run)
            let shell = shell(fields.take("shell"))
            return .command(
                SharedValue.Command(
                    body: body, kind: kind ?? .string, shell: shell, timeout: timeLimit(fields.take("timeout")),
                    secrets: secretUses(fields.take("secrets"))))
        }
        for word in ["shell", "timeout", "secrets"] {
            guard let stray = fields.take(word) else { continue }
            report(
                .conflictingKeys, "`\(word)` has no effect without `run`", at: stray.key,
                fix: .init("remove it, or write the command as `run`"))
        }
        guard let value else {
            report(
                .missingKey, "the var \(Phrase.quoted(entry.key.text)) has neither `run` nor `value`", at: entry.key,
                fix: .init("write `run:` with a command that prints the value, or the value itself"))
            return .template("")
        }
        return literal(value, of: kind)
    }

    private mutating func literal(
        _ entry: MappingReader.Entry, of kind: OutputDeclaration.Kind?
    ) -> SharedValue.Source {
        if entry.value.kind == .scalar, isExpression(entry.value) {
            if let kind, kind != .string {
                refuse(entry.value)
                report(
                    .conflictingKeys, "an expression has the type of its value, not `\(kind.rawValue)`",
                    at: entry.value, fix: .init("remove `type`"))
            }
            return .template(template(entry.value))
        }
        let value: Value? =
            switch kind {
            case .int: defaultValue(entry, kind: .int, pattern: nil)
            case .bool: defaultValue(entry, kind: .bool, pattern: nil)
            case .list: literalList(entry)
            case .lines: lines(entry)
            case .json: json(entry)
            case .string: defaultValue(entry, kind: .string, pattern: nil)
            case nil: entry.value.kind == .sequence ? literalList(entry) : text(entry).map(Value.string)
            }
        return value.map(SharedValue.Source.literal) ?? .template("")
    }

    private mutating func literalList(_ entry: MappingReader.Entry) -> Value? {
        defaultValue(entry, kind: .list, pattern: nil)
    }

    private mutating func lines(_ entry: MappingReader.Entry) -> Value? {
        if entry.value.kind == .sequence { return literalList(entry) }
        return text(entry).map { OutputDeclaration.Kind.lines(of: $0) }
    }

    private mutating func json(_ entry: MappingReader.Entry) -> Value? {
        guard let text = text(entry) else { return nil }
        do throws(JSONError) {
            return try Value(json: text)
        } catch {
            report(
                .invalidValue, "`value` is not JSON: \(error.message), found \(Phrase.quoted(text))", at: entry.value)
            return nil
        }
    }
}
