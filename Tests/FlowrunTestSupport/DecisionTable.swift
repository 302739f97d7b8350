import Foundation

/// A table of the article `Conditions`, which says once how edges, `if` and stops decide about a step.
package struct DecisionTable: Sendable {
    /// The words above the columns, without the first, and in front of the rows, in the order of the page.
    package let columns: [String]
    package let rows: [String]
    private var cells: [String: [String: String]] = [:]

    /// The only table of a section of the article.
    package init(_ section: String) {
        let path = "\(PackageFolder.path)/Sources/FlowrunCommands/Flowrun.docc/Conditions.md"
        guard let text = try? String(contentsOfFile: path, encoding: .utf8),
            let start = text.range(of: "\n## \(section)\n")
        else { preconditionFailure("\(path) has no section \(section)") }
        let body = text[start.upperBound...]
        let end = body.range(of: "\n## ")?.lowerBound ?? body.endIndex
        let lines = body[..<end].split(separator: "\n").filter { $0.hasPrefix("|") }.map { line in
            line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces).replacing("`", with: "") }
        }
        precondition(lines.count > 2, "the section \(section) has no table")
        columns = Array(lines[0].dropFirst())
        rows = lines.dropFirst(2).map { $0[0] }
        for line in lines.dropFirst(2) {
            precondition(line.count == columns.count + 1, "a row of \(section) is not as wide as its head: \(line)")
            cells[line[0]] = Dictionary(zip(columns, line.dropFirst())) { $1 }
        }
    }

    /// Fails if the page has no such cell, so that no rule is left out unseen.
    package subscript(row: String, column: String) -> String {
        guard let cell = cells[row]?[column] else { preconditionFailure("no cell for \(row), \(column)") }
        return cell
    }

    package static let needs = DecisionTable("Needs")
    package static let functions = DecisionTable("Status functions")
    package static let conditions = DecisionTable("Conditions")
    package static let copies = DecisionTable("Copies")
    package static let stops = DecisionTable("Stops")
    package static let rounds = DecisionTable("Rounds")

    /// The row of `conditions` for several needs: the strictest decides; if both plain and written edges rule a row
    /// out, the written ones, which a condition cannot overrule.
    package static func strictest(_ needs: [(kind: String, verdict: String)]) -> String {
        if needs.contains(where: { $0.verdict == "not-run" && $0.kind != "plain" }) {
            return "not-run by a written kind"
        }
        if needs.contains(where: { $0.verdict == "not-run" }) { return "not-run by a plain edge" }
        return needs.contains { $0.verdict == "skipped" } ? "skipped" : "met"
    }
}
