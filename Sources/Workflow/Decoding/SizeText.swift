/// Sizes in the form `128MiB`, `1GiB`, `0`.
package enum SizeText {
    package enum Reading: Equatable {
        /// In bytes.
        case size(Int)
        case tooLarge
        /// Not a size; the suggestion is the most likely meaning.
        case invalid(suggestion: String?)
    }

    /// The accepted forms, for messages.
    package static let expected = "a size such as `512KiB`, `64MiB` or `1GiB`"

    private static let units: [(name: String, bytes: Int)] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)]
    /// The largest size, in GiB.
    static let limit = 1024

    package static func read(_ text: String) -> Reading {
        if text == "0" { return .size(0) }
        guard let unit = units.first(where: { text.hasSuffix($0.name) }),
            case let digits = text.utf8.dropLast(unit.name.utf8.count), !digits.isEmpty,
            digits.allSatisfy({ $0 &- 0x30 < 10 })
        else { return .invalid(suggestion: suggestion(for: text)) }
        guard let number = Int(Substring(digits)), number <= limit * units[2].bytes / unit.bytes else {
            return .tooLarge
        }
        return .size(number * unit.bytes)
    }

    /// The size meant by a text with a blank, capitals or another tool's unit.
    private static func suggestion(for text: String) -> String? {
        let text = text.filter { $0 != " " && $0 != "_" }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let letter = text.dropFirst(digits.count).lowercased()
        guard !digits.isEmpty,
            let unit = units.first(where: { unit in
                let first = unit.name.prefix(1).lowercased()
                return [first, first + "b", first + "ib"].contains(letter)
            })
        else { return nil }
        return "\(digits)\(unit.name)"
    }
}
