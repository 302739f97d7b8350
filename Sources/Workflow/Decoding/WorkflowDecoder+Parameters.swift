internal import Syntax

extension WorkflowDecoder {
    /// `params`: names to what the caller may give. One that is wrong keeps its name, so that what reads it finds it.
    mutating func parameters(_ entry: MappingReader.Entry?) -> [Parameter] {
        guard let entry else { return [] }
        guard entry.value.kind == .mapping else {
            reportType(entry, expected: "a mapping of names to `{ type, default, … }`")
            return []
        }
        return entry.value.entries.map { parameter(MappingReader.Entry(key: $0.key, value: $0.value)) }
    }

    private mutating func parameter(_ entry: MappingReader.Entry) -> Parameter {
        let name = entry.key.text
        let found = findings.count
        checkVariable(name, at: entry.key.range)
        guard entry.value.kind == .mapping else {
            let spelling = longForm(of: entry.value)
            reportType(
                entry, expected: "a mapping such as `{ type: string, default: \"\" }`",
                fix: spelling.map { replacing(entry.value, by: $0) })
            return Parameter(name: name, kind: .string, range: entry.key.range)
        }
        let fields = fields(entry.value, of: .parameter)
        let kind = parameterKind(fields, of: entry)
        let isRequired = bool(fields.take("required")) ?? false
        let pattern = pattern(fields.take("pattern"), kind: kind)
        if isRequired, let given = fields.take("default") {
            report(
                .conflictingKeys, "a required parameter has no `default`, this one has", at: given.key,
                fix: .init("remove `required` or `default`"))
        }
        let parameter = Parameter(
            name: name, kind: kind, defaultValue: defaultValue(fields.take("default"), kind: kind, pattern: pattern),
            isRequired: isRequired, pattern: pattern, description: text(fields.take("description")),
            variable: environmentVariable(fields.take("env")), range: entry.key.range)
        let isValueless = parameter.hasNoEmptyValue && !isRequired && fields.take("default") == nil
        if isValueless, findings.count == found { reportValueless(parameter) }
        return parameter
    }

    /// Without a value it would be empty, which is none that the caller could give.
    private mutating func reportValueless(_ parameter: Parameter) {
        let what =
            switch parameter.kind {
            case .choice: "of type enum"
            case .path: "of type path"
            default: "with a `pattern`"
            }
        report(
            .missingKey, "a parameter \(what) has a `default` or is required, and `\(parameter.name)` is neither",
            at: parameter.range, fix: .init("add `default:` with a value, or `required: true`"))
    }

    /// The name of a variable of flowrun's own environment.
    private mutating func environmentVariable(_ entry: MappingReader.Entry?) -> String? {
        guard let entry, let name = text(entry) else { return nil }
        guard VariableName.isValid(name) else {
            reportVariableName(name, at: entry.value.range)
            return nil
        }
        return name
    }

    /// What `name: value` most likely means; nil where it cannot be told.
    private func longForm(of value: YAMLNode) -> String? {
        switch value.kind {
        case .scalar where value.isBlockText || value.text.contains("\n"): return nil
        case .scalar:
            switch value.type {
            case .null: return "{ type: string }"
            case .bool: return "{ type: bool, default: \(value.text.lowercased()) }"
            case .int: return "{ type: int, default: \(value.text) }"
            default: return "{ type: string, default: \(value.isPlain ? Self.quoted(value.text) : sourceText(value)) }"
            }
        case .sequence where isFlow(value): return "{ type: list, default: \(sourceText(value)) }"
        case .sequence, .mapping, .invalid: return nil
        }
    }

    private mutating func parameterKind(_ fields: FieldReader, of entry: MappingReader.Entry) -> Parameter.Kind {
        let type = fields.take("type")
        let word = type.map { typeWord($0, of: Parameter.Kind.words) } ?? "string"
        if let values = fields.take("values") {
            let choices = items(values, expected: "a list of values", mayBeAlone: false).map(\.text)
            if word == "enum" || word == nil { return .choice(choices) }
            report(
                .conflictingKeys, "`values` belongs to a parameter of type enum, this one is of type \(word ?? "")",
                at: values.key,
                fix: type.map { replacing($0.value, by: "enum", "write `type: enum`") } ?? .init("add `type: enum`"))
            return .choice(choices)
        }
        switch word {
        case "int": return .int
        case "bool": return .bool
        case "list": return .list
        case "path": return .path
        case "enum":
            report(
                .missingKey, "a parameter of type enum has no `values`", at: type?.value.range ?? entry.key.range,
                fix: .init("add `values:` with a list of what it may be"))
            return .string
        default: return .string
        }
    }

    private mutating func pattern(_ entry: MappingReader.Entry?, kind: Parameter.Kind) -> Pattern? {
        guard let entry, let text = text(entry) else { return nil }
        guard kind == .string || kind == .path || kind == .list else {
            report(
                .conflictingKeys,
                "`pattern` has no effect here; it belongs to a parameter of type string, path or list",
                at: entry.key, fix: .init("remove it"))
            return nil
        }
        do throws(PatternError) {
            return try Pattern(text)
        } catch {
            report(
                .invalidPattern,
                "\(Phrase.quoted(text)) is not a regular expression that flowrun knows: \(error.message)",
                at: entry.value,
                fix: .init("write one such as `[a-z]+`; a character with a meaning of its own needs a `\\` in front"))
            return nil
        }
    }

    /// Words of other tools for types, as far as they are types here.
    private static let foreignTypes = [
        "integer": "int", "number": "int", "boolean": "bool", "choice": "enum", "str": "string", "text": "string",
        "array": "list", "object": "json", "any": "json", "map": "json", "file": "path", "directory": "path",
    ]

    /// One of a few words for types; a foreign one is reported and taken for what it means.
    mutating func typeWord(_ entry: MappingReader.Entry, of words: [String]) -> String? {
        guard entry.value.kind == .scalar, let meant = Self.foreignTypes[entry.value.text], words.contains(meant) else {
            return word(entry, of: words)
        }
        reportValue(entry, expected: Phrase.alternatives(words), fix: replacing(entry.value, by: meant))
        return meant
    }
}

// `default` of a parameter: a YAML literal that the parameter itself would accept.
extension WorkflowDecoder {
    mutating func defaultValue(
        _ entry: MappingReader.Entry?, kind: Parameter.Kind, pattern: Pattern?
    ) -> Value? {
        guard let entry else { return nil }
        switch kind {
        case .string:
            return text(entry).flatMap { matches($0, pattern, at: entry.value) ? .string($0) : nil }
        case .path:
            return path(entry).flatMap { matches($0, pattern, at: entry.value) ? .string($0) : nil }
        case .int:
            return wholeNumber(entry).map(Value.int)
        case .bool:
            return bool(entry).map(Value.bool)
        case .choice(let choices):
            return choice(entry, of: choices).map(Value.string)
        case .list:
            return listDefault(entry, pattern: pattern)
        }
    }

    private mutating func choice(_ entry: MappingReader.Entry, of choices: [String]) -> String? {
        guard !choices.isEmpty else { return nil }
        if entry.value.kind == .scalar, !entry.value.isNull, choices.contains(entry.value.text) {
            return entry.value.text
        }
        guard choices.count > Self.shownChoices else { return word(entry, of: choices) }
        if entry.value.kind == .scalar {
            reportValue(entry, expected: "one of \(choices.count) values")
        } else {
            reportType(entry, expected: "one of \(choices.count) values")
        }
        return nil
    }

    /// More than these are not listed in a message.
    private static let shownChoices = 20

    private mutating func wholeNumber(_ entry: MappingReader.Entry) -> Int? {
        let value = entry.value
        let expected = "a whole number"
        let number = Int(value.text)
        if value.type == .int, let number { return number }
        if value.type == .int || value.type == .float {
            reportValue(entry, expected: "a whole number in decimal digits")
        } else {
            reportType(
                entry, expected: number == nil ? expected : "\(expected) without quotes",
                fix: number.map { replacing(value, by: String($0)) })
        }
        return nil
    }

    /// The items by their source text, as those of `for-each`.
    private mutating func listDefault(_ entry: MappingReader.Entry, pattern: Pattern?) -> Value? {
        guard entry.value.kind == .sequence else {
            let isWord = entry.value.kind == .scalar && entry.value.isPlain && !entry.value.isNull
            reportType(
                entry, expected: "a list of texts",
                fix: isWord ? replacing(entry.value, by: "[\(entry.value.text)]") : nil)
            return nil
        }
        var items: [Value] = []
        for element in entry.value.elements where element.kind != .invalid {
            guard element.kind == .scalar, !element.isNull else {
                let range = element.range.start == element.range.end ? entry.value.range : element.range
                report(.wrongType, "an item of a list is a text, found \(found(element))", at: range)
                continue
            }
            if matches(element.text, pattern, at: element) { items.append(.string(element.text)) }
        }
        return .list(items)
    }

    private mutating func matches(_ text: String, _ pattern: Pattern?, at node: YAMLNode) -> Bool {
        guard let pattern, !isExpression(node), !pattern.matches(text) else { return true }
        report(
            .invalidValue,
            "the default \(Phrase.quoted(text)) does not match the pattern \(Phrase.quoted(pattern.text))",
            at: node, fix: .init("write a default that the caller could give, or change the pattern"))
        return false
    }
}
