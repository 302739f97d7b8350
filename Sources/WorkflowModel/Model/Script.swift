package import SourceDiagnostics

/// The script of a step. Most stand in the file as they are and are read from there when the step starts, so that a
/// hundred thousand waiting steps hold no copies.
package enum Script: Sendable, ExpressibleByStringLiteral {
    indirect case text(String)
    /// These bytes of the workflow's file.
    case inFile(SourceRange)

    package init(stringLiteral text: String) { self = .text(text) }

    /// The script, byte for byte, given the workflow's file.
    package func text(in file: SourceFile) -> String {
        switch self {
        case .text(let text): text
        case .inFile(let range): file.text(in: range)
        }
    }
}
