internal import Syntax

// `include` and `exclude` of a matrix.
extension WorkflowDecoder {
    mutating func decodeInclude(_ entry: MappingReader.Entry) -> [[Variable]] {
        rules(of: entry).compactMap { rule in
            var variables: [Variable] = []
            for (key, value) in rule.entries {
                let name = key.text
                guard VariableName.isValid(name), !VariableName.isListenedTo(name) else {
                    report(
                        VariableName.isValid(name) ? .reservedEnvironmentName : .invalidEnvironmentName,
                        "\(Phrase.quoted(name)) cannot name a variable of a matrix", at: key,
                        fix: .init("choose another name"))
                    continue
                }
                guard let text = text(MappingReader.Entry(key: key, value: value)) else { continue }
                variables.append(Variable(name: name, value: text))
            }
            return variables.isEmpty ? nil : variables
        }
    }

    mutating func decodeExclude(_ entry: MappingReader.Entry, axes: [FanOutExpansion.Axis]) -> [[Variable]] {
        let axesByName = Dictionary(axes.map { ($0.name, AxisValues($0)) }) { first, _ in first }
        return rules(of: entry).compactMap { rule in
            var variables: [Variable] = []
            var isComplete = true
            for (key, value) in rule.entries {
                let entry = MappingReader.Entry(key: key, value: value)
                if let variable = excludedValue(entry, axes: axes, axesByName) {
                    variables.append(variable)
                } else {
                    isComplete = false
                }
            }
            // Half a rule would exclude more than was asked for.
            return isComplete && !variables.isEmpty ? variables : nil
        }
    }

    /// An axis, and its values by their texts.
    private struct AxisValues {
        let axis: FanOutExpansion.Axis
        let values: [String: FanOutExpansion.Value]

        init(_ axis: FanOutExpansion.Axis) {
            self.axis = axis
            values = Dictionary(axis.values.map { ($0.text, $0) }) { first, _ in first }
        }
    }

    private mutating func excludedValue(
        _ entry: MappingReader.Entry, axes: [FanOutExpansion.Axis], _ axesByName: [String: AxisValues]
    ) -> Variable? {
        let name = entry.key.text
        guard let axis = axesByName[name] else {
            let names = axes.lazy.map(\.name)
            let near = suggestions.nearest(to: name, among: names)
            report(
                .unknownAxis, "the matrix has no axis \(Phrase.quoted(name))", at: entry.key,
                notes: axes.isEmpty ? [] : [.init("its axes are \(Phrase.all(names))")],
                fix: near.map { replacing(entry.key, by: $0, "did you mean `\($0)`?") })
            return nil
        }
        guard let text = text(entry) else { return nil }
        guard let value = axis.values[text] else {
            let near = suggestions.nearest(to: text, among: axis.axis.values.lazy.map(\.text))
            report(
                .unknownAxis, "the axis `\(name)` has no value \(Phrase.quoted(text))", at: entry.value,
                notes: [.init("the axis is declared here", at: axis.axis.range)],
                fix: near.map { replacing(entry.value, by: $0, "did you mean `\($0)`?") })
            return nil
        }
        guard value.isQuoted == (entry.value.type == .string) else {
            let spelling = file.text(in: value.range)
            report(
                .unknownAxis,
                "\(found(entry.value)) is not the value of the axis `\(name)`, which is written `\(spelling)`",
                at: entry.value, notes: [.init("the value is here", at: value.range)],
                fix: replacing(entry.value, by: spelling))
            return nil
        }
        return Variable(name: name, value: text)
    }

    /// The mappings of a list.
    private mutating func rules(of entry: MappingReader.Entry) -> [YAMLNode] {
        guard entry.value.kind == .sequence else {
            reportType(entry, expected: "a list of mappings from axes to values")
            return []
        }
        return entry.value.elements.filter { element in
            if element.kind == .mapping { return true }
            if element.kind != .invalid {
                let range = element.range.start == element.range.end ? entry.value.range : element.range
                report(
                    .wrongType,
                    "an entry of \(Phrase.quoted(entry.key.text)) is a mapping from axes to values, found \(found(element))",
                    at: range)
            }
            return false
        }
    }
}
