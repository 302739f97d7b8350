internal import Glibc

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
        guard let start = digits.baseAddress else { return }
        var words = (Self.digits(UInt32(truncatingIfNeeded: self >> 32)), Self.digits(UInt32(truncatingIfNeeded: self)))
        _ = withUnsafeBytes(of: &words) { memcpy(start, $0.baseAddress! + (16 - digits.count), digits.count) }
    }

    /// Returns the eight hexadecimal digits of a number as ASCII, the first one in the lowest byte.
    static func digits(_ number: UInt32) -> UInt64 {
        // Each byte into two, then its high half before its low half.
        var bytes = UInt64(number.byteSwapped)
        bytes = (bytes | bytes << 16) & 0x0000_FFFF_0000_FFFF
        bytes = (bytes | bytes << 8) & 0x00FF_00FF_00FF_00FF
        let halves = bytes >> 4 & 0x000F_000F_000F_000F | (bytes & 0x000F_000F_000F_000F) << 8
        let letters = (halves &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return (halves &+ 0x3030_3030_3030_3030 &+ letters &* 0x27).littleEndian
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
