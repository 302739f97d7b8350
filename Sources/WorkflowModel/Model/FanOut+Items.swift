extension FanOut {
    /// Why a value makes no instances: a clause about it, with what would be accepted.
    package struct ItemProblem: Error {
        package let message: String
    }

    /// The instances of a dynamic fan-out, now that its list is known, in the list's order. O(items).
    ///
    /// An instance whose item `isHidden` is named by its number, because its name stands in every log; for the same
    /// reason no message shows an item.
    package func instances(
        over value: Value, isHidden: (String) -> Bool = { _ in false }
    ) throws(ItemProblem) -> [Instance] {
        guard case .list(let items) = value else {
            throw ItemProblem(message: "is no list but \(value.described)")
        }
        guard items.count <= limit else {
            throw ItemProblem(
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
                throw ItemProblem(message: "has \(item.described) as an item; an item is a text, a number or an object")
            }
            let text = item.text
            if let first = seen.updateValue(index, forKey: Array(text.utf8)) {
                let numbers = "as number \(first + 1) and number \(index + 1); "
                throw ItemProblem(
                    message: items[first].json == item.json
                        ? "has one item twice, \(numbers)write `unique(…)` around the list to keep one"
                        : "has two items of the same text, \(numbers)copies are told apart by it")
            }
            combinations.append([Variable(name: axes.first ?? "item", value: text, typedValue: item)])
        }
        return FanOutExpansion.instances(combinations, axisCount: 1, isHidden: isHidden)
    }
}
