internal import Glibc

/// Writes JSON into one growing buffer that can be used again and again; knows nothing of events or diagnostics.
///
///     var json = JSONWriter()
///     json.object { json in
///         json.field("id", "compile")
///         json.array("needs") { json in for need in needs { json.value(need) } }
///     }
///     json.newline()
///
/// The result is ASCII where the text is, valid UTF-8 always, and never holds a raw control character (C0, DEL, C1) or
/// a line separator, so that one value without `newline()` is one line in every reader's eyes. Fields stand in the
/// order of the calls; their names are literals, or written with `key(_:)`, and the caller answers for using each once.
/// A call allocates only when the buffer has to grow.
package struct JSONWriter: ~Copyable {
    private var buffer: ByteBuffer
    private var needsComma = false

    package init(capacity: Int = 4096) { buffer = ByteBuffer(capacity: capacity) }

    /// A copy of what has been written since the last `removeAll()`.
    package var bytes: [UInt8] { buffer.bytes }

    /// How many bytes have been written since then.
    package var count: Int { buffer.count }

    /// The same as a text.
    package var text: String { buffer.text }

    package borrowing func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        buffer.withUnsafeBytes(body)
    }

    /// Empties the buffer and keeps its memory.
    package mutating func removeAll() {
        buffer.removeAll()
        needsComma = false
    }

    /// Writes all that has been written once more.
    package mutating func repeatAll() { buffer.append(buffer.bytes) }

    /// Ends a record.
    package mutating func newline() {
        buffer.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    // MARK: Containers

    /// `{…}` as a value; `members` writes the fields.
    package mutating func object(_ members: (inout JSONWriter) -> Void) {
        enclose(UInt8(ascii: "{"), UInt8(ascii: "}"), members)
    }

    /// `[…]` as a value; `elements` writes the values.
    package mutating func array(_ elements: (inout JSONWriter) -> Void) {
        enclose(UInt8(ascii: "["), UInt8(ascii: "]"), elements)
    }

    /// A field whose value is an object.
    package mutating func object(_ key: StaticString, _ members: (inout JSONWriter) -> Void) {
        name(key)
        object(members)
    }

    /// A field whose value is an array.
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

    /// Seconds as a number, cut to microseconds: `12`, `0.25`.
    package mutating func value(_ seconds: Duration?) {
        guard let seconds else { return null() }
        separate()
        append(seconds)
        needsComma = true
    }

    /// A string from bytes that need not be UTF-8: each ill-formed sequence becomes one U+FFFD, as in
    /// `String(decoding:)`.
    package mutating func value(repairing raw: UnsafeRawBufferPointer) {
        separate()
        buffer.append(UInt8(ascii: "\""))
        buffer.append(jsonText: raw)
        buffer.append(UInt8(ascii: "\""))
        needsComma = true
    }

    /// A value that is JSON already, on one line; escapes what this writer would escape.
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

    /// Seconds as a number, cut to microseconds.
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

    /// A time in UTC as RFC 3339 with microseconds, counted from 1970.
    package mutating func timestamp(_ key: StaticString, microseconds: Int64) {
        name(key)
        buffer.append(UInt8(ascii: "\""))
        Timestamp.append(microseconds: microseconds, to: &buffer)
        buffer.append(UInt8(ascii: "\""))
        needsComma = true
    }

    /// A field whose value needs no escapes.
    package mutating func field(_ key: StaticString, literal: StaticString) {
        name(key)
        buffer.append(UInt8(ascii: "\""))
        buffer.append(literal: literal)
        buffer.append(UInt8(ascii: "\""))
        needsComma = true
    }

    package mutating func null(_ key: StaticString) {
        name(key)
        null()
    }

    /// The name of a field that is not known beforehand; the next call writes its value.
    package mutating func key(_ key: String) {
        separate()
        appendQuoted(key)
        buffer.append(UInt8(ascii: ":"))
    }

    // MARK: Pieces

    /// The names of our formats need no escapes.
    private mutating func name(_ key: StaticString) {
        buffer.append(fieldName: key, isFirst: !needsComma)
        needsComma = false
    }

    private mutating func enclose(_ open: UInt8, _ close: UInt8, _ body: (inout JSONWriter) -> Void) {
        separate()
        buffer.append(open)
        body(&self)
        buffer.append(close)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { buffer.append(UInt8(ascii: ",")) }
        needsComma = false
    }

    private mutating func appendQuoted(_ string: String) {
        var string = string
        buffer.append(UInt8(ascii: "\""))
        string.withUTF8 { buffer.append(jsonText: UnsafeRawBufferPointer($0)) }
        buffer.append(UInt8(ascii: "\""))
    }

    private mutating func append(_ integer: Int) {
        buffer.append(integer)
    }

    private mutating func append(_ seconds: Duration) {
        let microseconds = seconds.wholeMicroseconds.magnitude
        if seconds < .zero { buffer.append(UInt8(ascii: "-")) }
        let whole = microseconds / 1_000_000
        buffer.append(decimal: whole)
        var fraction = microseconds - whole * 1_000_000
        guard fraction > 0 else { return }
        var digits = 6
        while fraction % 10 == 0 {
            fraction /= 10
            digits -= 1
        }
        buffer.append(UInt8(ascii: "."))
        buffer.append(decimal: fraction, padding: digits)
    }
}

extension ByteBuffer {
    /// Appends `,"name":`, without the comma for the first field of an object. A step writes fifty of them.
    fileprivate mutating func append(fieldName name: StaticString, isFirst: Bool) {
        let size = name.utf8CodeUnitCount
        reserve(size + 4)
        var end = base + count
        if !isFirst {
            end.storeBytes(of: UInt8(ascii: ","), as: UInt8.self)
            end += 1
        }
        end.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        memcpy(end + 1, name.utf8Start, size)
        end += size + 1
        end.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        end.storeBytes(of: UInt8(ascii: ":"), toByteOffset: 1, as: UInt8.self)
        count = end + 2 - base
    }
}
