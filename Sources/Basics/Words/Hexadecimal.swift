extension UInt64 {
    /// Returns its last `count` hexadecimal digits, at most 16, in lower case, with leading zeros. `String(_:radix:)`
    /// is generic code that costs a small run more than all that is written with it.
    package func hexadecimal(digits count: Int) -> String {
        String(unsafeUninitializedCapacity: count) { digits in
            writeHexadecimal(into: UnsafeMutableBufferPointer(rebasing: digits[..<count]))
            return count
        }
    }

    /// Fills a buffer of at most 16 bytes with its last hexadecimal digits.
    func writeHexadecimal(into digits: UnsafeMutableBufferPointer<UInt8>) {
        var rest = self
        for place in digits.indices.reversed() {
            digits[place] = rest.hexadecimalDigit(at: 0)
            rest >>= 4
        }
    }

    /// True if `text` consists of its last hexadecimal digits, as `hexadecimal` writes them.
    package func isHexadecimal(_ text: UnsafeRawBufferPointer) -> Bool {
        text.indices.allSatisfy { text[$0] == hexadecimalDigit(at: text.count - 1 - $0) }
    }

    /// The digit at a position, counted from the last digit, which has position 0.
    private func hexadecimalDigit(at place: Int) -> UInt8 {
        let digit = UInt8(truncatingIfNeeded: self >> UInt64(4 * place)) & 15
        return digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
    }
}
