internal import Basics
package import Planning
internal import RunLog
internal import Syntax
internal import Workflow

/// The answer of `flowrun list`: the steps and groups of the file, under the names by which they can be run.
package struct ListPrinter {
    private let workflow: Workflow
    private let rows: [Row]

    private struct Row {
        let path: String
        /// The path, or what to write if that is the name of a command.
        let words: String
        let node: WorkflowNode
        /// The entries of `default` that name this node or instances of it; empty if there are none.
        let defaults: [String]
        /// The heading above it; nil for none.
        let section: String?

        var isManual: Bool { node.settings?.isManual == true }
    }

    /// `isFileNamed` says that the command line names the file; a first word is never a command then.
    package init(_ plan: Plan, isFileNamed: Bool = false) {
        let workflow = plan.workflow
        self.workflow = workflow
        let defaults = Dictionary(grouping: (workflow.defaultSteps ?? []).map(\.name)) {
            workflow.path(ofStepNamed: $0)
        }
        rows = workflow.nodes.indices.dropFirst().filter { !workflow.isInternal(NodeIndex($0)) }.map { row in
            let path = workflow.path(of: NodeIndex(row))
            let words = isFileNamed || !Command.isWord(path) ? path : "flowrun run \(path)"
            return Row(
                path: path, words: words, node: workflow.nodes[row], defaults: defaults[path] ?? [],
                section: workflow.section(of: NodeIndex(row)))
        }
    }

    /// Returns the parameters, then one line per node: path, number of instances, other names, mark of a default or
    /// manual node, description. Nodes with a section follow the others, section by section.
    package func text() -> String {
        var text = ""
        if let heading = workflow.description ?? workflow.name { text += heading.asOneLine + "\n\n" }
        text += parametersText()
        let sizes = rows.map { row in
            row.node.settings?.fanOut.map { $0.isDynamic ? "[*]" : "× \($0.instances.count)" } ?? ""
        }
        let width = min(48, rows.map(\.words.utf8.count).max() ?? 0)
        let sizeWidth = sizes.map(\.count).max() ?? 0
        var section: String?
        for (row, size) in inSections(Array(zip(rows, sizes))) {
            if row.section != section {
                section = row.section
                if !text.isEmpty, !text.hasSuffix("\n\n") { text += "\n" }
                text += "\(row.section?.asOneLine ?? ""):\n"
            }
            var line = row.words.padded(to: width)
            if sizeWidth > 0 { line += "  " + size.padded(to: sizeWidth) }
            line += "  " + description(of: row)
            text += line.withoutEndSpaces + "\n" + instances(of: row)
            text += lines(of: row.node.settings?.parameters ?? [], behind: "  ")
        }
        return text
    }

    /// Returns the rows without a section, then those of each section, in the order of the first of each.
    private func inSections(_ rows: [(Row, String)]) -> [(Row, String)] {
        var sections: [String?] = [nil]
        for (row, _) in rows where !sections.contains(row.section) { sections.append(row.section) }
        return sections.count == 1 ? rows : sections.flatMap { section in rows.filter { $0.0.section == section } }
    }

    /// Returns the names of instances with the values that they abbreviate; empty if none does.
    private func instances(of row: Row) -> String {
        guard let fanOut = row.node.settings?.fanOut else { return "" }
        let titles = fanOut.instances.map { instance in
            let own = instance.variables.prefix(fanOut.axes.isEmpty ? instance.variables.count : fanOut.axes.count)
            return InstanceValues.title("[\(instance.key)]", item: own.map(\.value).joined(separator: ","))
        }
        guard titles.contains(where: { $0.hasSuffix(")") }) else { return "" }
        return titles.map { "  \($0)\n" }.joined()
    }

    private func description(of row: Row) -> String {
        let node = row.node
        let text =
            (node.settings?.description ?? node.settings?.name)?.asOneLine
            ?? (node.hook != nil ? "(hook)" : node.isGroup ? "(group)" : node.hasCommand ? "" : "(milestone)")
        let aliases = node.settings?.aliases.map(\.name).joined(separator: ", ") ?? ""
        let marks = [
            aliases.isEmpty ? "" : "(or \(aliases))", defaultMark(of: row), row.isManual ? "(manual)" : "", text,
        ]
        return marks.filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// Names the selected instances if `default` does not select all.
    private func defaultMark(of row: Row) -> String {
        if row.defaults.isEmpty { return "" }
        if row.defaults.contains(row.path) { return "(default)" }
        return "(default: \(row.defaults.joined(separator: ", ").asOneLine))"
    }

    /// Returns one line per parameter: name, accepted values, description, default, variable.
    private func parametersText() -> String {
        let text = lines(of: workflow.parameters, behind: "--param ")
        return text.isEmpty ? "" : text + "\n"
    }

    private func lines(of parameters: [Parameter], behind prefix: String) -> String {
        let names = parameters.map { "\(prefix)\($0.name)=\($0.kind.words.asOneLine)" }
        let width = min(48, names.map(\.count).max() ?? 0)
        var text = ""
        for (name, parameter) in zip(names, parameters) {
            var line = name.padded(to: width)
            if let description = parameter.description { line += "  " + description.asOneLine }
            let computed = parameter.computedDefault.map { workflow.file.text(in: $0.range) }
            if let value = parameter.defaultValue?.text ?? computed { line += "  (default: \(value.asOneLine))" }
            if parameter.isRequired { line += "  (required)" }
            if let variable = parameter.variable { line += "  (from $\(variable))" }
            text += line.withoutEndSpaces + "\n"
        }
        return text
    }

    /// Returns one object: the workflow's `name`, `description` and `params`, and `steps`, which includes groups.
    package func json() -> String {
        JSONWriter.line { json in
            json.object { json in
                json.field("name", workflow.name)
                json.field("description", workflow.description)
                json.array("params") { json in
                    for parameter in workflow.parameters { write(parameter, to: &json) }
                }
                json.array("steps") { json in
                    for row in rows {
                        let node = row.node
                        json.object { json in
                            json.field("id", row.path)
                            json.field("kind", node.hook != nil ? "hook" : node.isGroup ? "group" : "step")
                            json.field("name", node.settings?.name)
                            json.field("description", node.settings?.description)
                            json.field("aliases", node.settings?.aliases.map(\.name) ?? [])
                            json.field("section", row.section)
                            let fanOut = node.settings?.fanOut
                            json.field("default", !row.defaults.isEmpty)
                            json.field("manual", row.isManual)
                            json.field("instances", fanOut?.isDynamic == true ? nil : fanOut?.instances.count)
                            json.field("max_items", fanOut?.isDynamic == true ? fanOut?.limit : nil)
                            json.array("params") { json in
                                for parameter in node.settings?.parameters ?? [] { write(parameter, to: &json) }
                            }
                            json.field("if", node.settings?.condition?.text)
                            json.field("needs", workflow.needs(of: node).map(\.name))
                            json.field("file", workflow.file.file(at: node.range.lowerOffset).name)
                            json.field("line", workflow.file.line(at: node.range.lowerOffset))
                        }
                    }
                }
            }
        }
    }

    private func write(_ parameter: Parameter, to json: inout JSONWriter) {
        json.object { json in
            json.field("name", parameter.name)
            json.field("type", parameter.kind.name)
            if case .choice(let values) = parameter.kind { json.field("values", values) } else { json.null("values") }
            if let value = parameter.defaultValue {
                json.key("default")
                json.value(json: value.json)
            } else {
                json.null("default")
            }
            json.field("required", parameter.isRequired)
            json.field("env", parameter.variable)
            json.field("pattern", parameter.pattern?.text)
            json.field("description", parameter.description)
        }
    }
}

extension Workflow {
    /// The `section` of a step or group, or that of the nearest enclosing group. O(depth).
    fileprivate func section(of node: NodeIndex) -> String? {
        var node = node
        while node != .root {
            if let section = settings(of: node)?.section { return section }
            node = self[node].parent
        }
        return nil
    }
}

extension Parameter.Kind {
    /// The word for it in the file.
    fileprivate var name: String {
        switch self {
        case .string: "string"
        case .int: "int"
        case .bool: "bool"
        case .list: "list"
        case .path: "path"
        case .choice: "enum"
        }
    }

    /// The accepted values, for users.
    fileprivate var words: String {
        if case .choice(let values) = self { values.joined(separator: "|") } else { name.uppercased() }
    }
}
