extension FanOut {
    /// Why a value makes no instances: a clause about it, with what would be accepted.
    package struct ItemProblem: Error {
        package let message: String
    }

    /// The instances of a dynamic fan-out, now that its list is known, in the list's order. O(items).
    package func instances(over value: Value) throws(ItemProblem) -> [Instance] {
        guard case .list(let items) = value else {
            throw ItemProblem(message: "is no list but \(value.described)")
        }
        guard items.count <= limit else {
            throw ItemProblem(
                message: "has \(items.count) items, more than the limit of \(limit); "
                    + "write `max-items: \(items.count)` if that many are meant")
        }
        var seen: Set<String> = []
        var combinations: [[Variable]] = []
        for item in items {
            switch item {
            case .string, .int, .bool, .decimal, .object: break
            case .null, .list:
                throw ItemProblem(message: "has \(item.described) as an item; an item is a text, a number or an object")
            }
            let text = item.text
            guard seen.insert(text).inserted else {
                throw ItemProblem(
                    message: "has the item `\(text.prefix(64))` twice; write `unique(…)` around the list to keep one")
            }
            combinations.append([Variable(name: axes.first ?? "item", value: text, typedValue: item)])
        }
        return FanOutExpansion.instances(combinations, axisCount: 1)
    }
}
