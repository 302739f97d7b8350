package import Syntax

/// A text of the file that may hold expressions: a value of `env`, a word of a `run` list, a folder.
package enum Template: Sendable, Hashable {
    /// No expression in it, by far the most common case.
    case literal(String)
    case parsed(ParsedTemplate)

    /// The text, if there is nothing to evaluate; nil otherwise.
    package var literal: String? {
        if case .literal(let text) = self { text } else { nil }
    }

    /// The expression, if there is nothing else; nil for a text and for one with expressions in it.
    package var expression: Expression? {
        if case .parsed(let parsed) = self { parsed.expression } else { nil }
    }
}

extension Template: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self = .literal(text) }
}

/// Texts and expressions in turn. A class, so that a `Template` stays as small as a text.
package final class ParsedTemplate: Sendable {
    package enum Part: Sendable, Hashable {
        case text(String)
        case expression(Expression)
    }

    package let parts: [Part]
    /// The whole scalar in the file.
    package let range: SourceRange

    package init(parts: [Part], range: SourceRange) {
        self.parts = parts
        self.range = range
    }

    /// The expression, if it is the only part, so that its value keeps its type; nil otherwise.
    package var expression: Expression? {
        if parts.count == 1, case .expression(let expression) = parts[0] { expression } else { nil }
    }
}

extension ParsedTemplate: Hashable {
    package static func == (left: ParsedTemplate, right: ParsedTemplate) -> Bool {
        left.parts == right.parts && left.range == right.range
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(parts)
        hasher.combine(range)
    }
}

/// Splits a text into plain text and its expressions. `$${{` is a literal `${{`.
struct TemplateParser {
    private let text: ExpressionText
    private var parts: [ParsedTemplate.Part] = []
    private var literal: [UInt8] = []
    private(set) var errors: [ExpressionError] = []

    /// Returns the template and its errors; if there are any, the template is the text as it is. O(length).
    static func parse(_ text: ExpressionText, range: SourceRange) -> (template: Template, errors: [ExpressionError]) {
        var parser = TemplateParser(text: text)
        parser.parse()
        let template: Template =
            if !parser.errors.isEmpty {
                .literal(text.string(0..<text.bytes.count))
            } else if parser.parts.isEmpty {
                .literal(String(decoding: parser.literal, as: UTF8.self))
            } else {
                .parsed(ParsedTemplate(parts: parser.parts + parser.rest, range: range))
            }
        return (template, parser.errors)
    }

    private init(text: ExpressionText) { self.text = text }

    private var rest: [ParsedTemplate.Part] {
        literal.isEmpty ? [] : [.text(String(decoding: literal, as: UTF8.self))]
    }

    private mutating func parse() {
        var offset = 0
        while offset < text.bytes.count {
            if isOpening(at: offset) {
                guard let next = expression(at: offset) else { return }
                offset = next
            } else {
                if text.bytes[offset] == UInt8(ascii: "$"), isOpening(at: offset + 1) {
                    literal += "${{".utf8
                    offset += 4
                } else {
                    literal.append(text.bytes[offset])
                    offset += 1
                }
            }
        }
    }

    private func isOpening(at offset: Int) -> Bool {
        offset + 2 < text.bytes.count && text.bytes[offset] == UInt8(ascii: "$")
            && text.bytes[offset + 1] == UInt8(ascii: "{") && text.bytes[offset + 2] == UInt8(ascii: "{")
    }

    /// Reads the expression whose `${{` is at an offset. Returns the offset after it; nil if the end is unknown.
    private mutating func expression(at start: Int) -> Int? {
        let opening = start..<start + 3
        guard let close = ExpressionBraces.close(of: text.bytes, from: start + 3) else {
            let isLong = text.bytes.count - start > ExpressionParser.lengthLimit
            errors.append(
                ExpressionError(
                    isLong
                        ? "this `${{` is not closed within \(ExpressionParser.lengthLimit) bytes"
                        : "this `${{` is not closed",
                    at: text.range(opening),
                    fix: .init("close it with `}}`; for the plain text `${{` write `$${{`")))
            return nil
        }
        do throws(ExpressionError) {
            let expression = try ExpressionParser.parse(text, in: start + 3..<close)
            parts += rest
            literal = []
            parts.append(.expression(expression))
        } catch {
            errors.append(error)
        }
        return close + 2
    }
}

/// Finds the end of an expression in braces.
enum ExpressionBraces {
    /// Returns the offset of the `}}` that belongs to a `${{` before `start`: the first one outside of quotes, or
    /// else the first of all; nil if there is none in reach.
    static func close(of bytes: [UInt8], from start: Int) -> Int? {
        let end = min(bytes.count, start + ExpressionParser.lengthLimit + 2)
        var isQuoted = false
        var first: Int?
        var offset = start
        while offset + 1 < end {
            if bytes[offset] == UInt8(ascii: "'") { isQuoted.toggle() }
            if bytes[offset] == UInt8(ascii: "}"), bytes[offset + 1] == UInt8(ascii: "}") {
                if !isQuoted { return offset }
                if first == nil { first = offset }
            }
            offset += 1
        }
        return first
    }
}

/// The bytes of a scalar's value, and the place of each in the file.
struct ExpressionText {
    let bytes: [UInt8]
    private let start: UInt32
    /// Per byte the place of its character; empty if the source spells the value as it is.
    private let places: [SourceRange]
    private let spelling: Spelling

    /// The style of the scalar, which decides the spelling of further text.
    enum Spelling {
        case plain, singleQuoted, doubleQuoted, block

        /// The spelling of a text in the middle of such a scalar.
        func written(_ text: String) -> String {
            switch self {
            case .plain, .block: text
            case .singleQuoted: text.replacing("'", with: "''")
            case .doubleQuoted: text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            }
        }
    }

    /// A value that the source spells as it is, from an offset on.
    init(_ bytes: [UInt8], from start: UInt32, _ spelling: Spelling = .block) {
        self.bytes = bytes
        self.start = start
        self.spelling = spelling
        places = []
    }

    /// A value that the source spells differently.
    init(_ bytes: [UInt8], places: [SourceRange], _ spelling: Spelling) {
        self.bytes = bytes
        self.places = places
        self.spelling = spelling
        start = 0
    }

    func range(_ part: Range<Int>) -> SourceRange {
        guard !places.isEmpty else {
            return SourceRange(start: start + UInt32(part.lowerBound), end: start + UInt32(part.upperBound))
        }
        let first = places[min(part.lowerBound, places.count - 1)]
        return part.isEmpty
            ? SourceRange(start: first.start, end: first.start) : first.joined(with: places[part.upperBound - 1])
    }

    func string(_ part: Range<Int>) -> String { String(decoding: bytes[part], as: UTF8.self) }

    /// A fix that replaces a part by a text; it has no edit if the text would quote everything after it.
    func replacing(_ part: Range<Int>, by text: String, _ description: String? = nil) -> Diagnostic.Fix {
        let isQuote = text.first == "\"" || text.first == "'"
        let quotesAll = spelling == .plain && part.lowerBound == 0 && isQuote
        let edits = [Diagnostic.Fix.Edit(range: range(part), replacement: spelling.written(text))]
        return Diagnostic.Fix(description ?? "write `\(text)`", edits: quotesAll ? [] : edits)
    }
}
