internal import Syntax

extension WorkflowDecoder {
    /// `needs`: a list of names, or a mapping of names to the end they must come to.
    mutating func decodeNeeds(_ entry: MappingReader.Entry) -> Range<UInt32> {
        let start = UInt32(needs.count)
        appendNeeds(entry)
        return start..<UInt32(needs.count)
    }

    private mutating func appendNeeds(_ entry: MappingReader.Entry) {
        let value = entry.value
        switch value.kind {
        case .invalid: return
        case .sequence:
            for element in value.elements where isName(element, in: entry) {
                needs.append(Need(name: element.text, range: alias(to: element.range)?.range ?? element.range))
            }
        case .mapping:
            for (key, value) in value.entries where isName(key, in: entry) {
                let kind = needKind(MappingReader.Entry(key: key, value: value))
                let range = alias(to: key.range)?.range ?? key.range
                needs.append(Need(name: key.text, kind: kind ?? .done, range: range))
            }
        case .scalar:
            let expected = "a list of ids, or a mapping of ids to `success`, `failure` or `done`"
            guard value.type == .string, value.isPlain, !value.text.isEmpty else {
                return reportType(entry, expected: expected)
            }
            let names = value.text.split { $0 == " " || $0 == "," }.map(String.init)
            reportType(entry, expected: expected, fix: replacing(value, by: "[\(names.joined(separator: ", "))]"))
            for name in names { needs.append(Need(name: name, range: value.range)) }
        }
        if value.isEmptyCollection {
            report(
                .emptyList, "\(Phrase.quoted(entry.key.text)) is empty", at: value, severity: .warning,
                fix: .init("remove the key: a step without it starts at once"))
        }
    }

    /// The id in `{ task: id }`, as other tools write it.
    private static func foreignName(_ node: YAMLNode) -> String? {
        guard node.kind == .mapping, node.count == 1, let (key, value) = node.entries.first(where: { _ in true }),
            ["task", "job", "step"].contains(key.text), value.type == .string, StepName.isValid(value.bytes)
        else { return nil }
        return value.text
    }

    private mutating func needKind(_ entry: MappingReader.Entry) -> Need.Kind? {
        let kinds: [Need.Kind] = [.success, .failure, .done]
        let foreign = [
            "always": "done", "completed": "done", "complete": "done", "any": "done", "finished": "done",
            "ended": "done", "end": "done", "ok": "success", "succeeded": "success", "passed": "success",
            "pass": "success", "failed": "failure", "fail": "failure", "error": "failure",
        ]
        guard let word = word(entry, of: kinds.map { "\($0)" }, orFor: foreign) else { return nil }
        return kinds.first { "\($0)" == word }
    }

    /// Whether an entry can be a name at all; which step it names is the planner's question.
    private mutating func isName(_ node: YAMLNode, in entry: MappingReader.Entry) -> Bool {
        guard node.kind == .scalar else {
            if node.kind != .invalid {
                report(
                    .wrongType, "an entry of \(Phrase.quoted(entry.key.text)) is an id, found \(found(node))", at: node,
                    fix: Self.foreignName(node).map { replacing(node, by: $0) }
                        ?? .init("write `needs: { id: done }` to say how it must end"))
            }
            return false
        }
        switch node.type {
        case .bool, .null:
            let isAbsent = node.range.start == node.range.end
            let fix =
                isAbsent || node.isAlias ? nil : replacing(node, by: "\"\(node.text)\"", "quote it if it is an id")
            report(
                .wrongType, "an entry of \(Phrase.quoted(entry.key.text)) is an id, found \(found(node))",
                at: isAbsent ? entry.value : node, fix: fix)
            return false
        default:
            guard node.byteCount == 0 else { return true }
            report(
                .invalidID, "an entry of \(Phrase.quoted(entry.key.text)) is empty", at: node, fix: .init("write an id")
            )
            return false
        }
    }
}
