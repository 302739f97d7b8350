extension StringProtocol {
    /// Without white space at both ends.
    var trimmed: String {
        let isKept: (Character) -> Bool = { !$0.isWhitespace }
        guard let start = firstIndex(where: isKept), let end = lastIndex(where: isKept) else { return "" }
        return String(self[start...end])
    }

    var isBlank: Bool { allSatisfy(\.isWhitespace) }

    /// The words between white space.
    var words: [String] { Substring(self).split(whereSeparator: \.isWhitespace).map(String.init) }

    /// The parts before and after the first `separator`; nil if there is none.
    func cut(at separator: String) -> (before: String, after: String)? {
        guard let range = firstRange(of: separator) else { return nil }
        return (String(self[..<range.lowerBound]), String(self[range.upperBound...]))
    }
}

extension Array where Element == String {
    /// A list in a sentence: `a`, `b` and `c`.
    var enumerated: String {
        switch count {
        case 0, 1: first ?? ""
        default: dropLast().joined(separator: ", ") + " and " + (last ?? "")
        }
    }
}

extension Array where Element: Hashable {
    /// Each element once, at its first position.
    var unique: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
