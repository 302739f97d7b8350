package import SourceDiagnostics

/// A `matrix` or `for-each`: the instances it makes, or the expression that will say which.
package struct FanOut: Sendable {
    /// The names of the axes, or the one loop variable, in file order.
    package let axes: [String]
    /// Already expanded and checked against the size limit; empty where `items` says them.
    package let instances: [Instance]
    /// The list that the run will know; nil where the file says the instances.
    package let items: Expression?
    /// How many instances there may be: `max-items`, or its default.
    package let limit: Int
    /// Where `matrix` or `for-each` stands.
    package let range: SourceRange

    package init(
        axes: [String], instances: [Instance], items: Expression? = nil, limit: Int = FanOut.defaultLimit,
        range: SourceRange
    ) {
        self.axes = axes
        self.instances = instances
        self.items = items
        self.limit = limit
        self.range = range
    }

    /// Whether only the run knows the instances.
    package var isDynamic: Bool { items != nil }

    /// How many instances a fan-out may have where `max-items` does not say otherwise.
    package static let defaultLimit = 1000
    /// What `max-items` may say at most.
    package static let largestLimit = 100_000

    /// One copy of the node.
    package struct Instance: Sendable {
        /// What stands in the brackets of the id: the values in axis order, or the index where one of them is no
        /// plain word.
        package let key: String
        /// In axis order, then what `include` adds. The text is the scalar's own, so `3.10` stays `3.10`.
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
    /// As the environment variable has it; an object or list is compact JSON.
    package let value: String
    /// As expressions see it.
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
    /// Why a value makes no instances: a clause about it, with what would be accepted.
    package struct ItemError: Error {
        package let message: String
    }

    /// The instances of a dynamic fan-out, now that its list is known, in the list's order. O(items).
    ///
    /// An instance whose item `isHidden` is named by its number, because its name stands in every log; for the same
    /// reason no message shows an item.
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
        // By their bytes: texts that Unicode takes for the same are not the same item.
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
        return FanOutExpansion.instances(combinations, axisCount: 1, isHidden: isHidden)
    }
}
