internal import Glibc

/// Writes JSON into one growing, reusable buffer; knows nothing of events or diagnostics.
///
///     var json = JSONWriter()
///     json.object { json in
///         json.field("id", "compile")
///         json.array("needs") { json in for need in needs { json.value(need) } }
///     }
///     json.newline()
///
/// The result is always valid UTF-8, ASCII where the text is. It never holds a raw control character (C0, DEL, C1) or
/// a line separator, so every reader sees one value without `newline()` as one line. Fields are in the order of the
/// calls; their names are literals, or written with `key(_:)`. The caller is responsible for using each name once. A
/// call allocates only when the buffer has to grow.
package struct JSONWriter: ~Copyable {
    private var buffer: ByteBuffer
    private var needsComma = false
    private var timestamps = Timestamp.Writer()

    package init(capacity: Int = 4096) { buffer = ByteBuffer(capacity: capacity) }

    /// A copy of the bytes written since the last `removeAll()`.
    package var bytes: [UInt8] { buffer.bytes }

    /// The number of bytes written since the last `removeAll()`.
    package var count: Int { buffer.count }

    /// The written bytes as text.
    package var text: String { buffer.text }

    package borrowing func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        buffer.withUnsafeBytes(body)
    }

    /// Empties the buffer and keeps its memory, up to 512 KiB.
    package mutating func removeAll() {
        buffer.removeAll()
        needsComma = false
    }

    /// Appends the whole content a second time.
    package mutating func repeatAll() { buffer.append(buffer.bytes) }

    /// Ends a record with a line feed.
    package mutating func newline() {
        buffer.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    // MARK: Containers

    /// Writes `{…}` as a value; `members` writes the fields.
    package mutating func object(_ members: (inout JSONWriter) -> Void) {
        beginObject()
        members(&self)
        endObject()
    }

    /// Begins an object that `endObject` ends, for one that is written together with another.
    package mutating func beginObject() { open(UInt8(ascii: "{")) }

    package mutating func endObject() { close(UInt8(ascii: "}")) }

    /// Writes `[…]` as a value; `elements` writes the values.
    package mutating func array(_ elements: (inout JSONWriter) -> Void) {
        open(UInt8(ascii: "["))
        elements(&self)
        close(UInt8(ascii: "]"))
    }

    /// Writes a field whose value is an object.
    package mutating func object(_ key: StaticString, _ members: (inout JSONWriter) -> Void) {
        name(key)
        object(members)
    }

    /// Writes a field whose value is an array.
    package mutating func array(_ key: StaticString, _ elements: (inout JSONWriter) -> Void) {
        name(key)
        array(elements)
    }

    // MARK: Values; nil is `null`

    package mutating func value(_ string: String?) {
        guard let string else { return null() }
        separate()
        appendQuoted(string)
        needsComma = true
    }

    package mutating func value(_ integer: Int?) {
        guard let integer else { return null() }
        separate()
        append(integer)
        needsComma = true
    }

    package mutating func value(_ boolean: Bool?) {
        guard let boolean else { return null() }
        separate()
        buffer.append(literal: boolean ? "true" : "false")
        needsComma = true
    }

    /// Writes seconds as a number, truncated to microseconds: `12`, `0.25`.
    package mutating func value(_ seconds: Duration?) {
        guard let seconds else { return null() }
        separate()
        append(seconds)
        needsComma = true
    }

    /// Writes a string from bytes that need not be UTF-8: each ill-formed sequence becomes one U+FFFD, as in
    /// `String(decoding:)`.
    package mutating func value(repairing raw: UnsafeRawBufferPointer) {
        separate()
        buffer.append(UInt8(ascii: "\""))
        buffer.append(jsonText: raw)
        buffer.append(UInt8(ascii: "\""))
        needsComma = true
    }

    /// Writes a value that is JSON already, on one line; escapes whatever this writer escapes.
    package mutating func value(json text: String) {
        separate()
        var text = text
        text.withUTF8 { buffer.append(json: UnsafeRawBufferPointer($0)) }
        needsComma = true
    }

    package mutating func null() {
        separate()
        buffer.append(literal: "null")
        needsComma = true
    }

    // MARK: Fields

    package mutating func field(_ key: StaticString, _ string: String?) {
        name(key)
        value(string)
    }

    package mutating func field(_ key: StaticString, _ integer: Int?) {
        name(key)
        value(integer)
    }

    package mutating func field(_ key: StaticString, _ boolean: Bool?) {
        name(key)
        value(boolean)
    }

    /// Writes a field of seconds as a number, truncated to microseconds.
    package mutating func field(_ key: StaticString, _ seconds: Duration?) {
        name(key)
        value(seconds)
    }

    package mutating func field(_ key: StaticString, _ strings: [String]) {
        array(key) { json in for string in strings { json.value(string) } }
    }

    package mutating func field(_ key: StaticString, repairing raw: [UInt8]) {
        raw.withUnsafeBytes { field(key, repairing: $0) }
    }

    package mutating func field(_ key: StaticString, repairing raw: UnsafeRawBufferPointer) {
        name(key)
        value(repairing: raw)
    }

    /// Writes a time, in microseconds since 1970, as RFC 3339 in UTC.
    package mutating func timestamp(_ key: StaticString, microseconds: Int64) {
        name(key)
        buffer.append(UInt8(ascii: "\""))
        timestamps.append(microseconds: microseconds, to: &buffer)
        buffer.append(UInt8(ascii: "\""))
        needsComma = true
    }

    /// Writes a field whose value needs no escapes.
    package mutating func field(_ key: StaticString, literal: StaticString) {
        name(key)
        buffer.append(UInt8(ascii: "\""))
        buffer.append(literal: literal)
        buffer.append(UInt8(ascii: "\""))
        needsComma = true
    }

    /// Writes a field with the eight hexadecimal digits of a number as a text.
    package mutating func field(_ key: StaticString, digitsOf number: UInt32) {
        name(key)
        buffer.append(UInt8(ascii: "\""))
        buffer.append(hexadecimal: number, digits: 8)
        buffer.append(UInt8(ascii: "\""))
        needsComma = true
    }

    /// The bytes from an offset on; valid until the next change.
    package func tail(from start: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: buffer.base + start, count: buffer.count - start)
    }

    /// Appends the last fields of another object; before the first of them, both objects have fields or neither has.
    package mutating func append(tailOf other: borrowing JSONWriter, from start: Int) {
        buffer.append(other.tail(from: start))
        needsComma = true
    }

    package mutating func null(_ key: StaticString) {
        name(key)
        null()
    }

    /// Writes a field name that is not a literal; the next call must write its value.
    package mutating func key(_ key: String) {
        separate()
        appendQuoted(key)
        buffer.append(UInt8(ascii: ":"))
    }

    // MARK: Pieces

    /// Field names of our formats need no escapes.
    private mutating func name(_ key: StaticString) {
        buffer.append(fieldName: key, isFirst: !needsComma)
        needsComma = false
    }

    private mutating func open(_ bracket: UInt8) {
        separate()
        buffer.append(bracket)
    }

    private mutating func close(_ bracket: UInt8) {
        buffer.append(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { buffer.append(UInt8(ascii: ",")) }
        needsComma = false
    }

    private mutating func appendQuoted(_ string: String) {
        buffer.append(UInt8(ascii: "\""))
        // Unlike `withUTF8`, which changes a variable, this needs no copy of the text, which nearly always has it.
        let isWritten: Void? = string.utf8.withContiguousStorageIfAvailable {
            buffer.append(jsonText: UnsafeRawBufferPointer($0))
        }
        if isWritten == nil { Array(string.utf8).withUnsafeBytes { buffer.append(jsonText: $0) } }
        buffer.append(UInt8(ascii: "\""))
    }

    private mutating func append(_ integer: Int) {
        buffer.append(integer)
    }

    private mutating func append(_ seconds: Duration) {
        let microseconds = seconds.wholeMicroseconds
        if microseconds < 0 { buffer.append(UInt8(ascii: "-")) }
        let (whole, fraction) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
        buffer.append(decimal: whole)
        guard fraction > 0 else { return }
        buffer.append(UInt8(ascii: "."))
        buffer.append(decimal: fraction, padding: 6)
        buffer.removeLast(UInt8(ascii: "0"))
    }
}

extension ByteBuffer {
    /// Appends `,"name":`, without the comma for the first field of an object. Each step writes fifty of them.
    @inline(__always)
    fileprivate mutating func append(fieldName name: StaticString, isFirst: Bool) {
        let size = name.utf8CodeUnitCount
        reserve(size &+ 4)
        var end = base + count
        if !isFirst {
            end.storeBytes(of: UInt8(ascii: ","), as: UInt8.self)
            end += 1
        }
        end.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        Self.copy(short: name.utf8Start, to: end + 1, size)
        end += size + 1
        end.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        end.storeBytes(of: UInt8(ascii: ":"), toByteOffset: 1, as: UInt8.self)
        count = end + 2 - base
    }

    /// Copies a name, without the call that memcpy is.
    @inline(__always)
    private static func copy(short name: UnsafePointer<UInt8>, to end: UnsafeMutableRawPointer, _ size: Int) {
        let name = UnsafeRawPointer(name)
        func copy<Word: BitwiseCopyable>(_ word: Word.Type) {
            let (first, last) = (name.loadUnaligned(as: word), size - MemoryLayout<Word>.size)
            let rest = name.loadUnaligned(fromByteOffset: last, as: word)
            end.storeBytes(of: first, as: word)
            end.storeBytes(of: rest, toByteOffset: last, as: word)
        }
        switch size {
        case 1: copy(UInt8.self)
        case 2...3: copy(UInt16.self)
        case 4...7: copy(UInt32.self)
        case 8...16: copy(UInt64.self)
        default: memcpy(end, name, size)
        }
    }
}

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
            // A short text has no whole block.
            if care == .json, source.count &- offset >= 128 { offset = copyJSONText(source, from: offset) }
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
