internal import SourceDiagnostics
internal import YAMLSyntax

extension WorkflowDecoder {
    /// `run`: a text is a script, a list the words of a command.
    mutating func decodeRun(_ entry: MappingReader.Entry) -> WorkflowNode.Body {
        let value = entry.value
        switch value.kind {
        case .invalid:
            return .script("")
        case .sequence:
            return .arguments(arguments(entry))
        case .mapping:
            reportType(
                entry, expected: "a script or a list of words",
                fix: .init("quote the command if the braces belong to it"))
            return .script("")
        case .scalar:
            guard value.type == .string else {
                reportBareWord(entry)
                return .script("")
            }
            if hasExpressions { scriptRows.insert(value.contentRow) }
            if value.bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }) {
                report(.invalidValue, "the script of `run` is blank", at: entry.place, fix: .init("write a command"))
            }
            return .script(value.verbatim.map { .inFile($0) } ?? .text(value.text))
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
                    fix: .init("quote the word"))
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
