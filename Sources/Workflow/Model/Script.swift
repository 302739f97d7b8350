package import Syntax

/// The script of a step. Most are in the file verbatim and are read from there when the step starts, so that a
/// hundred thousand waiting steps hold no copies.
package enum Script: Sendable, ExpressibleByStringLiteral {
    /// A text that is not from a file.
    indirect case text(String)
    /// These bytes of the workflow's file.
    case inFile(SourceRange)
    /// A text that the scalar in this range of the workflow's file spells with indentation, folds or escapes.
    indirect case spelled(String, in: SourceRange)

    package init(stringLiteral text: String) { self = .text(text) }

    /// No bytes of a file, and no memory of its own.
    static let empty = Script.inFile(.beginning)

    /// Returns the script, byte for byte. `file` is the workflow's file.
    package func text(in file: SourceFile) -> String {
        switch self {
        case .text(let text), .spelled(let text, _): text
        case .inFile(let range): file.text(in: range)
        }
    }

    /// Returns for each byte of the script the offset of its spelling in the workflow's file; nil for a text that is
    /// not from a file. O(length).
    package func offsets(in file: SourceFile) -> [Int]? {
        switch self {
        case .text: return nil
        case .inFile(let range): return Array(range.lowerOffset..<range.upperOffset)
        case .spelled(let text, let range):
            return file.bytes(in: range).withUnsafeBufferPointer { source in
                var walk = ScalarPlaces(source, at: range.start)
                return walk.places(of: Array(text.utf8)).map(\.lowerOffset)
            }
        }
    }
}
