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

extension String {
    /// The text as a word that a POSIX shell takes literally: unchanged if it has no special characters, otherwise in
    /// single quotes.
    package var shellWord: String {
        let isPlain =
            !isEmpty
            && utf8.allSatisfy { byte in
                byte >= 0x80 || (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10
                    || "_-./,:@%+".utf8.contains(byte)
            }
        guard !isPlain else { return self }
        return "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }
}

extension Int {
    /// `1 step`, `2 steps`; `plural` is nil for a noun that takes an s.
    package func counted(_ noun: String, plural: String? = nil) -> String {
        "\(self) \(self == 1 ? noun : plural ?? "\(noun)s")"
    }
}
