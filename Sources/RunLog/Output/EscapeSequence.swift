/// What an ESC begins, as far as flowrun tells the harmless ones apart.
enum EscapeSequence: Equatable {
    /// SGR, `ESC [ 1;31 m`.
    case color(length: Int)
    /// EL, `ESC [ K`, which shows nothing where nothing stands to the right, or `ESC [ 2 K`, which programs write
    /// before they write a line anew.
    case eraseToLineEnd(length: Int)
    /// The bytes end where it could still become one of the above.
    case incomplete
    case other

    /// Longer ones than any real colour are not taken for colours, so that little has to be held back.
    private static let maximumLength = 64

    /// An ESC stands at `offset`.
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
