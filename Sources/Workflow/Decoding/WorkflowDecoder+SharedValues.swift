internal import Basics
internal import Syntax

extension WorkflowDecoder {
    /// Names that one `vars` may have: each script is searched for each of them.
    static let sharedValueLimit = 1000

    /// `vars`: names to values, or to commands that print them. One that is wrong keeps its name, so that what reads it
    /// finds it.
    mutating func sharedValues(_ entry: MappingReader.Entry?) -> [SharedValue] {
        guard let entry else { return [] }
        guard entry.value.kind == .mapping else {
            reportType(entry, expected: "a mapping of names to values or to `{ run: command }`")
            return []
        }
        guard entry.value.count <= Self.sharedValueLimit else {
            report(
                .fanOutTooLarge, "`vars` has \(entry.value.count) names, at most \(Self.sharedValueLimit) are accepted",
                at: entry.key, fix: .init("let one command make several of them, as `type: json`"))
            refuse(entry.value)
            return []
        }
        return entry.value.entries.map { sharedValue(MappingReader.Entry(key: $0.key, value: $0.value)) }
    }

    private mutating func sharedValue(_ entry: MappingReader.Entry) -> SharedValue {
        let name = entry.key.text
        checkVariable(name, at: entry.key.range)
        let source: SharedValue.Source
        switch entry.value.kind {
        case .mapping: source = sharedMapping(entry)
        case .sequence: source = literalList(entry).map(SharedValue.Source.literal) ?? .template("")
        case .scalar where !entry.value.isNull: source = .template(template(entry.value))
        case .scalar, .invalid:
            reportType(
                entry, expected: "a text, a list of texts, or `{ run: command }`",
                fix: .init("write `\"\"` for an empty text"))
            source = .template("")
        }
        return SharedValue(name: name, source: source, range: entry.key.range)
    }

    /// `{ run, type, … }` or `{ value, type }`.
    private mutating func sharedMapping(_ entry: MappingReader.Entry) -> SharedValue.Source {
        let fields = fields(entry.value, of: .sharedValue)
        let kind = fields.take("type").flatMap { outputKind($0) }
        let (run, value) = (fields.take("run"), fields.take("value"))
        if let run, let value {
            report(
                .conflictingKeys, "a var has either `run` or `value`, this one has both", at: value.key,
                notes: [.init("`run` is here", at: run.key.range)], fix: .init("remove one of the two"))
        }
        if let run {
            let body = decodeRun(run)
            let shell = shell(fields.take("shell"))
            return .command(
                SharedValue.Command(
                    body: body, kind: kind ?? .string, shell: shell, timeout: timeLimit(fields.take("timeout")),
                    secrets: secretUses(fields.take("secrets"))))
        }
        for word in ["shell", "timeout", "secrets"] {
            guard let stray = fields.take(word) else { continue }
            report(
                .conflictingKeys, "`\(word)` has no effect without `run`", at: stray.key,
                fix: .init("remove it, or write the command as `run`"))
        }
        guard let value else {
            report(
                .missingKey, "the var \(Phrase.quoted(entry.key.text)) has neither `run` nor `value`", at: entry.key,
                fix: .init("write `run:` with a command that prints the value, or the value itself"))
            return .template("")
        }
        return literal(value, of: kind)
    }

    private mutating func literal(
        _ entry: MappingReader.Entry, of kind: OutputDeclaration.Kind?
    ) -> SharedValue.Source {
        if entry.value.kind == .scalar, isExpression(entry.value) {
            if let kind, kind != .string {
                refuse(entry.value)
                report(
                    .conflictingKeys, "an expression has the type of its value, not `\(kind.rawValue)`",
                    at: entry.value, fix: .init("remove `type`"))
            }
            return .template(template(entry.value))
        }
        let value: Value? =
            switch kind {
            case .int: defaultValue(entry, kind: .int, pattern: nil)
            case .bool: defaultValue(entry, kind: .bool, pattern: nil)
            case .list: literalList(entry)
            case .lines: lines(entry)
            case .json: json(entry)
            case .string: defaultValue(entry, kind: .string, pattern: nil)
            case nil: entry.value.kind == .sequence ? literalList(entry) : text(entry).map(Value.string)
            }
        return value.map(SharedValue.Source.literal) ?? .template("")
    }

    private mutating func literalList(_ entry: MappingReader.Entry) -> Value? {
        defaultValue(entry, kind: .list, pattern: nil)
    }

    private mutating func lines(_ entry: MappingReader.Entry) -> Value? {
        if entry.value.kind == .sequence { return literalList(entry) }
        return text(entry).map { OutputDeclaration.Kind.lines(of: $0) }
    }

    private mutating func json(_ entry: MappingReader.Entry) -> Value? {
        guard let text = text(entry) else { return nil }
        do throws(JSONError) {
            return try Value(json: text)
        } catch {
            report(
                .invalidValue, "`value` is not JSON: \(error.message), found \(Phrase.quoted(text))", at: entry.value)
            return nil
        }
    }
}
