extension ByteBuffer {
    /// Appends the inside of a JSON string: escapes what may not be in it as it is, and replaces ill-formed UTF-8 by
    /// U+FFFD.
    package mutating func append(jsonText source: UnsafeRawBufferPointer) {
        append(source, until: .json)
    }

    /// Appends JSON from another writer. Escapes only what JSON allows but a record of ours does not.
    package mutating func append(json source: UnsafeRawBufferPointer) {
        append(source, until: .unprintable)
    }

    @inline(__always)
    private mutating func append(_ source: UnsafeRawBufferPointer, until care: Care) {
        var offset = 0
        while true {
            if care == .json { offset = copyJSONText(source, from: offset) }
            offset = copyPlain(source, from: offset, until: care)
            guard offset < source.count else { return }
            let byte = source[offset]
            if byte == UInt8(ascii: "\n") {
                append(literal: #"\n"#)
                offset += 1
            } else if byte < 0x80 {
                append(escape: UInt32(byte))
                offset += 1
            } else {
                let end = copyScalars(source, from: offset, lineSeparators: false)
                if end == offset { offset += escape(source, at: offset) } else { offset = end }
            }
        }
    }

    /// Escapes more than JSON requires: DEL and C1, which terminals obey, and the line separators, at which some
    /// readers split.
    private mutating func escape(_ source: UnsafeRawBufferPointer, at offset: Int) -> Int {
        let sequence = UTF8Sequence(in: source, at: offset)
        if case .scalar(let scalar, _) = sequence {
            append(escape: scalar)
        } else {
            append(literal: UTF8Sequence.replacement)
        }
        return sequence.length
    }

    private mutating func append(escape scalar: UInt32) {
        append(UInt8(ascii: "\\"))
        switch scalar {
        case 0x22, 0x5C: append(UInt8(scalar))
        case 0x0A: append(UInt8(ascii: "n"))
        case 0x0D: append(UInt8(ascii: "r"))
        case 0x09: append(UInt8(ascii: "t"))
        default:
            append(UInt8(ascii: "u"))
            append(hexadecimal: scalar, digits: 4)
        }
    }
}
