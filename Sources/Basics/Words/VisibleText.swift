/// Text from outside made harmless: what a terminal would obey, and what would change how its surroundings are read, is
/// shown as an escape.
package enum VisibleText {
    /// Whether a scalar is shown as an escape: control characters (C0, DEL, C1), line separators, marks that change the
    /// direction of writing, and what takes no room.
    package static func isEscaped(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x20..<0x7F, 0xA0..<0x200B: false
        case 0..<0xA0, 0x200B...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }
}

extension ByteBuffer {
    /// The one notation for what is not shown as it is: `\x1b`, beyond two digits `\u{202e}`.
    package mutating func append(escaped scalar: UInt32) {
        if scalar <= 0xFF {
            append(literal: #"\x"#)
            append(hexadecimal: scalar, digits: 2)
        } else {
            append(literal: #"\u{"#)
            append(hexadecimal: scalar, digits: scalar <= 0xFFFF ? 4 : 6)
            append(UInt8(ascii: "}"))
        }
    }

    /// Appends text as a part of one line, whatever it holds.
    package mutating func append(visible text: String) {
        var text = text
        text.withUTF8 { text in
            let raw = UnsafeRawBufferPointer(text)
            var offset = copyPlain(raw, from: 0, until: .unprintable)
            while offset < raw.count {
                let sequence = UTF8Sequence(in: raw, at: offset)
                let end = offset + sequence.length
                if case .scalar(let scalar, _) = sequence, VisibleText.isEscaped(scalar) {
                    append(escaped: scalar)
                } else {
                    append(UnsafeRawBufferPointer(rebasing: raw[offset..<end]))
                }
                offset = copyPlain(raw, from: end, until: .unprintable)
            }
        }
    }
}

extension String {
    /// The text as a part of one line, with escapes for what a terminal would obey.
    package var visible: String {
        var buffer = ByteBuffer(capacity: utf8.count + 16)
        buffer.append(visible: self)
        return buffer.text
    }
}
