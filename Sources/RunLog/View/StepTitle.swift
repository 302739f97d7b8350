/// A step as people are shown it: its id, and behind it the values that its number stands for and its `name`, where
/// they say more.
enum StepTitle {
    static func words(_ id: String, name: String?, item: String? = nil) -> String {
        let name = name.flatMap { says($0, moreThan: id) ? $0 : nil }
        let parts = [InstanceValues.words(id, item: item), name].compactMap(\.self)
        return parts.isEmpty ? id : "\(id) (\(parts.joined(separator: ": ")))"
    }

    /// `Run tests` says no more than `ci.run-tests`, nor than one of its copies.
    private static func says(_ name: String, moreThan id: String) -> Bool {
        let outside = id.last == "]" ? id[..<(id.lastIndex(of: "[") ?? id.endIndex)] : id[...]
        let own = outside.lastIndex(of: ".").map { outside[outside.index(after: $0)...] } ?? outside
        return letters(name[...]) != letters(own)
    }

    private static func letters(_ text: Substring) -> String {
        String(text.lowercased().filter { $0.isLetter || $0.isNumber })
    }
}
