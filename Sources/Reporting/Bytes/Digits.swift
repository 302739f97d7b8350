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
            append(contentsOf: UnsafeBufferPointer(rebasing: digits[start...]))
        }
    }
}

extension [UInt8] {
    /// Appends the lowest `digits` hexadecimal digits of `number`, in lower case.
    mutating func appendHexadecimal(_ number: UInt32, digits: Int) {
        for place in stride(from: digits - 1, through: 0, by: -1) {
            let digit = UInt8(truncatingIfNeeded: number >> UInt32(4 * place) & 0xF)
            append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}
