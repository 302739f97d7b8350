extension StringProtocol {
    /// Without the blanks and tabs at both ends.
    var trimmed: String {
        let isKept: (Character) -> Bool = { !$0.isWhitespace }
        guard let start = firstIndex(where: isKept), let end = lastIndex(where: isKept) else { return "" }
        return String(self[start...end])
    }

    var isBlank: Bool { allSatisfy(\.isWhitespace) }

    /// The words between blanks.
    var words: [String] { Substring(self).split(whereSeparator: \.isWhitespace).map(String.init) }

    /// The two parts around the first `separator`; nil if there is none.
    func cut(at separator: String) -> (before: String, after: String)? {
        guard let range = firstRange(of: separator) else { return nil }
        return (String(self[..<range.lowerBound]), String(self[range.upperBound...]))
    }
}

extension Array where Element == String {
    /// A list for people: `a`, `b` and `c`.
    var enumerated: String {
        switch count {
        case 0, 1: first ?? ""
        default: dropLast().joined(separator: ", ") + " and " + (last ?? "")
        }
    }
}

extension Array where Element: Hashable {
    /// Each element once, where it stands first.
    var unique: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
