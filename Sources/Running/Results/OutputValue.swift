internal import Basics
internal import Syntax
package import Workflow

extension OutputDeclaration.Kind {
    /// The largest size in bytes of a step's output file, and of the standard output that an output is taken from.
    package static let sizeLimit = 1 << 20

    /// Returns the value that is taken from standard output: the whole text without its last line end. `subject`
    /// names its source in messages.
    package func value(
        ofStandardOutput bytes: [UInt8], for subject: String, hiding secrets: RunSecrets = .none
    ) throws(OutputError) -> Value {
        guard bytes.count <= Self.sizeLimit else {
            throw Self.excess(of: subject)
        }
        var text = bytes[...]
        if text.last == 0x0A { text.removeLast(text.dropLast().last == 0x0D ? 2 : 1) }
        guard let text = String(validating: text, as: UTF8.self) else {
            throw OutputError("\(subject) is not UTF-8 on standard output")
        }
        return try value(of: text, for: subject, line: nil, hiding: secrets)
    }

    /// Makes the error of a source that has written more than is read.
    static func excess(of subject: String) -> OutputError {
        OutputError("\(subject) has more than \(sizeLimit >> 20) MiB on standard output")
    }

    /// Returns the value that a text means. Blanks around a number, a bool or JSON do no harm; a string keeps every
    /// byte.
    func value(
        of text: String, for subject: String, line: Int?, hiding secrets: RunSecrets
    ) throws(OutputError) -> Value {
        let bare = text.utf8.trimmed
        switch self {
        case .string:
            return .string(text)
        case .int:
            if let number = TypedText.int(bare) { return .int(number) }
            throw mistake(subject, expected: "a whole number", found: secrets.quoted(text), line)
        case .bool:
            if let value = TypedText.bool(bare) { return .bool(value) }
            throw mistake(subject, expected: "`true` or `false`", found: secrets.quoted(text), line)
        case .lines:
            return Self.lines(of: text)
        case .list, .json:
            let value: Value
            do {
                value = try Value(json: text)
            } catch {
                let expected = self == .list ? "a JSON array" : "JSON"
                throw mistake(
                    subject, expected: expected, found: "\(secrets.quoted(text)): \(error.message)", line)
            }
            return try checked(value, for: subject, line: line, hiding: secrets)
        }
    }

    /// Checks a value out of a JSON object; no type turns into another.
    func checked(
        _ value: Value, for subject: String, line: Int?, hiding secrets: RunSecrets
    ) throws(OutputError) -> Value {
        let expected: String
        switch (self, value) {
        case (.string, .string), (.int, .int), (.bool, .bool), (.list, .list), (.lines, .list), (.json, _):
            return value
        case (.string, _): expected = "a JSON string"
        case (.int, _): expected = "a whole number"
        case (.bool, _): expected = "`true` or `false`"
        case (.list, _), (.lines, _): expected = "a JSON array"
        }
        throw mistake(subject, expected: expected, found: Phrase.quoted(secrets.masked(value).json), line)
    }

    private func mistake(_ subject: String, expected: String, found: String, _ line: Int?) -> OutputError {
        OutputError("\(subject) has to be \(expected), found \(found)", line: line)
    }
}

extension String.UTF8View {
    /// The text without blanks and line ends at both ends.
    fileprivate var trimmed: String {
        var rest = self[...]
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
        rest = rest.drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return String(Substring(rest))
    }
}

extension [OutputDeclaration] {
    /// Returns all values of a step that has succeeded, in the order of their declarations. Throws the first mistake,
    /// whose message contains no secret.
    func values(
        inFile file: [UInt8], standardOutput: [UInt8], hiding secrets: RunSecrets
    ) throws(OutputError) -> [Value.Field] {
        let written = try OutputFileReader(self, hiding: secrets).read(file)
        var fields: [Value.Field] = []
        for declaration in self {
            if case .standardOutput(let kind) = declaration.source {
                let value = try kind.value(
                    ofStandardOutput: standardOutput, for: "output `\(declaration.name)`", hiding: secrets)
                fields.append(Value.Field(name: declaration.name, value: value))
            } else if let field = written.first(where: { $0.name == declaration.name }) {
                fields.append(field)
            }
        }
        return fields
    }
}

extension OutputDeclaration {
    var isOfStandardOutput: Bool { if case .standardOutput = source { true } else { false } }
}
