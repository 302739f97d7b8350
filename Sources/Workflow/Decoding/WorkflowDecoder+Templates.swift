internal import Syntax

// `templates`: bodies for groups of the same file.
extension WorkflowDecoder {
    mutating func declareTemplates(_ entry: MappingReader.Entry?) {
        guard let entry else { return }
        guard entry.value.kind == .mapping else {
            return reportType(entry, expected: "a mapping of names to `{ params, steps }`")
        }
        for (key, value) in entry.value.entries where checkName(key, of: "a template") {
            let name = key.text
            if document.templatePositions[name] == nil { document.templatePositions[name] = document.templates.count }
            document.templates.append(DeclaredTemplate(name: name, key: key, value: value))
        }
    }

    /// Reads every template where it stands, so that its findings are made once, used or not.
    mutating func checkTemplates() {
        guard !isKnown else { return }
        for template in document.templates {
            let counts = (nodes: nodes.count, needs: needs.count, uses: uses.count)
            let group = NodeIndex(counts.nodes)
            nodes.append(
                WorkflowNode(
                    id: template.name, range: template.key.range, parent: .root, subtreeEnd: UInt32(group.row + 1),
                    body: .group))
            openBodies.append(OpenBody(identity: identity(of: template), name: template.name, use: nil))
            var use = Use(
                .template, in: document.file, of: group, range: template.key.range, folder: document.folder)
            decode(template, as: &use)
            openBodies.removeLast()
            nodes.removeSubrange(counts.nodes...)
            needs.removeSubrange(counts.needs...)
            uses.removeSubrange(counts.uses...)
        }
    }

    /// Says which templates no group uses, once the whole file is read.
    mutating func reportUnusedTemplates() {
        guard !isUseLimitTold else { return }
        for template in document.templates where !document.usedTemplates.contains(template.name) {
            report(
                .unusedTemplate, "no group uses the template `\(template.name)`", at: template.key, severity: .warning,
                fix: .init("write a group with `uses: \(template.name)`, or remove it"))
        }
    }

    mutating func decodeUsedTemplate(
        _ name: String, _ entry: MappingReader.Entry, _ arguments: [Use.Argument], _ given: MappingReader.Entry?,
        of group: NodeIndex
    ) {
        guard let position = document.templatePositions[name] else { return reportUnknownTemplate(name, entry) }
        let template = document.templates[position]
        document.usedTemplates.insert(name)
        let body = OpenBody(identity: identity(of: template), name: name, use: entry.value.range)
        guard enter(body, at: entry) else { return }
        var use = Use(.template, in: document.file, of: group, range: entry.value.range, folder: document.folder)
        use.arguments = arguments
        let wasKnown = isKnown
        isKnown = true
        decode(template, as: &use)
        isKnown = wasKnown
        openBodies.removeLast()
        check(use, given, at: entry, name: name)
    }

    private mutating func decode(_ template: DeclaredTemplate, as use: inout Use) {
        guard template.value.kind == .mapping else {
            return reportType(
                MappingReader.Entry(key: template.key, value: template.value),
                expected: "a mapping with `steps`, and `params` where it has some")
        }
        var reader = MappingReader(template.value)
        reportStrayKeys(&reader, in: .template)
        use.parameters = parameters(reader.take(.params))
        open(&use, with: decodeSettings(reader, in: .template))
        guard let steps = reader.take(.steps) else {
            return report(
                .missingKey, "the template `\(template.name)` has no `steps`", at: template.key,
                fix: .init("add `steps:` with a step below it"))
        }
        decodeMembers(steps, of: use.group)
        decodeHooks(reader, of: use.group)
    }

    private func identity(of template: DeclaredTemplate) -> String { "\(document.file.name)\0\(template.name)" }

    private mutating func reportUnknownTemplate(_ name: String, _ entry: MappingReader.Entry) {
        let names = document.templates.lazy.map(\.name)
        let near = suggestions.nearest(to: name, among: names)
        report(
            .unknownTemplate, "there is no template \(Phrase.quoted(name)) in this file", at: entry.value,
            notes: near != nil || names.isEmpty ? [] : [.init("its templates are \(Phrase.all(names))")],
            fix: near.map { replacing(entry.value, by: $0, "did you mean `\($0)`?") }
                ?? .init("declare it under `templates`, or write the path of a file: `./\(name)`"))
    }
}
