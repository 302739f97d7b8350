/// The UTF-8 sequence at one offset of bytes that may be ill-formed.
package enum UTF8Sequence: Equatable {
    case scalar(UInt32, length: Int)
    /// The longest start of a well-formed sequence (or one byte) that is not continued as it should be; becomes one
    /// U+FFFD.
    case illFormed(length: Int)
    /// Like `illFormed`, but the bytes end there: with more bytes it could be a scalar.
    case incomplete(length: Int)

    /// U+FFFD in UTF-8.
    package static var replacement: StaticString { "\u{FFFD}" }

    /// The number of bytes that it covers; at least 1.
    package var length: Int {
        switch self {
        case .scalar(_, let length), .illFormed(let length), .incomplete(let length): length
        }
    }

    /// Reads the sequence at `offset`, which must be inside `bytes`. Follows table 3-7 of the Unicode standard: no
    /// overlong forms, no surrogates.
    package init(in bytes: UnsafeRawBufferPointer, at offset: Int) {
        let first = bytes[offset]
        var second: ClosedRange<UInt8> = 0x80...0xBF
        let length: Int
        var scalar: UInt32
        switch first {
        case ..<0x80:
            self = .scalar(UInt32(first), length: 1)
            return
        case 0xC2...0xDF: (length, scalar) = (2, UInt32(first & 0x1F))
        case 0xE0...0xEF:
            (length, scalar) = (3, UInt32(first & 0x0F))
            if first == 0xE0 { second = 0xA0...0xBF }
            if first == 0xED { second = 0x80...0x9F }
        case 0xF0...0xF4:
            (length, scalar) = (4, UInt32(first & 0x07))
            if first == 0xF0 { second = 0x90...0xBF }
            if first == 0xF4 { second = 0x80...0x8F }
        default:
            self = .illFormed(length: 1)
            return
        }
        for index in 1..<length {
            guard offset + index < bytes.count else {
                self = .incomplete(length: index)
                return
            }
            let byte = bytes[offset + index]
            guard (index == 1 ? second : 0x80...0xBF).contains(byte) else {
                self = .illFormed(length: index)
                return
            }
            scalar = scalar << 6 | UInt32(byte & 0x3F)
        }
        self = .scalar(scalar, length: length)
    }

    /// Returns the four bytes from `offset` on, the first one lowest, padded with zeros at the end of `bytes`.
    @inline(__always)
    package static func word(of bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt32 {
        if offset &+ 4 <= bytes.count {
            return UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        }
        return bytes[offset...].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Returns the length of the well-formed scalar that begins with the lowest byte of `word`; 0 if there is none,
    /// or if it is ASCII or a control character (C1).
    @inline(__always)
    package static func lengthOfText(_ word: UInt32) -> Int {
        if word & 0xC0C0F0 == 0x80_80E0 {
            // No overlong forms (E0 80...9F), no surrogates (ED A0...BF).
            let critical = word & 0x200F
            return critical == 0 || critical == 0x200D ? 0 : 3
        }
        if word & 0xC0E0 == 0x80C0 {
            return word & 0x1F > 2 || word & 0x201F == 0x2002 ? 2 : 0
        }
        guard word & 0xC0C0_C0F8 == 0x8080_80F0 else { return 0 }
        // From F0 90 to F4 8F.
        let critical = (word & 7) << 2 | word >> 12 & 3
        return critical >= 1 && critical <= 16 ? 4 : 0
    }

    @inline(__always)
    static func isLineSeparator(_ word: UInt32) -> Bool { word & 0xFE_FFFF == 0xA8_80E2 }
}
