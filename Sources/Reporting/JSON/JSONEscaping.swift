/// The inside of a JSON string: what must not stand there as it is becomes an escape, ill-formed UTF-8 becomes U+FFFD.
enum JSONEscaping {
    static func append(_ source: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        append(source, to: &bytes, unless: { !mustEscape($0) })
    }

    /// Copies JSON that somebody else has written: only what JSON allows and a line of ours does not becomes an escape.
    static func appendWritten(_ json: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        append(json, to: &bytes, unless: { $0 == 0x22 || $0 == 0x5C || !mustEscape($0) })
    }

    @inline(__always)
    private static func append(
        _ source: UnsafeRawBufferPointer, to bytes: inout [UInt8], unless isAllowed: (UInt32) -> Bool
    ) {
        var copied = 0
        var offset = 0
        while true {
            offset = PlainRun.endOfJSONText(in: source, from: offset)
            guard offset < source.count else { break }
            let sequence = UTF8Sequence(in: source, at: offset)
            if case .scalar(let scalar, let length) = sequence, isAllowed(scalar) {
                offset += length
                continue
            }
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: source[copied..<offset]))
            offset += sequence.length
            copied = offset
            switch sequence {
            case .scalar(let scalar, _): appendEscape(scalar, to: &bytes)
            case .incomplete, .illFormed: bytes.append(contentsOf: UTF8Sequence.replacement)
            }
        }
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: source[copied...]))
    }

    /// Beyond what JSON asks for: DEL and C1, which terminals obey, and the line separators, which some readers split at.
    private static func mustEscape(_ scalar: UInt32) -> Bool {
        scalar < 0x20 || scalar == 0x22 || scalar == 0x5C || (0x7F...0x9F).contains(scalar)
            || scalar == 0x2028 || scalar == 0x2029
    }

    private static func appendEscape(_ scalar: UInt32, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\\"))
        switch scalar {
        case 0x22, 0x5C: bytes.append(UInt8(scalar))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        default:
            bytes.append(UInt8(ascii: "u"))
            bytes.appendHexadecimal(scalar, digits: 4)
        }
    }
}
