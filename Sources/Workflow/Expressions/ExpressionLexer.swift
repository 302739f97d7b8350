internal import Syntax

/// Cuts an expression into its tokens. Knows nothing of their order.
struct ExpressionLexer {
    enum Symbol: String {
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case and = "&&"
        case or = "||"
        case not = "!"
        case coalesce = "??"
        case dot = "."
        case star = "*"
        case comma = ","
        case openParen = "("
        case closeParen = ")"
        case openBracket = "["
        case closeBracket = "]"
    }

    enum Kind: Equatable {
        case end
        case name(String)
        case int(Int)
        case text(String)
        case symbol(Symbol)
    }

    struct Token {
        let kind: Kind
        /// Offsets into the text.
        let range: Range<Int>
    }

    let text: ExpressionText
    private(set) var offset: Int
    let end: Int

    init(_ text: ExpressionText, in part: Range<Int>) {
        self.text = text
        offset = part.lowerBound
        end = part.upperBound
    }

    mutating func next() throws(ExpressionError) -> Token {
        skipBlanks()
        guard offset < end else { return Token(kind: .end, range: end..<end) }
        let start = offset
        let byte = text.bytes[start]
        if Self.isNameStart(byte) { return name() }
        if byte == UInt8(ascii: "'") { return try string() }
        if Self.isDigit(byte) || byte == UInt8(ascii: "-") && Self.isDigit(peek(1)) { return try int() }
        guard let symbol = symbol() else { throw unexpectedCharacter() }
        offset += symbol.rawValue.utf8.count
        return Token(kind: .symbol(symbol), range: start..<offset)
    }

    /// Returns the name after a dot, which may begin with a digit as ids do; nil if there is none.
    mutating func memberName() -> Token? {
        skipBlanks()
        guard Self.isName(peek(0)), peek(0) != UInt8(ascii: "-") else { return nil }
        return name()
    }

    /// The byte at a distance from the offset; 0 beyond the end.
    func peek(_ distance: Int) -> UInt8 { offset + distance < end ? text.bytes[offset + distance] : 0 }

    private mutating func skipBlanks() {
        while offset < end, [0x20, 0x09, 0x0A, 0x0D].contains(text.bytes[offset]) { offset += 1 }
    }

    private mutating func name() -> Token {
        let start = offset
        while Self.isName(peek(0)) { offset += 1 }
        return Token(kind: .name(text.string(start..<offset)), range: start..<offset)
    }

    private mutating func int() throws(ExpressionError) -> Token {
        let start = offset
        offset += 1
        while Self.isDigit(peek(0)) { offset += 1 }
        if peek(0) == UInt8(ascii: "."), Self.isDigit(peek(1)) {
            offset += 1
            while Self.isName(peek(0)) { offset += 1 }
            throw ExpressionError(
                """
                \(Phrase.quoted(text.string(start..<offset))) is not a whole number; expressions have no other \
                numbers
                """,
                at: text.range(start..<offset),
                fix: text.replacing(start..<offset, by: "fromJSON('\(text.string(start..<offset))')"))
        }
        if Self.isName(peek(0)) {
            while Self.isName(peek(0)) { offset += 1 }
            let word = text.string(start..<offset)
            throw ExpressionError(
                "\(Phrase.quoted(word)) is neither a number nor a name", at: text.range(start..<offset),
                fix: text.replacing(start..<offset, by: "'\(word)'", "quote it if it is a text: `'\(word)'`"))
        }
        guard let number = Int(text.string(start..<offset)) else {
            throw ExpressionError(
                "the number \(Phrase.quoted(text.string(start..<offset))) is too large", at: text.range(start..<offset),
                fix: .init("write a number that fits into 64 bits"))
        }
        return Token(kind: .int(number), range: start..<offset)
    }

    /// A text in single quotes, in which a quote is written twice.
    private mutating func string() throws(ExpressionError) -> Token {
        let start = offset
        var value: [UInt8] = []
        offset += 1
        while offset < end {
            let byte = text.bytes[offset]
            offset += 1
            if byte == UInt8(ascii: "'") {
                guard peek(0) == UInt8(ascii: "'") else {
                    return Token(kind: .text(String(decoding: value, as: UTF8.self)), range: start..<offset)
                }
                offset += 1
            }
            value.append(byte)
        }
        throw ExpressionError(
            "this quote is not closed", at: text.range(start..<start + 1),
            fix: .init("close it with another `'`; a quote inside a text is written twice"))
    }

    private func symbol() -> Symbol? {
        let second = peek(1)
        switch peek(0) {
        case UInt8(ascii: "="): return second == UInt8(ascii: "=") && peek(2) != UInt8(ascii: "=") ? .equal : nil
        case UInt8(ascii: "!"):
            if second != UInt8(ascii: "=") { return .not }
            return peek(2) == UInt8(ascii: "=") ? nil : .notEqual
        case UInt8(ascii: "<"):
            if second == UInt8(ascii: ">") { return nil }
            return second == UInt8(ascii: "=") ? .lessOrEqual : .less
        case UInt8(ascii: ">"): return second == UInt8(ascii: "=") ? .greaterOrEqual : .greater
        case UInt8(ascii: "&"): return second == UInt8(ascii: "&") ? .and : nil
        case UInt8(ascii: "|"): return second == UInt8(ascii: "|") ? .or : nil
        case UInt8(ascii: "?"): return second == UInt8(ascii: "?") ? .coalesce : nil
        case UInt8(ascii: "."): return .dot
        case UInt8(ascii: "*"): return .star
        case UInt8(ascii: ","): return .comma
        case UInt8(ascii: "("): return .openParen
        case UInt8(ascii: ")"): return .closeParen
        case UInt8(ascii: "["): return .openBracket
        case UInt8(ascii: "]"): return .closeBracket
        default: return nil
        }
    }

    static func isNameStart(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 || byte == UInt8(ascii: "_") }

    static func isName(_ byte: UInt8) -> Bool { isNameStart(byte) || isDigit(byte) || byte == UInt8(ascii: "-") }

    static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
}

// Characters of other languages, each with flowrun's equivalent.
extension ExpressionLexer {
    /// Operators of other languages, longest first.
    private static let foreign: [(spelling: String, word: String?, hint: String)] = [
        ("===", "==", "equality is `==`"), ("!==", "!=", "inequality is `!=`"), ("<>", "!=", "inequality is `!=`"),
        ("=~", nil, "there are no patterns; see `contains`, `startsWith` and `endsWith`"),
        ("=", "==", "equality is `==`"), ("&", "&&", "\"and\" is `&&`"), ("|", "||", "\"or\" is `||`"),
        ("?", "??", "a default is `??`, and there is no `? :`"),
        ("+", nil, "there is no arithmetic; texts are put together with `format`, or side by side in a template"),
        ("-", nil, "there is no arithmetic"), ("/", nil, "there is no arithmetic"),
        ("%", nil, "there is no arithmetic"),
        ("$", nil, "variables are read by their name, `env.NAME` for those of flowrun's environment"),
        ("{", nil, "objects are not written, `fromJSON` reads one"),
        ("}", nil, "braces go only around the whole expression"),
    ]

    func unexpectedCharacter() -> ExpressionError {
        if peek(0) == UInt8(ascii: "\"") { return doubleQuotes() }
        for (spelling, word, hint) in Self.foreign where text.bytes[offset..<end].starts(with: spelling.utf8) {
            let part = offset..<offset + spelling.utf8.count
            return ExpressionError(
                "`\(spelling)` is not an operator", at: text.range(part),
                fix: word.map { text.replacing(part, by: $0, hint) } ?? .init(hint))
        }
        var last = offset + 1
        while last < end, text.bytes[last] & 0xC0 == 0x80 { last += 1 }
        return ExpressionError(
            "unexpected character \(Phrase.quoted(text.string(offset..<last)))", at: text.range(offset..<last),
            fix: .init("write text in single quotes"))
    }

    private func doubleQuotes() -> ExpressionError {
        let fix = "write text in single quotes"
        guard let close = text.bytes[(offset + 1)..<end].firstIndex(of: UInt8(ascii: "\"")) else {
            return ExpressionError(
                "a double quote does not begin a text", at: text.range(offset..<offset + 1), fix: .init(fix))
        }
        let content = text.string(offset + 1..<close)
        let quoted = content.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
        return ExpressionError(
            "a text in double quotes", at: text.range(offset..<close + 1),
            fix: text.replacing(offset..<close + 1, by: "'\(quoted)'", fix))
    }
}
