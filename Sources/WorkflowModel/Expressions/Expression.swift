package import SourceDiagnostics

/// What stands between `${{` and `}}`, or after `if:`, parsed. Pure: evaluating it touches nothing but its scope.
package struct Expression: Sendable, Hashable {
    /// As written, without the braces and the blanks around it.
    package let text: String
    package let range: SourceRange

    package init(text: String, range: SourceRange) {
        self.text = text
        self.range = range
    }
}
