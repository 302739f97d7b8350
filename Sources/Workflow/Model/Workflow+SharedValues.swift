internal import Syntax

// Which of `vars` a name means, and what reads which.
extension Workflow {
    /// Where its name stands.
    package func place(of id: SharedValueID) -> (file: String, line: Int) {
        let offset = self[id].range.lowerOffset
        return (file.file(at: offset).name, file.line(at: offset))
    }

    package subscript(id: SharedValueID) -> SharedValue { sharedValues(of: id.scope)[id.position] }

    /// In file order; empty for a step.
    package func sharedValues(of group: NodeIndex) -> [SharedValue] { settings(of: group)?.sharedValues ?? [] }

    /// Whether any group has `vars`. O(groups and steps with settings).
    package var hasSharedValues: Bool {
        nodes.indices.contains { nodes[$0].isGroup && nodes[$0].settings?.sharedValues.isEmpty == false }
    }

    /// What a name means inside a group: one of its own, or of the nearest group around that has it.
    package func sharedValue(_ name: String, in group: NodeIndex) -> SharedValueID? {
        var scope = group
        while true {
            if let position = sharedValues(of: scope).firstIndex(where: { $0.name == name }) {
                return SharedValueID(scope: scope, position: position)
            }
            guard let next = sharedScope(around: scope) else { return nil }
            scope = next
        }
    }

    /// The group around one as names of `vars` go: from a template to its file, and not out of a file. nil for the
    /// outermost.
    private func sharedScope(around group: NodeIndex) -> NodeIndex? {
        guard group != .root else { return nil }
        guard let use = use(of: group) else { return nodes[group.row].parent }
        return use.source == .file ? nil : usedFile(around: group)?.group ?? .root
    }

    /// All that have a name inside a group; where two have the same one, the inner. Outermost last.
    package func sharedValues(visibleIn group: NodeIndex) -> [SharedValueID] {
        var found: [SharedValueID] = []
        var names: Set<String> = []
        var scope = group
        while true {
            for (position, value) in sharedValues(of: scope).enumerated() where names.insert(value.name).inserted {
                found.append(SharedValueID(scope: scope, position: position))
            }
            guard let next = sharedScope(around: scope) else { return found }
            scope = next
        }
    }

    /// What the command of a step reads in any case and therefore has as environment variables: what its expressions
    /// name, but for those parts that may be left unevaluated, and what its script has as a word. O(length of the
    /// script times the `vars` in sight).
    package func sharedValuesRead(by step: NodeIndex) -> [SharedValueID] {
        let node = nodes[step.row]
        var expressions: [Expression] = []
        if let settings = node.settings {
            for entry in settings.env { expressions += entry.value?.expressions ?? [] }
            expressions += settings.workingDirectory?.expressions ?? []
            expressions += settings.standardInput?.expressions ?? []
        }
        return sharedValuesRead(by: node.body, expressions, in: node.parent)
    }

    /// The same for the command of one of `vars`; its own name is not a word that it reads.
    package func sharedValuesRead(by id: SharedValueID) -> [SharedValueID] {
        guard let command = self[id].command else { return [] }
        return sharedValuesRead(by: command.body, [], in: id.scope).filter { $0 != id || !command.body.isScript }
    }

    /// All that one of `vars` may depend on.
    package func dependencies(of id: SharedValueID) -> [SharedValueID] {
        let named = sharedValues(namedBy: self[id].expressions, in: id.scope)
        return named + sharedValuesRead(by: id).filter { !named.contains($0) }
    }

    private func sharedValuesRead(
        by body: WorkflowNode.Body, _ expressions: [Expression], in scope: NodeIndex
    ) -> [SharedValueID] {
        var expressions = expressions
        if case .arguments(let words) = body { expressions += words.flatMap(\.expressions) }
        var found = sharedValues(in: expressions.flatMap(\.certainReferences), scope)
        guard case .script(let script) = body else { return found }
        let visible = sharedValues(visibleIn: scope)
        guard !visible.isEmpty else { return found }
        let text = script.text(in: file)
        for id in visible where !found.contains(id) && text.hasWord(self[id].name) { found.append(id) }
        return found
    }

    /// Each once, in the order in which the expressions name them.
    package func sharedValues(namedBy expressions: [Expression], in scope: NodeIndex) -> [SharedValueID] {
        sharedValues(in: expressions.flatMap(\.references), scope)
    }

    private func sharedValues(in references: [(root: String, field: String?)], _ scope: NodeIndex) -> [SharedValueID] {
        var found: [SharedValueID] = []
        for case ("vars", let field?) in references {
            if let id = sharedValue(field, in: scope), !found.contains(id) { found.append(id) }
        }
        return found
    }
}

extension Template {
    /// True if an expression in it names one of `vars`.
    package var readsSharedValues: Bool { expressions.contains(where: \.readsSharedValues) }
}

extension Expression {
    /// True if it names one of `vars`.
    package var readsSharedValues: Bool { references.contains { $0.root == "vars" } }
}

extension WorkflowNode.Body {
    fileprivate var isScript: Bool { if case .script = self { true } else { false } }
}
