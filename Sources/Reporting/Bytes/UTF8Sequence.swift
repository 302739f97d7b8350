/// What stands at one offset of bytes that may be UTF-8.
enum UTF8Sequence: Equatable {
    case scalar(UInt32, length: Int)
    /// The longest start of a well-formed sequence (or one byte) that does not go on as it should; becomes one U+FFFD.
    case illFormed(length: Int)
    /// As `illFormed`, but the bytes ended there: with more bytes it could be a scalar.
    case incomplete(length: Int)

    /// U+FFFD in UTF-8.
    static let replacement: [UInt8] = [0xEF, 0xBF, 0xBD]

    /// How many bytes it covers; at least 1.
    var length: Int {
        switch self {
        case .scalar(_, let length), .illFormed(let length), .incomplete(let length): length
        }
    }

    /// `offset` lies inside `bytes`. Follows table 3-7 of the Unicode standard: no overlong forms, no surrogates.
    init(in bytes: UnsafeRawBufferPointer, at offset: Int) {
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
}
