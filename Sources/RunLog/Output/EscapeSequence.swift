/// The sequence that begins with an ESC, as far as needed to recognize the harmless ones.
enum EscapeSequence: Equatable {
    /// SGR, `ESC [ 1;31 m`.
    case color(length: Int)
    /// EL: `ESC [ K`, which has no effect at the end of a line, or `ESC [ 2 K`, which programs write before they
    /// rewrite a line.
    case eraseToLineEnd(length: Int)
    /// The bytes end before it is decided.
    case incomplete
    case other

    /// Longer sequences than any real colour do not count as colours, so that little has to be held back.
    private static let maximumLength = 64

    /// `offset` is that of an ESC.
    init(in bytes: UnsafeRawBufferPointer, at offset: Int) {
        guard offset + 1 < bytes.count else {
            self = .incomplete
            return
        }
        guard bytes[offset + 1] == UInt8(ascii: "[") else {
            self = .other
            return
        }
        var end = offset + 2
        while end < bytes.count, Self.isParameter(bytes[end]), end - offset < Self.maximumLength { end += 1 }
        let length = end - offset + 1
        if end == bytes.count {
            self = .incomplete
        } else if bytes[end] == UInt8(ascii: "m") {
            self = .color(length: length)
        } else if bytes[end] == UInt8(ascii: "K"), length == 3 || length == 4 && "02".utf8.contains(bytes[end - 1]) {
            self = .eraseToLineEnd(length: length)
        } else {
            self = .other
        }
    }

    private static func isParameter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: ";")).contains(byte)
    }
}
