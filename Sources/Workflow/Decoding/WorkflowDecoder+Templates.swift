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
        let outer = document.parameters
        document.parameters += use.parameters
        defer { document.parameters = outer }
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
            guard let error = error(of: argument.value, for: parameter) else { continue }
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

    func error(of value: Use.Argument.Source, for parameter: Parameter) -> Parameter.ValueError? {
        do throws(Parameter.ValueError) {
            switch value {
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

// Keys, axes and defaults with expressions over parameters, whose values are read once they are known.
extension WorkflowDecoder {
    /// Returns the value of a key that has an expression in it and may have one, which is nil after a finding about it.
    /// Nil for any other.
    mutating func computedSetting(
        _ key: WorkflowKey, _ entry: MappingReader.Entry, in place: KeyPlace
    ) -> ComputedSetting?? {
        let value = entry.value
        guard WorkflowKey.computed.contains(key), hasExpression(value) else { return nil }
        let found = findings.count
        let part = key == .retry && value.kind == .mapping ? computedFields(entry) : computedPart(value)
        guard findings.count == found else { return .some(nil) }
        guard let part else { return nil }
        hasComputedSettings = true
        let isOfFile = place == .top || place == .defaults
        return ComputedSetting(
            key: key, place: place, value: part, range: value.range,
            isInside: place == .template || isOfFile && openBodies.count > 1)
    }

    /// Returns the default of a parameter that has an expression in it; nil for any other.
    mutating func computedDefault(_ entry: MappingReader.Entry?) -> Parameter.ComputedDefault? {
        guard let value = entry?.value, hasExpression(value) else { return nil }
        hasComputedSettings = true
        switch value.kind {
        case .scalar: return .init(source: .text(template(value)), range: value.range)
        case .sequence:
            guard value.elements.allSatisfy({ $0.kind == .scalar }) else { return nil }
            var elements: [Template] = []
            for element in value.elements { elements.append(template(element)) }
            return .init(source: .list(elements), range: value.range)
        case .mapping, .invalid: return nil
        }
    }

    /// Checks what the default says apart from the values of its expressions.
    mutating func checkComputedDefault(of parameter: Parameter) {
        guard let computed = parameter.computedDefault, let error = error(of: computed.source, for: parameter) else {
            return
        }
        report(.invalidValue, "the default of `\(parameter.name)`: \(error.message)", at: computed.range)
    }

    func hasExpression(_ node: YAMLNode) -> Bool {
        switch node.kind {
        case .scalar: isExpression(node)
        case .sequence: node.elements.contains(where: hasExpression)
        case .mapping: node.entries.contains { hasExpression($0.value) }
        case .invalid: false
        }
    }

    /// The words below `retry`.
    private mutating func computedFields(_ entry: MappingReader.Entry) -> ComputedSetting.Part? {
        let fields = fields(entry.value, of: .retry)
        reportMissingAttempts(fields, of: entry)
        var parts: [(word: String, part: ComputedSetting.Part)] = []
        for word in FieldPlace.retry.words {
            guard let field = fields.take(word) else { continue }
            guard let part = computedPart(field.value) else { return nil }
            parts.append((word, part))
        }
        return .fields(parts)
    }

    /// The axes, `include` and `exclude`; only axes may have expressions.
    mutating func computedMatrix(_ node: YAMLNode) -> ComputedSetting.Part? {
        var parts: [(word: String, part: ComputedSetting.Part)] = []
        for (key, value) in node.entries {
            let isAxis = key.text != "include" && key.text != "exclude"
            guard let part = isAxis ? computedPart(value) : Self.literal(value) else { return nil }
            parts.append((key.text, part))
        }
        return .fields(parts)
    }

    private static func literal(_ node: YAMLNode) -> ComputedSetting.Part {
        switch node.kind {
        case .scalar, .invalid: .literal(node.type == .string ? Value.string(node.text).json : node.text)
        case .sequence: .list(node.elements.map(literal))
        case .mapping: .fields(node.entries.map { ($0.key.text, literal($0.value)) })
        }
    }

    private mutating func computedPart(_ node: YAMLNode) -> ComputedSetting.Part? {
        switch node.kind {
        case .scalar where hasExpression(node): return .template(template(node))
        case .scalar: return Self.literal(node)
        case .sequence:
            var parts: [ComputedSetting.Part] = []
            for element in node.elements {
                guard let part = computedPart(element) else { return nil }
                parts.append(part)
            }
            return .list(parts)
        case .mapping, .invalid: return nil
        }
    }
}

extension ComputedSetting {
    /// Returns the value, as the decoder reads it with values in place of the expressions; nil if it has no effect.
    /// Throws if an expression has no value, or if the decoder refuses the whole.
    package func made(
        by evaluate: (Expression) throws(EvaluationError) -> Value
    ) throws(EvaluationError) -> (any Sendable)? {
        let text = "\(key.spelling): \(try spelled(value, evaluate))\n\(rest)"
        let (made, refusal) = WorkflowDecoder.value(of: key, in: place, from: text)
        if let refusal { throw EvaluationError(refusal, at: range) }
        return switch made {
        case let limit as TimeLimit: TimeLimit(duration: limit.duration, range: range)
        case let retry as Retry: retry.placed(at: range)
        default: made
        }
    }

    private func spelled(
        _ part: Part, _ evaluate: (Expression) throws(EvaluationError) -> Value
    ) throws(EvaluationError) -> String {
        switch part {
        case .literal(let text): return text
        case .template(.literal(let text)): return spelled(.string(text))
        case .template(.parsed(let template)):
            if let expression = template.expression { return spelled(try evaluate(expression)) }
            var text = ""
            for part in template.parts {
                switch part {
                case .text(let literal): text += literal
                case .expression(let expression): text += try evaluate(expression).text
                }
            }
            return spelled(.string(text))
        case .list(let parts):
            var elements: [String] = []
            for part in parts { elements.append(try spelled(part, evaluate)) }
            return "[\(elements.joined(separator: ", "))]"
        case .fields(let fields):
            var entries: [String] = []
            for (word, part) in fields { entries.append("\(Value.string(word).json): \(try spelled(part, evaluate))") }
            return "{ \(entries.joined(separator: ", ")) }"
        }
    }

    /// Without quotes where a text needs none: the variables of a matrix are texts, also those that are numbers.
    private func spelled(_ value: Value) -> String {
        guard key != .confirm else { return Self.quoted(.string(value.text)) }
        switch value {
        case .string(let text):
            let isPlain = text.utf8.allSatisfy { byte in
                (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || "._-".utf8.contains(byte)
            }
            let isWord = isPlain && text.utf8.first.map { $0 > UInt8(ascii: ".") } == true
            return isWord && text.lowercased() != "null" ? text : Self.quoted(value)
        case .list(let elements): return "[\(elements.map(spelled).joined(separator: ", "))]"
        case .null, .bool, .int, .decimal, .object: return Self.quoted(value)
        }
    }

    /// As JSON, with escapes for what YAML does not take as it is: it folds some line ends, and refuses other controls.
    private static func quoted(_ value: Value) -> String {
        value.json.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar.value {
            case 0x7F...0x9F, 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}

extension FanOut {
    /// Returns the instances of a matrix with expressions in its axes.
    package func instances(
        isHidden: (String) -> Bool, by evaluate: (Expression) throws(EvaluationError) -> Value
    ) throws(EvaluationError) -> [Instance] {
        guard let matrix, let made = try matrix.made(by: evaluate) as? FanOut else { return [] }
        do throws(ItemError) {
            return try Self.named(
                made.instances.map(\.variables), axisCount: axes.count, label: label, isHidden: isHidden)
        } catch {
            throw EvaluationError("`matrix` \(error.message)", at: matrix.range)
        }
    }
}
