internal import Syntax

// `with`: what the parameters of a body are given.
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

    /// Holds what is given against what the body declares. Values that are not known yet are the planner's question.
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

    /// The items that a text between commas, or a JSON array in quotes, was probably meant to be.
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
