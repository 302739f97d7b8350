internal import Syntax

extension WorkflowDecoder {
    /// `params`: names to declarations. An invalid one keeps its name, so that its readers still find it.
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
        let (kind, isRequired) = (parameterKind(fields, of: entry), bool(fields.take("required")) ?? false)
        let pattern = pattern(fields.take("pattern"), kind: kind)
        let given = fields.take("default")
        if isRequired, let key = given?.key {
            report(
                .conflictingKeys, "a required parameter has no `default`, this one has", at: key,
                fix: .init("remove `required` or `default`"))
        }
        let computed = document.hasExpressions ? computedDefault(given) : nil
        let parameter = Parameter(
            name: name, kind: kind,
            defaultValue: computed == nil ? defaultValue(given, kind: kind, pattern: pattern) : nil,
            computedDefault: computed, isRequired: isRequired, pattern: pattern,
            description: text(fields.take("description")), variable: environmentVariable(fields.take("env")),
            range: entry.key.range)
        checkComputedDefault(of: parameter)
        let isValueless = parameter.hasNoEmptyValue && !isRequired && given == nil
        if isValueless, findings.count == found { reportValueless(parameter) }
        return parameter
    }

    /// Reports a parameter that would be empty without a value, although the caller could not give an empty one.
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

    /// The most likely meaning of `name: value`; nil if that is unclear.
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

    /// One of a few words for types; a foreign one is reported and replaced by its meaning.
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
            return intDefault(entry).map(Value.int)
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

    private static let shownChoices = 20

    private mutating func intDefault(_ entry: MappingReader.Entry) -> Int? {
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

    /// The items by their source text, like those of `for-each`.
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

extension WorkflowDecoder {
    /// `env`: names to texts; `null` unsets a variable.
    mutating func environment(_ entry: MappingReader.Entry?) -> [EnvironmentEntry] {
        guard let entry else { return [] }
        guard entry.value.kind == .mapping else {
            reportType(
                entry, expected: "a mapping of names to values",
                fix: entry.value.kind == .sequence ? .init("write `NAME: value` in place of `- NAME=value`") : nil)
            return []
        }
        var variables: [EnvironmentEntry] = []
        variables.reserveCapacity(entry.value.count)
        for (key, value) in entry.value.entries {
            let name = key.text
            guard checkEnvironmentName(name, at: key) else { continue }
            guard value.kind == .scalar else {
                reportType(MappingReader.Entry(key: key, value: value), expected: "a text")
                continue
            }
            if value.isNull, value.range.start == value.range.end {
                report(
                    .lookAlike, "\(Phrase.quoted(name)) without a value is unset, not set to an empty text",
                    at: key,
                    severity: .warning,
                    fix: replacing(value, by: "\"\"", "write `\"\"` for an empty text, `null` to unset"))
            }
            if !value.isNull { reportUnexpanded(value, of: name) }
            variables.append(EnvironmentEntry(name: name, value: value.isNull ? nil : template(value)))
        }
        return variables
    }

    private mutating func checkEnvironmentName(_ name: String, at key: YAMLNode) -> Bool {
        guard VariableName.isValid(name) else {
            report(
                .invalidEnvironmentName, "\(Phrase.quoted(name)) cannot name an environment variable", at: key,
                fix: .init("use letters, digits and `_`, with no digit first"))
            return false
        }
        guard !VariableName.isFlowruns(name) else {
            report(
                .reservedEnvironmentName, "`\(name)` is set by flowrun, as all names with `FLOWRUN_`", at: key,
                fix: .init("choose another name"))
            return false
        }
        return true
    }

    /// `dotenv`: a path, or a list of paths and `{path, optional}` mappings.
    mutating func dotenv(_ entry: MappingReader.Entry?) -> [DotenvFile] {
        guard let entry else { return [] }
        switch entry.value.kind {
        case .invalid: return []
        case .scalar, .mapping: return dotenvFile(entry.value, in: entry).map { [$0] } ?? []
        case .sequence: return entry.value.elements.compactMap { dotenvFile($0, in: entry) }
        }
    }

    private mutating func dotenvFile(_ node: YAMLNode, in entry: MappingReader.Entry) -> DotenvFile? {
        switch node.kind {
        case .scalar where node.type != .null && node.type != .bool && !node.text.isEmpty:
            return DotenvFile(path: fromFirstFolder(node.text), isOptional: false, range: node.range)
        case .mapping:
            return dotenvMapping(node)
        case .invalid:
            return nil
        default:
            let range = node.range.start == node.range.end ? entry.place.range : node.range
            report(
                .wrongType, "`dotenv` takes a path, or a list of paths and `{ path, optional }`, found \(found(node))",
                at: range)
            return nil
        }
    }

    /// Converts a path relative to the file's folder to one relative to the folder of the first file.
    private func fromFirstFolder(_ path: String) -> String {
        path.hasPrefix("/") || document.folder.isEmpty ? path : "\(document.folder)/\(path)"
    }

    private mutating func dotenvMapping(_ node: YAMLNode) -> DotenvFile? {
        let fields = fields(node, of: .dotenvFile)
        let isOptional = bool(fields.take("optional")) ?? false
        guard let entry = fields.take("path") else {
            report(.missingKey, "this entry of `dotenv` has no `path`", at: node, fix: .init("add `path:`"))
            return nil
        }
        return path(entry).map { DotenvFile(path: fromFirstFolder($0), isOptional: isOptional, range: node.range) }
    }
}

extension WorkflowDecoder {
    /// The top's `secrets`: names to sources.
    mutating func secrets(_ entry: MappingReader.Entry?) -> [Secret] {
        guard let entry else { return [] }
        guard entry.value.kind == .mapping else {
            let names = entry.value.elements.map(\.text)
            let canFix = isFlow(entry.value) && !names.isEmpty && names.allSatisfy(VariableName.isValid)
            let mapping = "{ " + names.map { "\($0): { env: \($0) }" }.joined(separator: ", ") + " }"
            reportType(
                entry, expected: "a mapping of names to `{ env: NAME }` or `{ file: PATH }`",
                fix: canFix ? replacing(entry.value, by: mapping) : nil)
            document.secretNames = nil
            return []
        }
        document.secretNames = Set(entry.value.entries.map(\.key.text))
        return entry.value.entries.compactMap { secret(MappingReader.Entry(key: $0.key, value: $0.value)) }
    }

    private mutating func secret(_ entry: MappingReader.Entry) -> Secret? {
        let name = entry.key.text
        checkVariable(name, at: entry.key.range)
        let value = entry.value
        guard value.kind == .mapping else {
            let isName = value.kind == .scalar && (value.isNull || VariableName.isValid(value.text))
            let source = value.isNull ? name : value.text
            reportType(
                entry, expected: "`{ env: NAME }` or `{ file: PATH }`",
                fix: isName ? replacing(value, by: "{ env: \(source) }") : nil)
            return nil
        }
        let fields = fields(value, of: .secret)
        let (variable, file) = (fields.take("env"), fields.take("file"))
        if let variable, file != nil {
            report(
                .conflictingKeys, "a secret comes from `env` or from `file`, this one from both", at: variable.key,
                fix: .init("remove one of the two"))
        } else if variable == nil, file == nil {
            report(
                .missingKey, "the secret \(Phrase.quoted(name)) does not say where it comes from", at: entry.key,
                fix: .init("write `{ env: \(name) }` for a variable of flowrun's environment, or `{ file: PATH }`"))
        }
        if let variable, let source = text(variable) {
            guard !VariableName.isValid(source) else {
                return Secret(name: name, source: .environment(source), range: entry.key.range)
            }
            reportVariableName(source, at: variable.value.range)
        } else if let path = path(file) {
            return Secret(name: name, source: .file(fromFirstFolder(path)), range: entry.key.range)
        }
        return nil
    }

    /// A step's `secrets`: the names of those that it sees.
    mutating func secretUses(_ entry: MappingReader.Entry?) -> [SecretUse] {
        guard let entry else { return [] }
        return items(entry, expected: "a list of names of secrets", mayBeAlone: false).map { node in
            let use = SecretUse(name: node.text, range: node.range)
            if document.secretNames?.contains(use.name) == false { reportUndeclared(use, at: node) }
            return use
        }
    }

    /// With more names than this, none is suggested.
    private static let suggestedSecrets = 100

    private mutating func reportUndeclared(_ use: SecretUse, at node: YAMLNode) {
        guard !isExpression(node) else { return }
        var near: String?
        if let secretNames = document.secretNames, secretNames.count <= Self.suggestedSecrets {
            near = suggestions.nearest(to: use.name, among: secretNames.sorted())
        }
        report(
            .undeclaredSecret, "the workflow declares no secret \(Phrase.quoted(use.name))", at: node,
            fix: near.map { replacing(node, by: $0, "did you mean `\($0)`?") }
                ?? .init("declare it at the top of the file: `secrets: { \(use.name): { env: \(use.name) } }`"))
    }
}
