/// What is in the brackets of an instance's id: its values in axis order, or its label.
///
/// An instance whose values would be hard to read or to type has its number in their place; where two would have the
/// same name, all of the fan-out have their numbers.
struct InstanceNames {
    /// The longest value that is a name, in characters.
    static let lengthLimit = 64

    /// `names` are the values of each instance, nil for one that must not be seen.
    static func keys(_ names: [[String]?]) -> [String] {
        let keys = names.enumerated().map { index, values in
            guard let values, !values.isEmpty, values.allSatisfy(isShown) else { return String(index) }
            return values.joined(separator: ",")
        }
        return Set(keys).count == keys.count ? keys : keys.indices.map(String.init)
    }

    /// Whether a value is shown as it is: printable, without blank, bracket, comma, quote or backslash, not too long.
    static func isShown(_ text: String) -> Bool {
        guard !text.isEmpty, text.utf8.count <= 4 * lengthLimit, text.unicodeScalars.count <= lengthLimit else {
            return false
        }
        return text.unicodeScalars.allSatisfy { scalar in
            if scalar.isASCII { return scalar.value > 0x20 && scalar.value < 0x7F && !refused.contains(scalar) }
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
