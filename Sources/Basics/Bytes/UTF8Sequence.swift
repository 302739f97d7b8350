/// What stands at one offset of bytes that may be UTF-8.
package enum UTF8Sequence: Equatable {
    case scalar(UInt32, length: Int)
    /// The longest start of a well-formed sequence (or one byte) that does not go on as it should; becomes one U+FFFD.
    case illFormed(length: Int)
    /// As `illFormed`, but the bytes ended there: with more bytes it could be a scalar.
    case incomplete(length: Int)

    /// U+FFFD in UTF-8.
    package static var replacement: StaticString { "\u{FFFD}" }

    /// How many bytes it covers; at least 1.
    package var length: Int {
        switch self {
        case .scalar(_, let length), .illFormed(let length), .incomplete(let length): length
        }
    }

    /// `offset` lies inside `bytes`. Follows table 3-7 of the Unicode standard: no overlong forms, no surrogates.
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

    /// The length of the well-formed scalar that begins with the byte at `offset`, which is not ASCII; 0 where there is
    /// none, where it is a control character (C1), or where the bytes end too early.
    @inline(__always)
    package static func lengthOfText(in bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        let first = bytes[offset]
        let left = bytes.count &- offset
        guard first >= 0xC2, first <= 0xF4, left > 1 else { return 0 }
        let second = bytes[offset &+ 1]
        guard second & 0xC0 == 0x80 else { return 0 }
        if first < 0xE0 { return first > 0xC2 || second >= 0xA0 ? 2 : 0 }
        guard left > 2, bytes[offset &+ 2] & 0xC0 == 0x80 else { return 0 }
        if first < 0xF0 {
            // No overlong forms, no surrogates.
            return first == 0xE0 && second < 0xA0 || first == 0xED && second >= 0xA0 ? 0 : 3
        }
        guard left > 3, bytes[offset &+ 3] & 0xC0 == 0x80 else { return 0 }
        return first == 0xF0 && second < 0x90 || first == 0xF4 && second >= 0x90 ? 0 : 4
    }
}
