internal import Reporting
internal import SourceDiagnostics
internal import WorkflowModel
package import WorkflowPlanning

/// What `flowrun list` answers: steps and groups as the file declares them, under the names by which they can be run.
package struct ListPrinter {
    private let workflow: Workflow
    private let rows: [(path: String, node: WorkflowNode)]

    package init(_ plan: Plan) {
        let workflow = plan.workflow
        self.workflow = workflow
        rows = workflow.nodes.indices.dropFirst().map { (workflow.path(of: NodeIndex($0)), workflow.nodes[$0]) }
    }

    /// One line each: path, number of instances, description.
    package func text() -> String {
        var text = ""
        if let heading = workflow.description ?? workflow.name { text += heading.asOneLine + "\n\n" }
        let sizes = rows.map { $0.node.settings?.fanOut.map { "× \($0.instances.count)" } ?? "" }
        let pathWidth = min(48, rows.map(\.path.utf8.count).max() ?? 0)
        let sizeWidth = sizes.map(\.count).max() ?? 0
        for (row, size) in zip(rows, sizes) {
            var line = row.path.padded(to: pathWidth)
            if sizeWidth > 0 { line += "  " + size.padded(to: sizeWidth) }
            line += "  " + description(of: row.node)
            while line.last == " " { line.removeLast() }
            text += line + "\n"
        }
        return text
    }

    private func description(of node: WorkflowNode) -> String {
        (node.settings?.description ?? node.settings?.name)?.asOneLine ?? (node.isGroup ? "(group)" : "")
    }

    /// One object: the workflow's `name` and `description`, and `steps`, which holds groups too.
    package func json() -> String {
        var json = JSONWriter()
        json.object { json in
            json.field("name", workflow.name)
            json.field("description", workflow.description)
            json.array("steps") { json in
                for (path, node) in rows {
                    json.object { json in
                        json.field("id", path)
                        json.field("kind", node.isGroup ? "group" : "step")
                        json.field("name", node.settings?.name)
                        json.field("description", node.settings?.description)
                        json.field("instances", node.settings?.fanOut?.instances.count)
                        json.field("needs", node.needs.map(\.name))
                        json.field("file", workflow.file.name)
                        json.field("line", workflow.file.line(at: node.range.lowerOffset))
                    }
                }
            }
        }
        json.newline()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
