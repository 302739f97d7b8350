internal import Basics
internal import Syntax

extension WorkflowDecoder {
    /// `matrix` or `for-each`, with the keys that are valid only together with one of them.
    mutating func decodeFanOut(_ reader: borrowing MappingReader, in place: KeyPlace) -> FanOut? {
        guard place == .step || place == .group || place == .use else { return nil }
        let limit =
            wholeNumber(reader.take(.maxItems), in: WorkflowKey.maxItems.definition.range) ?? FanOut.defaultLimit
        let (matrix, loop) = (reader.take(.matrix), reader.take(.forEach))
        if let matrix, let loop {
            report(
                .conflictingKeys, "a node has either `matrix` or `for-each`, this one has both", at: loop.key,
                notes: [.init("`matrix` is here", at: matrix.key.range)],
                fix: .init("make the loop another axis of the matrix"))
        }
        reportLonelyKeys(reader, in: place)
        let label = templateText(reader.take(.label))
        var fanOut: FanOut?
        if let matrix {
            fanOut = decodeMatrix(matrix, label: label, limit: limit)
        } else if let loop {
            fanOut = decodeLoop(loop, variable: reader.take(.as), label: label, limit: limit)
        }
        return fanOut
    }

    /// The instances of the combinations in the file.
    private mutating func named(_ combinations: [[Variable]], axisCount: Int, label: Template?) -> [FanOut.Instance] {
        if let instances = try? FanOut.named(combinations, axisCount: axisCount, label: label) { return instances }
        // The planner reports the mistake in the label.
        return (try? FanOut.named(combinations, axisCount: axisCount, label: nil)) ?? []
    }

    mutating func reportLonelyKeys(_ reader: borrowing MappingReader, in place: KeyPlace) {
        if !reader.has(.forEach) { refuse(.as, of: reader, without: "`for-each`") }
        guard !reader.has(.matrix), !reader.has(.forEach) else { return }
        refuse(.maxItems, of: reader, without: "`matrix` or `for-each`")
        refuse(.label, of: reader, without: "`matrix` or `for-each`")
        guard place == .step else { return }
        refuse(.maxParallel, of: reader, without: "a fan-out or a group")
        refuse(.failFast, of: reader, without: "a fan-out or a group")
    }

    private mutating func refuse(_ key: WorkflowKey, of reader: borrowing MappingReader, without partner: String) {
        guard let entry = reader.take(key) else { return }
        report(
            .conflictingKeys, "`\(key.spelling)` has no effect here; it belongs to \(partner)", at: entry.key,
            fix: .init("remove it"))
    }

    // MARK: for-each

    private mutating func decodeLoop(
        _ entry: MappingReader.Entry, variable: MappingReader.Entry?, label: Template?, limit: Int
    ) -> FanOut? {
        var name = "item"
        if let variable, let given = text(variable) {
            name = given
            checkVariable(given, at: variable.value.range)
        }
        guard entry.value.kind == .sequence else {
            return decodeDynamicLoop(entry, variable: name, label: label, limit: limit)
        }
        guard checkSize(entry.value.count, limit: limit, of: entry, noun: "item", plural: "items") else { return nil }
        if entry.value.count == 0 {
            report(
                .emptyList, "`for-each` has no items, so nothing runs", at: entry.value, severity: .warning,
                fix: .init("add items, or remove the step"))
        }
        let values = decodeValues(entry.value, what: "an item of `for-each`")
        let combinations = values.map { [Variable(name: name, value: $0.text)] }
        return FanOut(
            axes: [name], instances: named(combinations, axisCount: 1, label: label), label: label, limit: limit,
            range: entry.key.range)
    }

    /// `for-each: ${{ … }}`: only the run knows the items.
    private mutating func decodeDynamicLoop(
        _ entry: MappingReader.Entry, variable: String, label: Template?, limit: Int
    ) -> FanOut? {
        let value = entry.value
        guard value.kind == .scalar, isExpression(value) else {
            let text = value.text
            let isBare = value.type == .string && Self.looksLikeExpression(text)
            reportType(
                entry, expected: "a list of texts, or one expression in `${{ }}`",
                fix: isBare ? replacing(value, by: Self.braced(text)) : nil)
            return nil
        }
        guard let items = expression(value) else { return nil }
        return FanOut(
            axes: [variable], instances: [], items: items, label: label, limit: limit, range: entry.key.range)
    }

    // MARK: matrix

    private mutating func decodeMatrix(_ entry: MappingReader.Entry, label: Template?, limit: Int) -> FanOut? {
        guard entry.value.kind == .mapping else {
            reportType(entry, expected: "a mapping of axes to lists of values")
            return nil
        }
        if document.hasExpressions, let fanOut = computedMatrix(entry, label: label, limit: limit) { return fanOut }
        var matrix = FanOutExpansion()
        var (include, exclude): (MappingReader.Entry?, MappingReader.Entry?)
        var isComplete = true
        // The axes so far, in lower case.
        var twins: [String: String] = [:]
        for (key, value) in entry.value.entries {
            let axis = MappingReader.Entry(key: key, value: value)
            switch key.text {
            case "include": include = axis
            case "exclude": exclude = axis
            default:
                if let axis = decodeAxis(axis, twins: &twins) {
                    matrix.axes.append(axis)
                } else {
                    isComplete = false
                }
            }
        }
        // An invalid axis would make every exclusion of it invalid as well.
        guard isComplete else { return nil }
        let size = matrix.axes.reduce(matrix.axes.isEmpty ? 0 : 1) { size, axis in
            let product = size.multipliedReportingOverflow(by: axis.values.count)
            return product.overflow ? .max : product.partialValue
        }
        let rows = include?.value.count ?? 0
        guard checkSize(size.addingReportingOverflow(rows).overflow ? .max : size + rows, limit: limit, of: entry)
        else {
            return nil
        }
        if let exclude { matrix.exclude = decodeExclude(exclude, axes: matrix.axes) }
        if let include { matrix.include = decodeInclude(include) }
        guard checkWork(matrix, size: size, of: entry) else { return nil }
        let combinations = matrix.expand()
        if combinations.isEmpty {
            report(
                .emptyList, "the matrix is empty, so nothing runs", at: entry.key, severity: .warning,
                fix: .init("add an axis, or exclude less"))
        }
        return FanOut(
            axes: matrix.axes.map(\.name),
            instances: named(combinations, axisCount: matrix.axes.count, label: label), label: label, limit: limit,
            range: entry.key.range)
    }

    /// Returns a matrix with expressions in its axes, which is nil after a finding about it. Nil for any other.
    private mutating func computedMatrix(_ entry: MappingReader.Entry, label: Template?, limit: Int) -> FanOut?? {
        let axes = entry.value.entries.filter { $0.key.text != "include" && $0.key.text != "exclude" }
        guard axes.contains(where: { hasExpression($0.value) }) else { return nil }
        let found = findings.count
        for axis in axes { checkVariable(axis.key.text, at: axis.key.range) }
        let part = computedMatrix(entry.value)
        guard findings.count == found else { return .some(nil) }
        guard let value = part else { return nil }
        let names = axes.map(\.key.text)
        var included: [String] = []
        for (key, value) in entry.value.entries where key.text == "include" {
            for name in value.elements.flatMap({ $0.entries.map(\.key.text) })
            where !names.contains(name) && !included.contains(name) {
                included.append(name)
            }
        }
        hasComputedSettings = true
        var setting = ComputedSetting(
            key: .matrix, place: .step, value: value, range: entry.value.range, isInside: false)
        setting.rest = "max-items: \(limit)\n"
        return FanOut(setting, axes: names, included: included, label: label, limit: limit, at: entry.key.range)
    }

    private mutating func decodeAxis(
        _ entry: MappingReader.Entry, twins: inout [String: String]
    ) -> FanOutExpansion.Axis? {
        let name = entry.key.text
        checkVariable(name, at: entry.key.range)
        if let twin = twins.updateValue(name, forKey: name.lowercased()) {
            report(
                .lookAlike, "the axes `\(twin)` and `\(name)` differ only in capital letters", at: entry.key,
                severity: .warning, fix: .init("give one of them another name"))
        }
        guard entry.value.kind == .sequence else {
            reportType(
                entry, expected: "a list of values",
                fix: entry.value.kind == .scalar && entry.value.isPlain && !entry.value.isNull
                    ? replacing(entry.value, by: "[\(entry.value.text)]") : nil)
            return nil
        }
        guard entry.value.count > 0 else {
            report(
                .emptyList, "the axis \(Phrase.quoted(name)) has no values, so the matrix would be empty",
                at: entry.value,
                fix: .init("add a value, or remove the axis"))
            return nil
        }
        let values = decodeValues(entry.value, what: "a value of an axis")
        return values.isEmpty ? nil : FanOutExpansion.Axis(name: name, range: entry.key.range, values: values)
    }

    /// The scalars of a list, each at most once.
    private mutating func decodeValues(_ list: YAMLNode, what: String) -> [FanOutExpansion.Value] {
        var values: [FanOutExpansion.Value] = []
        var places: [String: SourceRange] = [:]
        for element in list.elements {
            guard element.kind == .scalar, !element.isNull else {
                if element.kind != .invalid {
                    let range = element.range.start == element.range.end ? list.range : element.range
                    report(.wrongType, "\(what) is a text, found \(found(element))", at: range)
                }
                continue
            }
            let text = element.text
            if let first = places[text] {
                report(
                    .duplicateItem, "\(Phrase.quoted(text)) is in the list twice", at: element,
                    notes: [.init("the first one is here", at: first)], fix: .init("remove one of the two"))
                continue
            }
            places[text] = element.range
            values.append(FanOutExpansion.Value(text: text, isQuoted: element.type == .string, range: element.range))
        }
        return values
    }

    /// Reports a name that no variable of a step can have, or that changes how programs behave.
    mutating func checkVariable(_ name: String, at range: SourceRange) {
        if !VariableName.isValid(name) {
            reportVariableName(name, at: range)
        } else if VariableName.isListenedTo(name) {
            report(
                .reservedEnvironmentName, "`\(name)` is a variable that changes how programs behave", at: range,
                fix: .init("choose another name"))
        } else if VariableName.isOfExpressions(name) {
            report(
                .reservedEnvironmentName, "`\(name)` has a meaning of its own in expressions", at: range,
                fix: .init("choose another name"))
        }
    }

    mutating func reportVariableName(_ name: String, at range: SourceRange) {
        report(
            .invalidEnvironmentName, "\(Phrase.quoted(name)) cannot name a variable", at: range,
            fix: .init("use letters, digits and `_`, with no digit first"))
    }

    private mutating func checkSize(
        _ size: Int, limit: Int, of entry: MappingReader.Entry, noun: String = "copy", plural: String = "copies"
    ) -> Bool {
        guard size > limit else { return true }
        let found = size == .max ? "more copies than can be counted" : size.counted(noun, plural: plural)
        let isRaisable = size <= FanOut.largestLimit
        report(
            .fanOutTooLarge, "\(Phrase.quoted(entry.key.text)) makes \(found), more than the limit of \(limit)",
            at: entry.key,
            fix: .init(
                isRaisable
                    ? "write `max-items: \(size)` if that many are meant"
                    : "make it smaller; no fan-out may have more than \(FanOut.largestLimit)"))
        return false
    }

    /// Limits the work: `include` and `exclude` are compared with every combination, each of which has a value for
    /// every axis.
    private mutating func checkWork(_ matrix: FanOutExpansion, size: Int, of entry: MappingReader.Entry) -> Bool {
        let rules = matrix.include.count + matrix.exclude.count
        let (what, work, remedy) =
            size * rules > FanOutExpansion.workLimit
            ? (rules.counted("rule"), "compare", "write fewer `include` and `exclude` entries")
            : (matrix.axes.count.counted("value") + " in each", "make", "write fewer axes")
        guard size * max(rules, matrix.axes.count) > FanOutExpansion.workLimit else { return true }
        report(
            .fanOutTooLarge, "the matrix has \(size.counted("combination")) and \(what), too many to \(work)",
            at: entry.key, fix: .init(remedy))
        return false
    }
}

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
            // Half a rule would exclude more than intended.
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
        // A list that was given need not have it, and its values are texts.
        if document.isComputed { return Variable(name: name, value: text) }
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
                    """
                    an entry of \(Phrase.quoted(entry.key.text)) is a mapping from axes to values, found \
                    \(found(element))
                    """,
                    at: range)
            }
            return false
        }
    }
}
