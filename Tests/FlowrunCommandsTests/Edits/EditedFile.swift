import FlowrunCommands
import FlowrunTestSupport
import Foundation
import RunLog
import Syntax
import Workflow

/// The findings about a text as `check --format json` gives them, and the text with their edits.
struct EditedFile {
    struct Finding: Decodable {
        struct Fix: Decodable {
            struct Edit: Decodable {
                let line: Int
                let column: Int
                let endLine: Int
                let endColumn: Int
                let replacement: String
            }
            let description: String
            let edits: [Edit]
        }
        let code: String
        let message: String
        let line: Int
        let column: Int
        let fix: Fix?
    }

    let text: String
    let findings: [Finding]

    /// `isTried` is false for the edits as they are made, before any is tried.
    init(_ text: String, isTried: Bool = true) throws {
        self.text = text
        let file = SourceFile(name: "workflow.yml", text: text)
        var diagnostics = WorkflowLoader.findings(in: file, files: .none)
        if isTried {
            var check = EditCheck(size: file.bytes.count) { file, bytes in
                WorkflowLoader.findings(in: SourceFile(name: file.name, bytes: bytes), files: .none)
            }
            diagnostics = check.checked(diagnostics)
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        findings = try decoder.decode([Finding].self, from: Data(JSONPrinter.text(diagnostics).utf8))
    }

    /// The text with the edits of a finding, the finding's place in it, and the ranges of new text.
    private struct Result {
        var scalars: [Unicode.Scalar] = []
        var places: Set<Int> = []
        var new: [Range<Int>] = []

        var text: String {
            var text = ""
            text.unicodeScalars.append(contentsOf: scalars)
            return text
        }
    }

    private func result(of finding: Finding) -> Result {
        let scalars = Array(text.unicodeScalars)
        let starts = Self.lineStarts(scalars)
        let place = starts[finding.line - 1] + finding.column - 1
        var result = Result()
        var end = 0
        var isPlaced = false
        for edit in (finding.fix?.edits ?? []).sorted(by: { ($0.line, $0.column) < ($1.line, $1.column) }) {
            let first = starts[edit.line - 1] + edit.column - 1
            let last = starts[edit.endLine - 1] + edit.endColumn - 1
            if place < first, !isPlaced {
                result.places.insert(result.scalars.count + place - end)
                isPlaced = true
            }
            result.scalars += scalars[end..<first]
            let start = result.scalars.count
            result.scalars += edit.replacement.unicodeScalars
            result.new.append(start..<result.scalars.count)
            if first <= place, place < last || place == first {
                result.places.insert(start)
                if first == last { result.places.insert(result.scalars.count) }
                isPlaced = true
            }
            end = last
        }
        if !isPlaced { result.places.insert(result.scalars.count + place - end) }
        result.scalars += scalars[end...]
        return result
    }

    private static func lineStarts(_ scalars: [Unicode.Scalar]) -> [Int] {
        [0] + scalars.indices.filter { scalars[$0] == "\n" }.map { $0 + 1 }
    }

    func edited(by finding: Finding) -> String { result(of: finding).text }

    /// The reason why the edits of a finding are worse than none; nil if they mend it.
    func problem(_ finding: Finding) throws -> String? {
        guard finding.fix?.edits.isEmpty == false else { return nil }
        let result = result(of: finding)
        let starts = Self.lineStarts(result.scalars)
        for other in try EditedFile(result.text, isTried: false).findings {
            let start = starts[other.line - 1] + other.column - 1
            let what = "\(other.code) \(other.message)\n\(result.text)"
            if result.places.contains(start) { return "this is left at the place: \(what)" }
            if result.new.contains(where: { $0.contains(start) }) { return "this is in the new text: \(what)" }
        }
        return nil
    }
}
