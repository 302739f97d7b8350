/// A step as people are shown it: its id, and behind it its `name` where that says more.
enum StepTitle {
    static func words(_ id: String, name: String?) -> String {
        guard let name, says(name, moreThan: id) else { return id }
        return "\(id) (\(name))"
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
