/// `$NAME` and `${NAME}` in a text that looks like a shell script, each with its place and its name. Skips comments,
/// and `${NAME:-word}` and the like, which allow for a variable that is not set.
struct ShellReferences: Sequence, IteratorProtocol {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func next() -> (part: Range<Int>, name: String)? {
        while offset < bytes.count {
            let start = offset
            offset += 1
            switch bytes[start] {
            case UInt8(ascii: "#") where isFirstOfLine(start):
                offset = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            case UInt8(ascii: "\\"):
                offset += 1
            case UInt8(ascii: "$"):
                if let found = reference(at: start) { return found }
            default: break
            }
        }
        return nil
    }

    private mutating func reference(at start: Int) -> (part: Range<Int>, name: String)? {
        let isBraced = start + 1 < bytes.count && bytes[start + 1] == UInt8(ascii: "{")
        let first = isBraced ? start + 2 : start + 1
        var end = first
        while end < bytes.count, VariableName.isLetter(bytes[end]) { end += 1 }
        let name = String(decoding: bytes[first..<Swift.max(first, end)], as: UTF8.self)
        guard VariableName.isValid(name) else {
            // In `$$`, neither begins a name.
            if first < bytes.count, bytes[first] == UInt8(ascii: "$") { offset = first + 1 }
            return nil
        }
        offset = end
        guard isBraced else { return (start..<end, name) }
        guard end < bytes.count, bytes[end] == UInt8(ascii: "}") else { return nil }
        return (start..<end + 1, name)
    }

    private func isFirstOfLine(_ offset: Int) -> Bool {
        var before = offset
        while before > 0, bytes[before - 1] == 0x20 || bytes[before - 1] == 0x09 { before -= 1 }
        return before == 0 || bytes[before - 1] == UInt8(ascii: "\n")
    }
}

/// A shell command in place of an expression: `test -f go.mod`, `[ -n "$CI" ]`.
struct ShellTest {
    /// The file whose existence is all that the command tests; nil for any other test.
    let file: String?
    let isNegated: Bool

    /// nil for a text that does not begin like a command.
    init?(_ text: String) {
        // By bytes, as a shell does: to look the characters up in Unicode costs a condition more than all else.
        let blanks: ClosedRange<UInt8> = 9...13
        var words = text.utf8.split { $0 == UInt8(ascii: " ") || blanks.contains($0) }.map { String(Substring($0)) }
        isNegated = words.first == "!"
        if isNegated { words.removeFirst() }
        guard let program = words.first, words.count > 1 else { return nil }
        switch program {
        case "test": words.removeFirst()
        case "[", "[[":
            guard words.last == (program == "[" ? "]" : "]]") else { return nil }
            words = Array(words.dropFirst().dropLast())
        case "command", "which", "grep":
            // In an expression, a dot or an operator follows the name of a parameter or step.
            guard let letter = words[1].first, letter == "-" || letter.isLetter || letter == "/" else { return nil }
            file = nil
            return
        default: return nil
        }
        let isQuestion = words.count == 2 && ["-f", "-e", "-r", "-s"].contains(words[0])
        let isPath = words.last?.utf8.allSatisfy { byte in
            (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || "._-/".utf8.contains(byte)
        }
        file = isQuestion && isPath == true ? words[1] : nil
    }
}

/// Determines how a shell reads a value at given places of a script. The places have to be in their order.
struct ScriptQuoting {
    private let script: [UInt8]
    private var offset = 0
    private var quote: UInt8?
    /// True once the script has had a here-document, in which quotes are plain characters.
    private var isInDocument = false

    init(_ script: [UInt8]) { self.script = script }

    /// True if the last place is in single quotes.
    var isLiteral: Bool { quote == UInt8(ascii: "'") && !isInDocument }

    /// Returns `$name` inside double quotes, `"$name"` outside of quotes; nil if a variable is not expanded there, or
    /// if that is unknown. The text of the place itself is not part of the script. O(length since the last place).
    mutating func variable(_ name: String, at part: Range<Int>) -> String? {
        advance(to: part.lowerBound)
        // The place is in a comment.
        guard offset == part.lowerBound, !isInDocument else { return nil }
        offset = part.upperBound
        let next = part.upperBound < script.count ? script[part.upperBound] : 0
        switch quote {
        case nil: return "\"$\(name)\""
        case UInt8(ascii: "\"")?: return VariableName.isLetter(next) ? "${\(name)}" : "$\(name)"
        default: return nil
        }
    }

    private mutating func advance(to end: Int) {
        while offset < end, !isInDocument {
            let byte = script[offset]
            switch (quote, byte) {
            case (nil, UInt8(ascii: "\\")), (UInt8(ascii: "\"")?, UInt8(ascii: "\\")): offset += 1
            case (nil, UInt8(ascii: "'")), (nil, UInt8(ascii: "\"")): quote = byte
            case (nil, UInt8(ascii: "<")) where offset > 0 && script[offset - 1] == byte: isInDocument = true
            case (nil, UInt8(ascii: "#")) where offset == 0 || " \t\n;".utf8.contains(script[offset - 1]):
                offset = script[offset...].firstIndex(of: UInt8(ascii: "\n")) ?? script.count
            case (let open?, _) where open == byte: quote = nil
            default: break
            }
            offset += 1
        }
    }
}
