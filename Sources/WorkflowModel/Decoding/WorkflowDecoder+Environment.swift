internal import SourceDiagnostics
internal import YAMLSyntax

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
                    .lookAlike, "\(Phrase.quoted(name)) without a value is taken away, not set to an empty text",
                    at: key,
                    severity: .warning,
                    fix: replacing(value, by: "\"\"", "write `\"\"` for an empty text, `null` to unset"))
            }
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
            return DotenvFile(path: node.text, isOptional: false, range: node.range)
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

    private mutating func dotenvMapping(_ node: YAMLNode) -> DotenvFile? {
        let fields = fields(node, of: .dotenvFile)
        let isOptional = bool(fields.take("optional")) ?? false
        guard let entry = fields.take("path") else {
            report(.missingKey, "this entry of `dotenv` has no `path`", at: node, fix: .init("add `path:`"))
            return nil
        }
        return path(entry).map { DotenvFile(path: $0, isOptional: isOptional, range: node.range) }
    }
}
