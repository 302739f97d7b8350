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

    /// Reads every template in its own place, so that its findings are made once, whether it is used or not.
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

    /// Reports the templates that no group uses, once the whole file is read.
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

// `with`: the arguments for the parameters of a body.
extension WorkflowDecoder {
    mutating func arguments(_ entry: MappingReader.Entry?) -> [Use.Argument] {
        guard let entry else { return [] }
        guard entry.value.kind == .mapping else {
            reportType(entry, expected: "a mapping of parameters to values")
            return []
        }
        return entry.value.entries.compactMap { key, value in
            argument(MappingReader.Entry(key: key, value: value)).map {
                Use.Argument(name: key.text, value: $0, range: key.range)
            }
        }
    }

    private mutating func argument(_ entry: MappingReader.Entry) -> Use.Argument.Source? {
        switch entry.value.kind {
        case .scalar where !entry.value.isNull: return .text(template(entry.value))
        case .sequence:
            var elements: [Template] = []
            for element in entry.value.elements {
                guard element.kind == .scalar, !element.isNull else {
                    report(.wrongType, "an item of a list is a text, found \(found(element))", at: element)
                    continue
                }
                elements.append(template(element))
            }
            return .list(elements)
        default:
            reportType(entry, expected: "a text, a number, a list or an expression")
            return nil
        }
    }

    /// Checks the arguments against the declarations of the body. Values that are not known yet are left to the
    /// planner.
    mutating func check(_ use: Use, _ given: MappingReader.Entry?, at entry: MappingReader.Entry, name: String) {
        let parameters = use.parameters
        let positions = Dictionary(zip(parameters.map(\.name), parameters.indices)) { first, _ in first }
        let places = (given?.value.entries).map { $0.map { ($0.key.range, $0.value) } } ?? []
        let values = Dictionary(places, uniquingKeysWith: { first, _ in first })
        for argument in use.arguments {
            guard let parameter = positions[argument.name].map({ parameters[$0] }) else {
                reportUnknownParameter(argument, of: use, name: name)
                continue
            }
            guard let error = error(of: argument, for: parameter) else { continue }
            report(
                .wrongArgument, "`\(argument.name)` of \(Phrase.quoted(name)): \(error.message)",
                at: values[argument.range]?.range ?? argument.range,
                notes: [.init("the parameter is declared here", at: parameter.range)],
                fix: parameter.kind == .list ? listFix(argument, values[argument.range]) : nil)
        }
        // A value that cannot be read has its own finding.
        let names = Set(given?.value.entries.map(\.key.text) ?? [])
        let missing = parameters.filter { $0.isRequired && !names.contains($0.name) }
        guard let first = missing.first else { return }
        let shown = missing.prefix(Phrase.listLimit).map { "\($0.name): …" }
        report(
            .wrongArgument,
            "\(Phrase.quoted(name)) needs \(Phrase.all(missing.map(\.name))), and `with` does not give it",
            at: given?.key.range ?? entry.value.range,
            notes: [.init("`\(first.name)` is required", at: first.range)],
            fix: .init("write `with: { \(shown.joined(separator: ", ")) }`"))
    }

    private func error(of argument: Use.Argument, for parameter: Parameter) -> Parameter.ValueError? {
        do throws(Parameter.ValueError) {
            switch argument.value {
            case .text(let template):
                if parameter.kind == .list, template.expression == nil {
                    throw Parameter.ValueError(message: "expected a list, found a text")
                }
                if let text = template.literal { _ = try parameter.value(of: .string(text)) }
            case .list(let elements):
                let texts = elements.compactMap(\.literal).map(Value.string)
                if parameter.kind != .list || texts.count == elements.count {
                    _ = try parameter.value(of: .list(texts))
                }
            }
            return nil
        } catch {
            return error
        }
    }

    /// Suggests the list that a text with commas, or a JSON array in quotes, was probably meant to be.
    private func listFix(_ argument: Use.Argument, _ value: YAMLNode?) -> Diagnostic.Fix? {
        guard case .text(let template) = argument.value, let text = template.literal, let value
        else { return .init("write a list: `[a, b]`") }
        let isArray = text.hasPrefix("[") && text.hasSuffix("]")
        let items = text.split(separator: ",").map { Self.quoted(String($0).trimmingBlanks) }
        return replacing(value, by: isArray ? text : "[\(items.joined(separator: ", "))]")
    }

    private mutating func reportUnknownParameter(_ argument: Use.Argument, of use: Use, name: String) {
        let names = use.parameters.lazy.map(\.name)
        let near = suggestions.nearest(to: argument.name, among: names)
        report(
            .wrongArgument, "\(Phrase.quoted(name)) has no parameter \(Phrase.quoted(argument.name))",
            at: argument.range,
            notes: near != nil
                ? []
                : [
                    .init(names.isEmpty ? "it has no parameters" : "its parameters are \(Phrase.all(names))")
                ],
            fix: near.map {
                Diagnostic.Fix("did you mean `\($0)`?", edits: [.init(range: argument.range, replacement: $0)])
            } ?? .init("declare it under its `params`"))
    }
}
