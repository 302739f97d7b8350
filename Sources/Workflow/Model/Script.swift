internal import Glibc
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

extension UnsafeBufferPointer<UInt8> {
    /// True if a name is in the bytes with no letter, digit or `_` next to it. O(length), at the speed of memory.
    package func hasWord(_ name: String) -> Bool {
        let name = Array(name.utf8)
        guard let base = baseAddress, let first = name.first else { return false }
        var start = 0
        while start + name.count <= count, let found = memchr(base + start, Int32(first), count - start) {
            let offset = UnsafeRawPointer(found) - UnsafeRawPointer(base)
            let end = offset + name.count
            guard end <= count else { return false }
            let isName = memcmp(base + offset, name, name.count) == 0
            if isName, !isLetter(at: offset - 1), !isLetter(at: end) { return true }
            start = offset + 1
        }
        return false
    }

    private func isLetter(at offset: Int) -> Bool {
        guard indices.contains(offset) else { return false }
        let byte = self[offset]
        return (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || byte == UInt8(ascii: "_")
    }
}

extension String {
    /// True if a name is in the text with no letter, digit or `_` next to it. O(length).
    package func hasWord(_ name: String) -> Bool {
        var text = self
        return text.withUTF8 { $0.hasWord(name) }
    }
}

extension Workflow {
    /// True if `FLOWRUN_TEMP` is anywhere in the file or in those that it uses, so that the run gives its steps such
    /// a folder. O(length).
    package var namesScratchFolder: Bool {
        file.all.contains { $0.bytes.withUnsafeBufferPointer { $0.hasWord("FLOWRUN_TEMP") } }
    }
}
