package import Syntax

/// A `matrix` or `for-each`: its instances, or the expression that yields their list.
package struct FanOut: Sendable {
    /// The names of the axes, or the one loop variable, in file order.
    package let axes: [String]
    /// Already expanded and checked against the size limit; empty if `items` is set.
    package let instances: [Instance]
    /// The list that only the run knows; nil if the file lists the instances.
    package let items: Expression?
    /// A matrix with expressions in its axes, which has its instances before the first step; nil for any other.
    package private(set) var matrix: ComputedSetting?
    /// The further variables that `include` adds to some instances of such a matrix.
    package private(set) var included: [String] = []
    /// The template that names the instances; nil if their values do.
    package let label: Template?
    /// True if `if` belongs to each instance, because it reads a variable of the fan-out.
    package internal(set) var decidesCopies = false
    /// The largest number of instances: `max-items`, or its default.
    package let limit: Int
    /// The place of `matrix` or `for-each`.
    package let range: SourceRange

    package init(
        axes: [String], instances: [Instance], items: Expression? = nil, label: Template? = nil,
        limit: Int = FanOut.defaultLimit, range: SourceRange
    ) {
        self.axes = axes
        self.instances = instances
        self.items = items
        self.label = label
        self.limit = limit
        self.range = range
    }

    /// A matrix with expressions in its axes.
    init(
        _ matrix: ComputedSetting, axes: [String], included: [String], label: Template?, limit: Int,
        at range: SourceRange
    ) {
        self.init(axes: axes, instances: [], label: label, limit: limit, range: range)
        (self.matrix, self.included) = (matrix, included)
    }

    /// Returns the fan-out with instances in place of the list that only a run would know.
    package func with(_ instances: [Instance]) -> FanOut {
        var fanOut = FanOut(axes: axes, instances: instances, label: label, limit: limit, range: range)
        fanOut.decidesCopies = decidesCopies
        return fanOut
    }

    /// True if an expression reads a variable of the instances.
    func has(aVariableOf expression: Expression) -> Bool {
        let references = expression.references
        guard !references.isEmpty else { return false }
        var names = Set(axes + included)
        for instance in instances {
            for variable in instance.variables.dropFirst(axes.count) { names.insert(variable.name) }
        }
        return references.contains { names.contains($0.root) }
    }

    /// True if the file does not list the instances.
    package var isDynamic: Bool { items != nil || matrix != nil }

    /// The largest number of instances without `max-items`.
    package static let defaultLimit = 1000
    /// The largest value of `max-items`.
    package static let largestLimit = WorkflowKey.maxItems.definition.range.upperBound

    /// One instance of the node.
    package struct Instance: Sendable {
        /// The text in the brackets of the id: the values in axis order or the label, or the index if these would be
        /// hard to read.
        package let key: String
        /// In axis order, then those that `include` adds. The text is that of the scalar, so `3.10` stays `3.10`.
        package let variables: [Variable]

        package init(key: String, variables: [Variable]) {
            self.key = key
            self.variables = variables
        }
    }
}

/// A loop variable or axis with its value; an environment variable of the step under its own name.
package struct Variable: Sendable, Hashable {
    package let name: String
    /// The value of the environment variable; an object or list is compact JSON.
    package let value: String
    /// The value in expressions.
    package let typedValue: Value

    package init(name: String, value: String, typedValue: Value) {
        self.name = name
        self.value = value
        self.typedValue = typedValue
    }

    /// A variable that expressions see as a text.
    package init(name: String, value: String) { self.init(name: name, value: value, typedValue: .string(value)) }
}

extension FanOut {
    /// The reason why a value makes no instances: a clause about it, with what would be accepted.
    package struct ItemError: Error {
        package let message: String
    }

    /// Returns the instances of a dynamic fan-out for its list, in the order of the list. O(items).
    ///
    /// If `isHidden` is true for the item or label of an instance, the instance is named by its number, because its
    /// name is in every log; for the same reason no message shows an item.
    package func instances(
        over value: Value, isHidden: (String) -> Bool = { _ in false }
    ) throws(ItemError) -> [Instance] {
        guard case .list(let items) = value else {
            throw ItemError(message: "is not a list but \(value.described)")
        }
        guard items.count <= limit else {
            throw ItemError(
                message: "has \(items.count) items, more than the limit of \(limit); "
                    + "write `max-items: \(items.count)` if that many are meant")
        }
        // By bytes: texts that Unicode considers equal are different items.
        var seen: [[UInt8]: Int] = [:]
        var combinations: [[Variable]] = []
        for (index, item) in items.enumerated() {
            switch item {
            case .string, .int, .bool, .decimal, .object: break
            case .null, .list:
                throw ItemError(message: "has \(item.described) as an item; an item is a text, a number or an object")
            }
            let text = item.text
            if let first = seen.updateValue(index, forKey: Array(text.utf8)) {
                let numbers = "as number \(first + 1) and number \(index + 1); "
                throw ItemError(
                    message: items[first].json == item.json
                        ? "has one item twice, \(numbers)write `unique(…)` around the list to keep one"
                        : "has two items of the same text, \(numbers)copies are told apart by it")
            }
            combinations.append([Variable(name: axes.first ?? "item", value: text, typedValue: item)])
        }
        return try FanOut.named(combinations, axisCount: 1, label: label, isHidden: isHidden)
    }

    /// Gives each combination of variables its name. Throws if a label has no value.
    static func named(
        _ combinations: [[Variable]], axisCount: Int, label: Template?, isHidden: (String) -> Bool = { _ in false }
    ) throws(ItemError) -> [Instance] {
        let names = try combinations.map { variables throws(ItemError) -> [String]? in
            let values = try name(variables, axisCount: axisCount, label: label)
            return isHidden(values.joined(separator: ",")) ? nil : values
        }
        return zip(InstanceNames.keys(names, areLabels: label != nil), combinations).map {
            Instance(key: $0, variables: $1)
        }
    }

    private static func name(
        _ variables: [Variable], axisCount: Int, label: Template?
    ) throws(ItemError) -> [String] {
        guard let label else {
            // A matrix of `include` alone has only those values.
            return variables.prefix(axisCount > 0 ? axisCount : variables.count).map(\.value)
        }
        do throws(EvaluationError) {
            return [try label.evaluate(in: VariableScope(variables: variables))]
        } catch {
            throw ItemError(message: "has an item whose `label` has no value: \(error.message)")
        }
    }
}

/// A scope in which only the variables of one instance have values.
private struct VariableScope: ExpressionScope {
    let variables: [Variable]

    func value(of name: String) -> Value? { variables.last { $0.name == name }?.typedValue }
    func shared(_ name: String) throws(EvaluationError) -> Value? { nil }
    func run(_ field: String?) -> Value? { nil }
    func step(_ id: String, _ field: String?) -> Value? { nil }
    func previous(_ field: String?) -> Value? { nil }
    func status(_ function: StatusFunction) -> Bool { false }

    func files(matching patterns: [String]) throws(EvaluationError) -> [String] { throw Self.noFiles }
    func exists(_ path: String) throws(EvaluationError) -> Bool { throw Self.noFiles }
    func hash(files patterns: [String]) throws(EvaluationError) -> String { throw Self.noFiles }

    private static let noFiles = EvaluationError("a `label` reads no files", at: .beginning)
}

/// The text in the brackets of an instance's id: its values in axis order, or its label.
///
/// An instance whose values would be hard to read or to type has its number instead; if two would have the same name,
/// all instances of the fan-out have their numbers.
struct InstanceNames {
    /// The largest length of a value that serves as a name, in characters.
    static let lengthLimit = 64

    /// `names` are the values of each instance; nil for one that must not be shown. A label may have blanks inside,
    /// because it is written to be read.
    static func keys(_ names: [[String]?], areLabels: Bool = false) -> [String] {
        let keys = names.enumerated().map { index, values in
            guard let values, !values.isEmpty, values.allSatisfy({ isShown($0, mayHaveBlanks: areLabels) }) else {
                return String(index)
            }
            return values.joined(separator: ",")
        }
        return Set(keys).count == keys.count ? keys : keys.indices.map(String.init)
    }

    /// True if a value is shown as it is: printable, without blank, bracket, comma, quote or backslash, not too long.
    static func isShown(_ text: String, mayHaveBlanks: Bool = false) -> Bool {
        guard !text.isEmpty, text.utf8.count <= 4 * lengthLimit, text.unicodeScalars.count <= lengthLimit else {
            return false
        }
        let blank = UInt8(ascii: " ")
        guard text.utf8.first != blank, text.utf8.last != blank else { return false }
        let first: UInt32 = mayHaveBlanks ? 0x20 : 0x21
        return text.unicodeScalars.allSatisfy { scalar in
            if scalar.isASCII { return scalar.value >= first && scalar.value < 0x7F && !refused.contains(scalar) }
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
                .spaceSeparator:
                return false
            default: return true
            }
        }
    }

    private static let refused: Set<Unicode.Scalar> = ["[", "]", "(", ")", "{", "}", ",", "'", "\"", "`", "\\"]
}
