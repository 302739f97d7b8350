internal import Glibc

/// Makes text from outside harmless; no other code does that. Escapes whatever a terminal or a CI runner would obey,
/// and whatever changes how the surrounding text reads.
///
/// Everything that flowrun prints passes here: file names, ids and values one by one as `visible`, whole answers as
/// `harmlessLines` or, in JSON, as `harmlessJSON`.
package enum VisibleText {
    /// True if a scalar is shown as an escape: control characters (C0, DEL, C1), line separators, marks that change
    /// the direction of writing, and invisible characters.
    package static func isEscaped(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x20..<0x7F, 0xA0..<0xAD, 0xAE..<0x61C: false
        case 0..<0xA0, 0xAD, 0x61C, 0x180E, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF,
            0xFFF9...0xFFFB, 0xE0000...0xE007F:
            true
        default: false
        }
    }

    /// Returns the index of the first command that a CI runner obeys anywhere in a line (`##[` of GitHub, `##vso[` of
    /// Azure), whose first byte is then escaped; nil if there is none.
    fileprivate static func command(in text: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var offset = start
        while let mark = text[offset...].firstIndex(of: UInt8(ascii: "#")) {
            let rest = text[mark...]
            if rest.starts(with: "##[".utf8) || rest.starts(with: "##vso[".utf8) { return mark }
            offset = mark + 1
        }
        return nil
    }
}

extension ByteBuffer {
    /// Appends the escape of a scalar: `\x1b`, beyond two digits `\u{202e}`. All escapes have this notation.
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

    /// Appends arbitrary text as a part of one line.
    package mutating func append(visible text: String) {
        var text = text
        text.withUTF8 { text in
            let raw = UnsafeRawBufferPointer(text)
            var start = 0
            while let command = VisibleText.command(in: raw, from: start) {
                append(printable: UnsafeRawBufferPointer(rebasing: raw[start..<command]))
                append(escaped: UInt32(raw[command]))
                start = command + 1
            }
            append(printable: UnsafeRawBufferPointer(rebasing: raw[start...]))
        }
    }

    private mutating func append(printable raw: UnsafeRawBufferPointer) {
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

extension String {
    /// The text as a part of one line, with escapes for whatever a terminal would obey.
    package var visible: String {
        var buffer = ByteBuffer(capacity: utf8.count + 16)
        buffer.append(visible: self)
        return buffer.text
    }

    /// The text with escapes for whatever a terminal or a CI runner would obey, including `::` at the start of a
    /// line. Line feeds and tabs remain. The caller is responsible for the parts within a line.
    package var harmlessLines: String {
        var buffer = ByteBuffer(capacity: utf8.count + 16)
        var isFirst = true
        for line in split(separator: "\n", omittingEmptySubsequences: false) {
            if !isFirst { buffer.append(UInt8(ascii: "\n")) }
            isFirst = false
            let blanks = line.prefix { $0 == " " || $0 == "\t" }
            buffer.append(harmless: blanks)
            var rest = line[blanks.endIndex...]
            if rest.hasPrefix("::") {
                buffer.append(escaped: UInt32(UInt8(ascii: ":")))
                rest = rest.dropFirst()
            }
            buffer.append(harmless: rest)
        }
        return buffer.text
    }

    /// JSON with those characters written as JSON's own escapes in its strings.
    package var harmlessJSON: String {
        guard utf8.contains(where: { $0 >= 0x80 || $0 == UInt8(ascii: "#") }) else { return self }
        let text = replacing("##[", with: #"\u0023#["#).replacing("##vso[", with: #"\u0023#vso["#)
        return text.unicodeScalars.reduce(into: "") { text, scalar in
            guard !scalar.isASCII, VisibleText.isEscaped(scalar.value) else {
                return text.unicodeScalars.append(scalar)
            }
            for unit in String(scalar).utf16 {
                var buffer = ByteBuffer(capacity: 8)
                buffer.append(hexadecimal: UInt32(unit), digits: 4)
                text += "\\u" + buffer.text
            }
        }
    }
}

extension ByteBuffer {
    /// Appends a part of a line; tabs remain.
    fileprivate mutating func append(harmless text: Substring) {
        var isFirst = true
        for piece in text.split(separator: "\t", omittingEmptySubsequences: false) {
            if !isFirst { append(UInt8(ascii: "\t")) }
            isFirst = false
            append(visible: String(piece))
        }
    }
}

/// Lines that their program has overwritten with carriage returns, as progress bars do.
package enum OverwrittenLines {
    /// Returns the bytes with each overwritten line in its last state; nil if there is no such line. Where blanks
    /// only erased a line, the text before them counts. A last line that ends in a carriage return gets a line feed,
    /// so that later output begins a new line.
    package static func lastStates(of bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let start = bytes.baseAddress, memchr(start, carriageReturn, bytes.count) != nil else { return nil }
        var result: [UInt8]?
        var line = 0
        while line < bytes.count {
            let end = memchr(start + line, lineFeed, bytes.count - line).map { UnsafeRawPointer($0) - start }
            let text = UnsafeRawBufferPointer(rebasing: bytes[line..<(end ?? bytes.count)])
            let state = lastState(of: text)
            if result == nil, state.count < text.count, !isEndOnly(text, state, isWhole: end != nil) {
                result = Array(bytes[..<line])
            }
            result?.append(contentsOf: state)
            if end != nil || text.last == UInt8(carriageReturn) { result?.append(UInt8(lineFeed)) }
            line = (end ?? bytes.count) + 1
        }
        return result
    }

    /// True if the line loses only the carriage return in front of its line feed, which means nothing.
    private static func isEndOnly(
        _ line: UnsafeRawBufferPointer, _ state: UnsafeRawBufferPointer, isWhole: Bool
    ) -> Bool {
        isWhole && state.count == line.count - 1 && state.baseAddress == line.baseAddress
    }

    /// Returns the text after the last carriage return that is followed by anything but blanks.
    private static func lastState(of line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var end = line.count
        while true {
            while end > 0, line[end - 1] == UInt8(carriageReturn) { end -= 1 }
            let start = line[..<end].lastIndex(of: UInt8(carriageReturn)).map { $0 + 1 } ?? 0
            let isBlank = line[start..<end].allSatisfy { $0 == UInt8(ascii: " ") }
            if start == 0 || !isBlank { return UnsafeRawBufferPointer(rebasing: line[start..<end]) }
            end = start
        }
    }

    private static let carriageReturn: Int32 = 13
    private static let lineFeed: Int32 = 10
}
