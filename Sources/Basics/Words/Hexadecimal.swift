extension UInt64 {
    /// Its last `count` hexadecimal digits, 16 at most, in lower case, with zeros in front.
    /// `String(_:radix:)` is generic code, which costs a small run more than all that the run writes with it.
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

    /// Whether text consists of its last hexadecimal digits, as `hexadecimal` writes them.
    package func isHexadecimal(_ text: UnsafeRawBufferPointer) -> Bool {
        text.indices.allSatisfy { text[$0] == hexadecimalDigit(at: text.count - 1 - $0) }
    }

    /// The digit that so many others follow.
    private func hexadecimalDigit(at place: Int) -> UInt8 {
        let digit = UInt8(truncatingIfNeeded: self >> UInt64(4 * place)) & 15
        return digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
    }
}
