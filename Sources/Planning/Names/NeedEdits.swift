import Syntax
import Workflow

/// Edits that give a step further needs. There are none if it is uncertain how the text has to be written.
struct NeedEdits {
    private let workflow: Workflow

    init(_ workflow: Workflow) { self.workflow = workflow }

    /// Inserts names after an entry of `needs` that is in brackets.
    func adding(_ names: [String], behind entry: SourceRange) -> [Diagnostic.Fix.Edit] {
        let file = workflow.file.file(at: entry.lowerOffset)
        let rest = file.bytes[(entry.upperOffset - file.start)...].drop { $0 == 0x20 }
        guard rest.first == UInt8(ascii: "]") || rest.first == UInt8(ascii: ",") else { return [] }
        return [insertion(names.map { ", \($0)" }.joined(), at: entry.upperOffset)]
    }

    /// Makes a row need another one; `isDone` accepts any outcome of it.
    func adding(_ name: String, isDone: Bool, to row: Int) -> [Diagnostic.Fix.Edit] {
        if let last = workflow.needs(of: row).last { return isDone ? [] : adding([name], behind: last.range) }
        let key = workflow.nodes[row].range
        let file = workflow.file.file(at: key.lowerOffset)
        let needs = isDone ? "needs: { \(name): done }" : "needs: [\(name)]"
        var rest = file.bytes[(key.upperOffset - file.start)...].drop { $0 == 0x20 }
        guard rest.popFirst() == UInt8(ascii: ":") else { return [] }
        rest = rest.drop { $0 == 0x20 }
        if rest.first == UInt8(ascii: "{") {
            return [insertion(" \(needs),", at: file.start + rest.startIndex + 1)]
        }
        // On the first line below the id, with the same indent.
        guard rest.first == UInt8(ascii: "\n") else { return [] }
        let line = rest.dropFirst()
        let indentation = line.prefix { $0 == 0x20 }
        guard let first = line.dropFirst(indentation.count).first, first != UInt8(ascii: "#"), first > 0x20 else {
            return []
        }
        let blanks = String(repeating: " ", count: indentation.count)
        return [insertion("\(blanks)\(needs)\n", at: file.start + line.startIndex)]
    }

    private func insertion(_ text: String, at offset: Int) -> Diagnostic.Fix.Edit {
        Diagnostic.Fix.Edit(range: SourceRange(offset..<offset), replacement: text)
    }
}
