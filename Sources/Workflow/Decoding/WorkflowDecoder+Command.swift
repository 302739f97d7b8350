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

    /// `run: true`: the program, not the boolean, is meant.
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

    /// In other tools an expression says what a step hands on.
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

    /// Whether a text was most likely meant as an expression whose braces are missing.
    static func looksLikeExpression(_ text: String) -> Bool {
        ["steps.", "params.", "previous.", "fromJSON("].contains(where: text.hasPrefix)
    }

    /// A text as an expression in a double-quoted scalar, which a flow collection may hold, too.
    static func braced(_ text: String) -> String { quoted("${{ \(text) }}") }
}
