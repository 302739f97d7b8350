internal import Basics
internal import Syntax
package import Workflow

/// Reads the outputs that a step has written to the file `$FLOWRUN_OUTPUT`:
///
///     name=value              up to the end of the line, byte for byte
///     name<<END               the lines up to one that is `END`
///     …
///     END
///     {"name": value, …}      one JSON object, and then nothing else
///
/// The text is UTF-8. A later value of a name replaces an earlier one, as in GitHub Actions; empty lines mean
/// nothing. A value is never parsed again. Pure: the caller has read the bytes.
package struct OutputFileReader {
    private let declarations: [OutputDeclaration]
    private let secrets: RunSecrets

    /// Takes all outputs that the step declares; those that do not come from the file must not be in it. `secrets`
    /// occur in no message.
    package init(_ declarations: [OutputDeclaration], hiding secrets: RunSecrets = .none) {
        self.declarations = declarations
        self.secrets = secrets
    }

    /// Returns the values of all outputs that come from the file, in the order of their declarations. Throws the
    /// first mistake.
    package func read(_ bytes: [UInt8]) throws(OutputError) -> [Value.Field] {
        guard bytes.count <= OutputDeclaration.Kind.sizeLimit else {
            throw OutputError("wrote more than \(OutputDeclaration.Kind.sizeLimit >> 20) MiB to $FLOWRUN_OUTPUT")
        }
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        let first = text.first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
        let values = first == UInt8(ascii: "{") ? try readObject(text) : try readLines(text)
        var fields: [Value.Field] = []
        var missing: [String] = []
        for declaration in declarations {
            guard case .file = declaration.source else { continue }
            if let value = values[declaration.name] {
                fields.append(Value.Field(name: declaration.name, value: value))
            } else {
                missing.append(declaration.name)
            }
        }
        guard missing.isEmpty else {
            let names = missing.map { "`\($0)`" }.joined(separator: ", ")
            throw OutputError(
                "did not write the declared output\(missing.count == 1 ? "" : "s") \(names) to $FLOWRUN_OUTPUT")
        }
        return fields
    }

    // MARK: One JSON object

    private func readObject(_ bytes: ArraySlice<UInt8>) throws(OutputError) -> [String: Value] {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw notUTF8(bytes) }
        let object: Value
        do {
            object = try Value(json: text)
        } catch {
            let line = 1 + text.utf8.prefix(error.offset).count { $0 == 0x0A }
            throw OutputError(
                "wrote something that begins like a JSON object but is not one: \(error.message)", line: line)
        }
        guard case .object(let fields) = object else { return [:] }
        var values: [String: Value] = [:]
        for field in fields {
            values[field.name] = try kind(of: field.name, line: nil).checked(
                field.value, for: "output `\(field.name)`", line: nil, hiding: secrets)
        }
        return values
    }

    // MARK: Lines

    private func readLines(_ bytes: ArraySlice<UInt8>) throws(OutputError) -> [String: Value] {
        var values: [String: Value] = [:]
        var lines = Lines(bytes)
        while let line = lines.next() {
            let number = lines.number
            if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
            let (name, value) = try entry(line, in: &lines)
            values[name] = try kind(of: name, line: number).value(
                of: value, for: "output `\(name)`", line: number, hiding: secrets)
        }
        return values
    }

    private func entry(
        _ line: ArraySlice<UInt8>, in lines: inout Lines
    ) throws(OutputError) -> (name: String, value: String) {
        let number = lines.number
        for index in line.indices {
            if line[index] == UInt8(ascii: "=") {
                return try (text(line[..<index], number), text(line[(index + 1)...], number))
            }
            if line[index...].starts(with: "<<".utf8) {
                let name = try text(line[..<index], number)
                let end = line[(index + 2)...]
                guard !end.isEmpty else {
                    throw OutputError(
                        "output \(secrets.quoted(name)) has no end word after `<<`", line: number)
                }
                guard let value = lines.upTo(end) else {
                    throw OutputError(
                        """
                        output \(secrets.quoted(name)) is not closed by a line \
                        \(secrets.quoted(try text(end, number)))
                        """,
                        line: number)
                }
                return (name, try text(value, number + 1))
            }
        }
        let found = secrets.quoted(try text(line, number))
        throw OutputError("expected `name=value` or `name<<END`, found \(found)", line: number)
    }

    private func kind(of name: String, line: Int?) throws(OutputError) -> OutputDeclaration.Kind {
        switch declarations.first(where: { $0.name == name })?.source {
        case .file(let kind): return kind
        case .standardOutput:
            throw OutputError("wrote the output `\(name)`, which is taken from standard output", line: line)
        case .expression, nil:
            let near = Suggestion.nearest(to: name, among: declarations.map(\.name))
            throw OutputError(
                "wrote the output \(secrets.quoted(name)), which it does not declare"
                    + (near.map { "; did you mean `\($0)`?" } ?? ""), line: line)
        }
    }

    private func text(_ bytes: ArraySlice<UInt8>, _ line: Int) throws(OutputError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw notUTF8(bytes, from: line) }
        return text
    }

    /// `bytes` begin at the beginning of a line, or lie inside one.
    private func notUTF8(_ bytes: ArraySlice<UInt8>, from line: Int = 1) -> OutputError {
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        let offset = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
        return OutputError("wrote something that is not UTF-8", line: line + offset)
    }

    /// The lines of a text without their ends, counted from 1.
    private struct Lines {
        private let bytes: ArraySlice<UInt8>
        private var rest: ArraySlice<UInt8>
        /// The number of the line that came last.
        private(set) var number = 0

        init(_ bytes: ArraySlice<UInt8>) {
            self.bytes = bytes
            rest = bytes
        }

        mutating func next() -> ArraySlice<UInt8>? {
            guard !rest.isEmpty else { return nil }
            number += 1
            let end = rest.firstIndex(of: 0x0A) ?? rest.endIndex
            defer { rest = rest[min(end + 1, rest.endIndex)...] }
            return rest[..<end]
        }

        /// Returns everything before a line that is `end`, without the line end there; nil if there is none.
        mutating func upTo(_ end: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
            let start = rest.startIndex
            while let line = next() {
                if line.elementsEqual(end) { return bytes[start..<max(start, line.startIndex - 1)] }
            }
            return nil
        }
    }
}

/// A mistake in the outputs that a step wrote: the step fails with it.
package struct OutputError: Error {
    /// A clause without its subject, as the message of a `Cause`, with the line if there is one.
    package let message: String
    /// From 1, in the file `$FLOWRUN_OUTPUT`; nil if no line is to blame.
    package let line: Int?

    init(_ message: String, line: Int? = nil) {
        self.message = line.map { "\(message) (line \($0) of $FLOWRUN_OUTPUT)" } ?? message
        self.line = line
    }
}
