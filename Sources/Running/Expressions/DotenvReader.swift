internal import Basics
internal import Glibc
internal import Workflow

/// Reads files of `NAME=value` lines, as dotenv tools write them: `export` before the name, `#` comments, single quotes
/// without and double quotes with escapes. Nothing in a value is ever expanded.
enum DotenvReader {
    struct ReadError: Error {
        /// From 1; nil if the file itself could not be read.
        let line: Int?
        let message: String
    }

    static func read(_ path: String) throws(ReadError) -> [(name: String, value: String)]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw ReadError(line: nil, message: SystemError.last.words) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw ReadError(line: nil, message: SystemError.last.words) }
        let kind = status.st_mode & S_IFMT
        guard kind != S_IFIFO else {
            throw ReadError(
                line: nil,
                message: "is a FIFO, which gives what it has to one reader only; write the variables to a regular file")
        }
        var bytes: [UInt8] = []
        let count = 1 << 16
        while true {
            let start = bytes.count
            var got = 0
            bytes.reserveCapacity(start + count)
            bytes.append(
                contentsOf: [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                    got = Glibc.read(descriptor, buffer.baseAddress, count)
                    filled = max(got, 0)
                })
            guard got >= 0 else { throw ReadError(line: nil, message: SystemError.last.words) }
            // A shorter read is the end of the file.
            if got == 0 || kind == S_IFREG && got < count { break }
            guard bytes.count <= 1 << 20 else { throw ReadError(line: nil, message: "is larger than 1 MiB") }
        }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        if bytes.contains(0) { throw ReadError(line: nil, message: "has a NUL character, which no variable can hold") }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
            let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }
            throw ReadError(line: line.map { $0 + 1 }, message: "is not UTF-8")
        }
        return try parse(text)
    }

    /// Parses scalar by scalar: a letter that joins with the quote or the `=` before it is still the value's.
    static func parse(_ text: String) throws(ReadError) -> [(name: String, value: String)] {
        var entries: [(name: String, value: String)] = []
        var number = 0
        for line in text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false) {
            number += 1
            var rest = (line.last == "\r" ? line.dropLast() : line).drop(while: isBlank)
            if rest.isEmpty || rest.first == "#" { continue }
            let afterExport = rest.dropFirst(6)
            if rest.starts(with: "export".unicodeScalars), afterExport.first.map(isBlank) == true {
                rest = trimmed(afterExport)
            }
            guard let equals = rest.firstIndex(of: "=") else {
                throw ReadError(line: number, message: "expected `NAME=value`, found `\(String(rest))`")
            }
            let name = String(trimmed(rest[..<equals]))
            guard VariableName.isValid(name) else {
                throw ReadError(line: number, message: "`\(name)` is not a valid variable name")
            }
            guard !VariableName.isFlowruns(name) else {
                throw ReadError(line: number, message: "`\(name)` is set by flowrun itself; choose another name")
            }
            guard let value = value(of: trimmed(rest[rest.index(after: equals)...])) else {
                throw ReadError(
                    line: number, message: "the value of `\(name)` has no closing quote, or continues after it")
            }
            entries.append((name, value))
        }
        return entries
    }

    private typealias Scalars = Substring.UnicodeScalarView

    private static func value(of text: Scalars) -> String? {
        guard let quote = text.first, quote == "'" || quote == "\"" else {
            // A comment needs a blank before it: `a#b` is a value.
            var end = text.startIndex
            var previous: Unicode.Scalar = " "
            while end < text.endIndex, !(text[end] == "#" && isBlank(previous)) {
                previous = text[end]
                end = text.index(after: end)
            }
            return String(trimmed(text[..<end]))
        }
        var value = String.UnicodeScalarView()
        var isEscaped = false
        for index in text.indices.dropFirst() {
            let scalar = text[index]
            if isEscaped {
                value.append(escaped(scalar))
                isEscaped = false
            } else if scalar == "\\", quote == "\"" {
                isEscaped = true
            } else if scalar == quote {
                let rest = trimmed(text[text.index(after: index)...])
                return rest.isEmpty || rest.first == "#" ? String(value) : nil
            } else {
                value.append(scalar)
            }
        }
        return nil
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar {
        case "n": "\n"
        case "t": "\t"
        case "r": "\r"
        default: scalar
        }
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }

    private static func trimmed(_ text: Scalars) -> Scalars {
        var text = text.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }
}
