extension [UInt8] {
    /// Appends the decimal digits of `number`, with zeros in front up to `padding` digits (at most 20).
    mutating func appendDecimal(_ number: UInt, padding: Int = 1) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var rest = number
            var start = digits.count
            repeat {
                start -= 1
                digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0 || digits.count - start < padding
            append(contentsOf: digits[start...])
        }
    }
}
