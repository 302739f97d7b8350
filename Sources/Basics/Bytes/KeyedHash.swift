internal import CVector

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

    @inline(__always)
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

/// Hashes of short texts for tables of names: several times as fast as `Hasher`. The seed is random, so that no file
/// can choose its names to collide.
package enum ByteHash {
    private static let seed = UInt64.random(in: .min ... .max)

    /// One multiplication per eight bytes; the halves of the product are folded into one. O(length).
    package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = seed ^ UInt64(bytes.count)
        var offset = 0
        while offset < bytes.count {
            var word: UInt64 = 0
            if offset + 8 <= bytes.count {
                word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            } else {
                for byte in bytes[offset...] { word = word << 8 | UInt64(byte) }
            }
            let product = (hash ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
            hash = product.high ^ product.low ^ seed
            offset += 8
        }
        return hash
    }

    /// The hash of a text's UTF-8.
    package static func of(_ text: String) -> UInt64 {
        var text = text
        return text.withUTF8 { of(UnsafeRawBufferPointer($0)) }
    }
}

/// The checksum of RFC 3720 (Castagnoli). It finds every error of one to three bits and every burst of up to 32.
package enum CRC32C {
    private static let polynomial: UInt32 = 0x82F6_3B78
    /// Eight tables of 256 entries, one for each position of a byte before the end of a group of eight. Immutable
    /// once made.
    nonisolated(unsafe) private static let tables: UnsafePointer<UInt32> = {
        let tables = UnsafeMutablePointer<UInt32>.allocate(capacity: 8 * 256)
        tables[0] = 0
        // A checksum is linear: that of a byte is the sum of those of its bits.
        var ofBit: UInt32 = 1
        var bit = 128
        while bit > 0 {
            ofBit = ofBit & 1 == 0 ? ofBit >> 1 : ofBit >> 1 ^ polynomial
            for above in stride(from: 0, to: 256, by: 2 * bit) { tables[above + bit] = tables[above] ^ ofBit }
            bit >>= 1
        }
        for index in 256..<8 * 256 {
            let before = tables[index - 256]
            tables[index] = before >> 8 ^ tables[Int(before & 0xFF)]
        }
        return UnsafePointer(tables)
    }()

    package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        guard let start = bytes.baseAddress else { return 0 }
        guard cvector_has_crc32c() else { return byTables(bytes) }
        return ~cvector_crc32c(~0, start.assumingMemoryBound(to: UInt8.self), bytes.count)
    }

    /// The fallback for machines without an instruction for it.
    static func byTables(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        guard let start = bytes.baseAddress else { return 0 }
        let tables = tables
        var crc = ~UInt32(0)
        var offset = 0
        while bytes.count - offset >= 8 {
            let low = UInt32(littleEndian: (start + offset).loadUnaligned(as: UInt32.self)) ^ crc
            let high = UInt32(littleEndian: (start + offset + 4).loadUnaligned(as: UInt32.self))
            crc =
                tables[7 * 256 + Int(low & 0xFF)] ^ tables[6 * 256 + Int(low >> 8 & 0xFF)]
                ^ tables[5 * 256 + Int(low >> 16 & 0xFF)] ^ tables[4 * 256 + Int(low >> 24)]
            crc ^=
                tables[3 * 256 + Int(high & 0xFF)] ^ tables[2 * 256 + Int(high >> 8 & 0xFF)]
                ^ tables[256 + Int(high >> 16 & 0xFF)] ^ tables[Int(high >> 24)]
            offset += 8
        }
        while offset < bytes.count {
            crc = crc >> 8 ^ tables[Int((crc ^ UInt32(bytes[offset])) & 0xFF)]
            offset += 1
        }
        return ~crc
    }

    /// Returns the checksum of bytes as eight hexadecimal digits.
    package static func digits(of bytes: some Collection<UInt8>) -> String {
        let crc = bytes.withContiguousStorageIfAvailable { of(UnsafeRawBufferPointer($0)) }
        return digits(crc ?? Array(bytes).withUnsafeBytes(of))
    }

    /// Returns a checksum as eight hexadecimal digits.
    package static func digits(_ crc: UInt32) -> String { UInt64(crc).hexadecimal(digits: digitCount) }

    package static let digitCount = 8
}
