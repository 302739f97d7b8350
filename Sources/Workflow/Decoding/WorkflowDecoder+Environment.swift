internal import Syntax

extension WorkflowDecoder {
    /// `env`: names to texts; `null` takes a variable away.
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

    /// A path that counts from the file's folder as one that counts from that of the first file.
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
    /// The top's `secrets`: names to where each comes from.
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

    /// A step's `secrets`: which of them it sees.
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
