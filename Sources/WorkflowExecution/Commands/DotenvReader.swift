internal import Glibc
internal import WorkflowModel

/// Reads files of `NAME=value` lines, as dotenv tools write them: `export` before the name, `#` comments, single quotes
/// without and double quotes with escapes. Nothing in a value is ever expanded.
enum DotenvReader {
    struct Mistake: Error {
        /// From 1; nil where the file itself could not be read.
        let line: Int?
        let message: String
    }

    static func read(_ path: String) throws(Mistake) -> [(name: String, value: String)]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw Mistake(line: nil, message: String(cString: strerror(errno))) }
        defer { close(descriptor) }
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
            guard got >= 0 else { throw Mistake(line: nil, message: String(cString: strerror(errno))) }
            if got == 0 { break }
            guard bytes.count <= 1 << 20 else { throw Mistake(line: nil, message: "is larger than 1 MiB") }
        }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        if bytes.contains(0) { throw Mistake(line: nil, message: "holds a NUL, which no variable can") }
        return try parse(String(decoding: bytes, as: UTF8.self))
    }

    static func parse(_ text: String) throws(Mistake) -> [(name: String, value: String)] {
        var entries: [(name: String, value: String)] = []
        var number = 0
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" }) {
            number += 1
            var rest = line.drop { $0 == " " || $0 == "\t" }
            if rest.isEmpty || rest.first == "#" { continue }
            if rest.hasPrefix("export ") || rest.hasPrefix("export\t") { rest = rest.dropFirst(7).trimmed }
            guard let equals = rest.firstIndex(of: "=") else {
                throw Mistake(line: number, message: "expected `NAME=value`, found `\(rest)`")
            }
            let name = rest[..<equals].trimmed
            guard VariableName.isValid(String(name)) else {
                throw Mistake(line: number, message: "`\(name)` is no name of a variable")
            }
            guard !VariableName.isFlowruns(String(name)) else {
                throw Mistake(line: number, message: "`\(name)` is set by flowrun itself; choose another name")
            }
            guard let value = value(of: rest[rest.index(after: equals)...].trimmed) else {
                throw Mistake(
                    line: number, message: "the value of `\(name)` has no closing quote, or goes on behind it")
            }
            entries.append((String(name), value))
        }
        return entries
    }

    private static func value(of text: Substring) -> String? {
        guard let quote = text.first, quote == "'" || quote == "\"" else {
            // A comment needs a blank before it: `a#b` is a value.
            var end = text.startIndex
            var previous: Character = " "
            while end < text.endIndex, !(text[end] == "#" && (previous == " " || previous == "\t")) {
                previous = text[end]
                end = text.index(after: end)
            }
            return String(text[..<end].trimmed)
        }
        var value = ""
        var isEscaped = false
        for index in text.indices.dropFirst() {
            let character = text[index]
            if isEscaped {
                value.append(escapes[character] ?? character)
                isEscaped = false
            } else if character == "\\", quote == "\"" {
                isEscaped = true
            } else if character == quote {
                let rest = text[text.index(after: index)...].trimmed
                return rest.isEmpty || rest.hasPrefix("#") ? value : nil
            } else {
                value.append(character)
            }
        }
        return nil
    }

    private static let escapes: [Character: Character] = ["n": "\n", "t": "\t", "r": "\r"]
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
