/// SipHash-2-4 with 128 bits. Without the key, a hash reveals nothing about the content, and no two contents with the
/// same hash can be found.
package struct KeyedHash {
    package struct Key: Sendable {
        let low: UInt64
        let high: UInt64

        /// Makes a key of 16 bytes; nil for any other number.
        package init?(_ bytes: [UInt8]) {
            guard bytes.count == 16 else { return nil }
            (low, high) = (Self.word(bytes[..<8]), Self.word(bytes[8...]))
        }

        private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
            bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64
    /// Bytes that do not fill a word yet, the first one lowest.
    private var tail: UInt64 = 0
    private var count = 0

    package init(key: Key) {
        v0 = key.low ^ 0x736f_6d65_7073_6575
        v1 = key.high ^ 0x646f_7261_6e64_6f6d ^ 0xEE
        v2 = key.low ^ 0x6c79_6765_6e65_7261
        v3 = key.high ^ 0x7465_6462_7974_6573
    }

    package mutating func append(_ byte: UInt8) {
        tail |= UInt64(byte) << UInt64(8 * (count & 7))
        count += 1
        guard count & 7 == 0 else { return }
        compress(tail)
        tail = 0
    }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        let words = bytes.count & ~7
        for offset in stride(from: 0, to: words, by: 8) {
            append(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
        }
        for byte in bytes[words...] { append(byte) }
    }

    /// Appends eight bytes, the lowest first.
    private mutating func append(_ word: UInt64) {
        let filled = UInt64(8 * (count & 7))
        count += 8
        compress(tail | word << filled)
        tail = filled == 0 ? 0 : word >> (64 - filled)
    }

    /// Appends the text with its length, so that two texts in a row differ from one longer text.
    package mutating func append(_ text: String) {
        var text = text
        append(text.utf8.count)
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    package mutating func append(_ number: Int) {
        append(UInt64(bitPattern: Int64(number)))
    }

    /// Returns the digest as 32 hexadecimal digits.
    package consuming func finish() -> String {
        let words = finishWords()
        return String(unsafeUninitializedCapacity: 32) { digits in
            words.first.writeHexadecimal(into: UnsafeMutableBufferPointer(rebasing: digits[..<16]))
            words.second.writeHexadecimal(into: UnsafeMutableBufferPointer(rebasing: digits[16..<32]))
            return 32
        }
    }

    /// Returns the digest as two numbers.
    package consuming func finishWords() -> (first: UInt64, second: UInt64) {
        compress(tail | UInt64(count & 0xFF) << 56)
        v2 ^= 0xEE
        for _ in 0..<4 { round() }
        let first = v0 ^ v1 ^ v2 ^ v3
        v1 ^= 0xDD
        for _ in 0..<4 { round() }
        let second = v0 ^ v1 ^ v2 ^ v3
        return (first.byteSwapped, second.byteSwapped)
    }

    private mutating func compress(_ word: UInt64) {
        v3 ^= word
        round()
        round()
        v0 ^= word
    }

    private mutating func round() {
        v0 &+= v1
        v1 = v1 << 13 | v1 >> 51
        v1 ^= v0
        v0 = v0 << 32 | v0 >> 32
        v2 &+= v3
        v3 = v3 << 16 | v3 >> 48
        v3 ^= v2
        v0 &+= v3
        v3 = v3 << 21 | v3 >> 43
        v3 ^= v0
        v2 &+= v1
        v1 = v1 << 17 | v1 >> 47
        v1 ^= v2
        v2 = v2 << 32 | v2 >> 32
    }
}
