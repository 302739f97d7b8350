/// The inside of a JSON string: what must not stand there as it is becomes an escape, ill-formed UTF-8 becomes U+FFFD.
enum JSONEscaping {
    static func append(_ source: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        var copied = 0
        var offset = 0
        while true {
            offset = endOfPlainRun(in: source, from: offset)
            guard offset < source.count else { break }
            let sequence = UTF8Sequence(in: source, at: offset)
            if case .scalar(let scalar, let length) = sequence, !mustEscape(scalar) {
                offset += length
                continue
            }
            bytes.append(contentsOf: source[copied..<offset])
            offset += sequence.length
            copied = offset
            switch sequence {
            case .scalar(let scalar, _): appendEscape(scalar, to: &bytes)
            case .incomplete, .illFormed: bytes.append(contentsOf: UTF8Sequence.replacement)
            }
        }
        bytes.append(contentsOf: source[copied...])
    }

    /// The first byte from `start` on that is not plain ASCII, eight at a time.
    private static func endOfPlainRun(in source: UnsafeRawBufferPointer, from start: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        var offset = start
        while offset + 8 <= source.count {
            let word = source.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            // A byte's high bit is set in each term where the byte is (or may be, above a match): not ASCII, below
            // 0x20, a quote, a backslash, DEL. A false alarm only costs the look at single bytes below.
            let quote = word ^ (ones &* 0x22)
            let backslash = word ^ (ones &* 0x5C)
            let delete = word ^ (ones &* 0x7F)
            let special =
                word | ((word &- ones &* 0x20) & ~word) | ((quote &- ones) & ~quote)
                | ((backslash &- ones) & ~backslash) | ((delete &- ones) & ~delete)
            if special & highs != 0 { break }
            offset += 8
        }
        while offset < source.count, isPlain(source[offset]) { offset += 1 }
        return offset
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
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
            for shift in [12, 8, 4, 0] as [UInt32] { bytes.append(hexDigit(scalar >> shift)) }
        }
    }

    /// The digit of the lowest four bits.
    static func hexDigit(_ number: UInt32) -> UInt8 {
        let digit = UInt8(truncatingIfNeeded: number & 0xF)
        return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
}
