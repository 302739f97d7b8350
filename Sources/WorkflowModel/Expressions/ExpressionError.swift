package import SourceDiagnostics

/// Why a text is not an expression: the one finding about it.
package struct ExpressionError: Error {
    package let code: DiagnosticCode
    package let message: String
    package let range: SourceRange
    package let notes: [Diagnostic.Note]
    package let fix: Diagnostic.Fix?

    init(
        _ message: String, at range: SourceRange, code: DiagnosticCode = .expressionSyntax,
        notes: [Diagnostic.Note] = [], fix: Diagnostic.Fix? = nil
    ) {
        self.code = code
        self.message = message
        self.range = range
        self.notes = notes
        self.fix = fix
    }
}
