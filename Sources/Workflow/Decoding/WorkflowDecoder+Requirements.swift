internal import Syntax

extension WorkflowDecoder {
    /// `require`: a list of conditions, each with what to say where it is false.
    mutating func requirements(_ entry: MappingReader.Entry?) -> [Requirement] {
        guard let entry else { return [] }
        let expected = "a list such as `[{ if: env.CI != null, message: only in CI }]`"
        guard entry.value.kind == .sequence else {
            reportType(entry, expected: expected)
            return []
        }
        if entry.value.count == 0 {
            report(
                .emptyList, "`require` names nothing", at: entry.value, severity: .warning, fix: .init("remove the key")
            )
        }
        return entry.value.elements.compactMap { element in
            guard element.kind == .mapping else {
                reportType(MappingReader.Entry(key: entry.key, value: element), expected: expected)
                return nil
            }
            return requirement(element)
        }
    }

    private mutating func requirement(_ node: YAMLNode) -> Requirement? {
        let fields = fields(node, of: .requirement)
        let missing = FieldPlace.requirement.words.filter { fields.take($0) == nil }
        if !missing.isEmpty {
            report(
                .missingKey, "this entry of `require` has no \(Phrase.all(missing))", at: node,
                fix: .init("write `{ if: CONDITION, message: TEXT }`"))
        }
        guard let condition = condition(fields.take("if")), let message = templateText(fields.take("message")) else {
            return nil
        }
        return Requirement(condition: condition, message: message, range: node.range)
    }
}
