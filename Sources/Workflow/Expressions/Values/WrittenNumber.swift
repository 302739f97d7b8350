/// A number with the spelling of a JSON text: `1.10` stays `1.10`, and `1e400` is as good a number as 1.
package struct WrittenNumber: Sendable, Hashable {
    /// In JSON's grammar.
    package let text: String

    package init(_ text: String) { self.text = text }

    /// The result of arithmetic. The number is finite.
    package init(_ number: Double) { text = number.description }

    /// The nearest `Double`; infinite beyond its range.
    package var approximation: Double { Double(text) ?? .nan }

    /// Returns a number below, equal to or above 0 if this is less than, equal to or more than another, exactly.
    /// O(length of both).
    func order(against other: WrittenNumber) -> Int {
        let (left, right) = (Parts(text), Parts(other.text))
        guard left.sign == right.sign else { return left.sign < right.sign ? -1 : 1 }
        return left.sign * left.magnitudeOrder(against: right)
    }

    /// ± 0.DIGITS times ten to the power of the exponent, without zeros at either end of the digits.
    private struct Parts {
        /// 0 for zero, whatever its spelling.
        var sign = 1
        var digits: [UInt8] = []
        var exponent = 0

        init(_ text: String) {
            var rest = text.utf8[...]
            let isNegative = rest.first == UInt8(ascii: "-")
            if isNegative { rest = rest.dropFirst() }
            var isFraction = false
            while let byte = rest.popFirst() {
                if byte == UInt8(ascii: ".") {
                    isFraction = true
                } else if byte &- 0x30 < 10 {
                    // Leading zeros move the point, or mean nothing.
                    if !digits.isEmpty || byte != 0x30 { digits.append(byte) }
                    if isFraction, digits.isEmpty { exponent -= 1 }
                    if !isFraction, !digits.isEmpty { exponent += 1 }
                } else {
                    exponent += Self.exponent(rest)
                    break
                }
            }
            while digits.last == 0x30 { digits.removeLast() }
            sign = digits.isEmpty ? 0 : isNegative ? -1 : 1
        }

        /// An exponent that is too large for an `Int` becomes one that no number of digits can make up for.
        private static func exponent(_ text: Substring.UTF8View) -> Int {
            let limit = 1 << 40
            let isNegative = text.first == UInt8(ascii: "-")
            return Int(String(Substring(text))).map { max(-limit, min(limit, $0)) } ?? (isNegative ? -limit : limit)
        }

        func magnitudeOrder(against other: Parts) -> Int {
            if exponent != other.exponent { return exponent < other.exponent ? -1 : 1 }
            if digits == other.digits { return 0 }
            return digits.lexicographicallyPrecedes(other.digits) ? -1 : 1
        }
    }
}
