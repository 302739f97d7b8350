package import SourceDiagnostics

/// What stands between `${{` and `}}`, or after `if:`, parsed. Pure: evaluating it touches nothing but its scope.
package struct Expression: Sendable {
    /// As written, without the braces and the blanks around it.
    package let text: String
    package let range: SourceRange
    /// What it says. At most as deep as `ExpressionParser.depthLimit` allows, however long it is.
    package let root: ExpressionNode
    /// Whether it asks how the run goes: such a condition takes the place of what `needs` asks for.
    package let usesStatus: Bool
}

// The text says all that the tree says, and the range where it stands.
extension Expression: Hashable {
    package static func == (left: Expression, right: Expression) -> Bool {
        left.range == right.range && left.text == right.text
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(range)
        hasher.combine(text)
    }
}
