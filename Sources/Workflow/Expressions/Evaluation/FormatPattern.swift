/// The pattern of `format`: `{0}` is the first value after it; `{{` and `}}` are braces.
package enum FormatPattern {
    package struct SyntaxError: Error {
        package let message: String
    }

    /// Returns the pattern with texts in place of its numbers. O(length of both).
    package static func fill(_ pattern: String, with values: [String]) throws(SyntaxError) -> String {
        var result: [UInt8] = []
        var rest = Array(pattern.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "{"):
                if rest.first == byte {
                    rest.removeFirst()
                    result.append(byte)
                    continue
                }
                let digits = rest.prefix { $0 &- 0x30 < 10 }
                rest = rest.dropFirst(digits.count)
                guard rest.popFirst() == UInt8(ascii: "}"), !digits.isEmpty else {
                    throw SyntaxError(message: "a `{` in a pattern is followed by a number and `}`, or written twice")
                }
                guard let number = Int(String(decoding: digits, as: UTF8.self)), number < values.count else {
                    throw SyntaxError(
                        message: "the pattern names value \(String(decoding: digits, as: UTF8.self)), counted from 0, "
                            + "and there are \(values.count)")
                }
                result += values[number].utf8
            case UInt8(ascii: "}"):
                guard rest.popFirst() == byte else {
                    throw SyntaxError(message: "a `}` in a pattern that closes nothing is written twice")
                }
                result.append(byte)
            default: result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
