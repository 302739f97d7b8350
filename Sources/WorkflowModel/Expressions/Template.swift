package import SourceDiagnostics

/// A text of the file that may hold expressions: a value of `env`, a word of a `run` list, a folder.
package enum Template: Sendable, Hashable {
    /// No expression in it, by far the most common case.
    case literal(String)
    case parsed(ParsedTemplate)

    /// The text where there is nothing to evaluate; nil where there is.
    package var literal: String? {
        if case .literal(let text) = self { text } else { nil }
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

    /// The expression where it is all there is, so that its value keeps its type; nil otherwise.
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
