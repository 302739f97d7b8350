internal import Glibc

/// Facts about a script from its lines and words, without a parser for its language: enough to choose how bash
/// watches it. A mistake here makes the error of a failed script less precise, and never changes what the script
/// does.
struct ScriptOutline {
    private typealias Line = Substring.UTF8View

    /// The lines without their ends.
    private let lines: [Line]
    private let bytes: [UInt8]

    init(_ script: String) {
        bytes = Array(script.utf8)
        var lines = script.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        self.lines = lines
    }

    /// Returns true if a script is surely one simple command, which is to blame when it fails. Most scripts are.
    static func isOneCommand(_ script: String) -> Bool {
        let line = Substring(script).utf8
        let end = line.firstIndex(of: UInt8(ascii: "\n")) ?? line.endIndex
        return line[end...].allSatisfy { $0 == UInt8(ascii: "\n") } && !has(line[..<end], ";&|`({")
    }

    /// Returns true if the script has one of these as a whole word.
    private func hasWord(_ words: StaticString...) -> Bool { words.contains { hasWord($0) } }

    private func hasWord(_ word: StaticString) -> Bool {
        bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return false }
            let length = word.utf8CodeUnitCount
            var offset = 0
            while let found = memchr(start + offset, Int32(word.utf8Start[0]), bytes.count - offset) {
                let place = UnsafeRawPointer(found) - start
                let end = place + length
                guard end <= bytes.count else { return false }
                if memcmp(found, word.utf8Start, length) == 0, place == 0 || !Self.isWord(bytes[place - 1]),
                    end == bytes.count || !Self.isWord(bytes[end])
                {
                    return true
                }
                offset = place + 1
            }
            return false
        }
    }

    /// True if the script may set the traps that are needed to watch it, or look at how it is watched.
    var forbidsWatching: Bool {
        hasWord("trap") && hasWord("ERR", "err", "Err", "DEBUG", "debug", "Debug")
            || hasWord("BASH_ENV", "BASH_COMMAND", "BASH_XTRACEFD", "extdebug")
            || lines.first(where: Self.isCommand).map { Substring($0).contains("PIPESTATUS") } == true
            || hasWord("verbose") || hasWord("set") && lines.contains(where: Self.setsVerbose)
    }

    /// Returns true if a line has a `set -v`, with which bash shows what it reads, traps included.
    private static func setsVerbose(_ line: Line) -> Bool {
        let words = line.split { isBlank($0) || ";&|({".utf8.contains($0) }
        guard let set = words.firstIndex(where: { $0.elementsEqual("set".utf8) }) else { return false }
        return words[(set + 1)...].prefix { $0.first == UInt8(ascii: "-") }.contains { $0.contains(UInt8(ascii: "v")) }
    }

    /// True if commands come from elsewhere, which may set traps of their own.
    var readsOtherScripts: Bool {
        hasWord("source", "eval") || lines.contains { Self.firstWord($0) == "." }
    }

    /// True if there is a `function`, or a `(` that is neither a substitution, an arithmetic command nor an array.
    var hasFunctionsOrSubshells: Bool {
        hasWord("function")
            || lines.contains { line in
                let isArithmetic = zip(line, line.dropFirst()).contains { $0 == (UInt8(ascii: "("), UInt8(ascii: "(")) }
                return Self.has(line, "(") && !isArithmetic
            }
    }

    /// The line, from 1, where the command before the last one begins; nil if the last command cannot replace bash,
    /// or if that is uncertain.
    var tail: Int? {
        guard !hasWord("for", "while", "until", "select", "case", "trap"), !hasHereDocument,
            let last = lines.indices.last, Self.isCommand(lines[last])
        else { return nil }
        let start = beginning(of: last)
        let first = lines[..<start].lastIndex(where: Self.isCommand).map(beginning) ?? start
        return lines[first...].allSatisfy(isFlat) ? first + 1 : nil
    }

    private var hasHereDocument: Bool {
        lines.contains { line in zip(line, line.dropFirst()).contains { $0 == (UInt8(ascii: "<"), UInt8(ascii: "<")) } }
    }

    /// Returns true if a line is neither blank nor a comment.
    private static func isCommand(_ line: Line) -> Bool {
        guard let first = line.first(where: { !isBlank($0) }) else { return false }
        return first != UInt8(ascii: "#")
    }

    /// Returns the first line of a command that goes on in this one.
    private func beginning(of line: Int) -> Int {
        var first = line
        while first > 0, let end = lines[first - 1].last(where: { !Self.isBlank($0) }), "\\|&".utf8.contains(end) {
            first -= 1
        }
        return first
    }

    /// Returns true if a line is nothing but simple commands one after the other, none of them a function of the
    /// script.
    private func isFlat(_ line: Line) -> Bool {
        let first = Self.firstWord(line)
        let keywords: Set<Substring> = [
            "fi", "done", "esac", "then", "else", "elif", "do", "if", "}", ")", "function", ".", "source", "eval",
        ]
        guard !keywords.contains(first), !Self.has(line, "({"), !Self.hasPipe(line) else { return false }
        return !lines.contains { line in
            let name = Self.firstWord(line)
            return name == first + "()" || name == first && line.contains(UInt8(ascii: "(")) && Self.has(line, "(")
        }
    }

    /// Returns true if a line has one of these operators; brackets after `$`, `<`, `>` or `=` are none. Ignores
    /// quotes.
    private static func has(_ line: Line, _ operators: String) -> Bool {
        var previous: UInt8 = 0
        for byte in line {
            if operators.utf8.contains(byte) {
                let isBracket = byte == UInt8(ascii: "(") || byte == UInt8(ascii: "{")
                if !isBracket || !"$<>=".utf8.contains(previous) { return true }
            }
            previous = byte
        }
        return false
    }

    /// Returns true if a line has a `|` that is not half of `||`.
    private static func hasPipe(_ line: Line) -> Bool {
        line.split { $0 != UInt8(ascii: "|") }.contains { $0.count == 1 }
    }

    private static func firstWord(_ line: Line) -> Substring {
        Substring(line.drop(while: isBlank).prefix { !isBlank($0) && $0 != UInt8(ascii: ";") })
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
