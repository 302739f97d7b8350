internal import CVector

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
