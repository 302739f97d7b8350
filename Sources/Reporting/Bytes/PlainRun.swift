/// Runs of bytes that can be copied as they are, found eight bytes at a time.
///
/// Each test below sets the high bit of a byte of the word where the byte matches. A borrow can raise false alarms, but
/// only above a true match, so the lowest bit that is set is always right.
enum PlainRun {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    /// The first byte from `start` on that is not printable ASCII.
    static func endOfPrintable(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        scan(bytes, from: start, word: unprintable) { $0 < 0x20 || $0 >= 0x7F }
    }

    /// The first byte from `start` on that cannot stand in a JSON string as it is, or is not printable ASCII.
    static func endOfJSONText(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        scan(bytes, from: start) { word in
            unprintable(word) | equal(word, UInt8(ascii: "\"")) | equal(word, UInt8(ascii: "\\"))
        } byte: { byte in
            byte < 0x20 || byte >= 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
        }
    }

    @inline(__always)
    private static func scan(
        _ bytes: UnsafeRawBufferPointer, from start: Int, word isSpecial: (UInt64) -> UInt64,
        byte isSpecialByte: (UInt8) -> Bool
    ) -> Int {
        var offset = start
        while offset + 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            let special = isSpecial(word) & highs
            if special != 0 { return offset + special.trailingZeroBitCount / 8 }
            offset += 8
        }
        while offset < bytes.count, !isSpecialByte(bytes[offset]) { offset += 1 }
        return offset
    }

    /// Not ASCII, below 0x20, or DEL.
    @inline(__always)
    private static func unprintable(_ word: UInt64) -> UInt64 {
        word | ((word &- ones &* 0x20) & ~word) | equal(word, 0x7F)
    }

    @inline(__always)
    private static func equal(_ word: UInt64, _ byte: UInt8) -> UInt64 {
        let difference = word ^ (ones &* UInt64(byte))
        return (difference &- ones) & ~difference
    }
}
