internal import Glibc

/// The reason why a text is not JSON.
package struct JSONError: Error, Hashable {
    /// Without a full stop.
    package let message: String
    /// In bytes from the start of the text.
    package let offset: Int

    package init(_ message: String, at offset: Int) {
        self.message = message
        self.offset = offset
    }
}

/// Reads a JSON text (RFC 8259) from its start, value by value. The text must outlive it.
///
/// `next` returns the kind of the next value; then the function of that kind, or `skip`, must read it, and no other.
package struct JSONScanner {
    package enum Kind { case object, list, string, number, bool, null }

    /// A name or a string.
    package struct Text: Sendable {
        /// The range between the quotes.
        let range: Range<Int>
        let isEscaped: Bool

        /// The place of its opening quote, in bytes from the start of the text.
        package var place: Int { range.lowerBound - 1 }
    }

    struct Field: Sendable {
        let name: Text
        let value: Range<Int>
    }

    /// More than the outputs of steps may have.
    private static let mostNesting = 128

    private let bytes: UnsafeRawBufferPointer
    private let depthLimit: Int
    private var depth = 0
    /// In bytes from the start of the text.
    package private(set) var offset = 0

    package init(_ bytes: UnsafeRawBufferPointer, depthLimit: Int) {
        self.bytes = bytes
        self.depthLimit = depthLimit
    }

    private var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private func error(_ message: String) -> JSONError { JSONError(message, at: offset) }

    private mutating func skipBlanks() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { offset += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard peek == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    /// Throws unless only blanks are left.
    package mutating func end() throws(JSONError) {
        skipBlanks()
        guard offset == bytes.count else { throw error("text follows the value") }
    }

    // MARK: Values

    /// Returns the kind of the next value by its first character. Throws if no value begins there.
    package mutating func next() throws(JSONError) -> Kind {
        skipBlanks()
        guard let byte = peek else { throw error("the text ends where a value is expected") }
        switch byte {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .list
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        default: throw error("expected a JSON value")
        }
    }

    /// Reads a value of any kind and returns its range.
    @discardableResult
    package mutating func skip() throws(JSONError) -> Range<Int> {
        let kind = try next()
        let start = offset
        switch kind {
        case .object: try object { scanner, _ throws(JSONError) in try scanner.skip() }
        case .list: try list { scanner throws(JSONError) in try scanner.skip() }
        case .string: _ = try string()
        case .number: _ = try number()
        case .bool: _ = try bool()
        case .null: try null()
        }
        return start..<offset
    }

    /// Reads an object; `read` reads the value of each field.
    package mutating func object(
        _ read: (inout JSONScanner, _ name: Text) throws(JSONError) -> Void
    ) throws(JSONError) {
        try open()
        if !take("}") {
            repeat { try field(read) } while take(",")
            guard take("}") else { throw error("expected `,` or `}`") }
        }
        depth -= 1
    }

    private mutating func field(
        _ read: (inout JSONScanner, _ name: Text) throws(JSONError) -> Void
    ) throws(JSONError) {
        skipBlanks()
        guard peek == UInt8(ascii: "\"") else { throw error("expected a name in double quotes") }
        let name = try string()
        guard take(":") else { throw error("expected `:`") }
        try read(&self, name)
    }

    /// Reads a list; `read` reads each of its elements.
    package mutating func list(_ read: (inout JSONScanner) throws(JSONError) -> Void) throws(JSONError) {
        try open()
        if !take("]") {
            repeat { try read(&self) } while take(",")
            guard take("]") else { throw error("expected `,` or `]`") }
        }
        depth -= 1
    }

    private mutating func open() throws(JSONError) {
        guard depth < depthLimit else { throw error("the nesting is deeper than \(depthLimit) levels") }
        depth += 1
        offset += 1
    }

    package mutating func bool() throws(JSONError) -> Bool {
        let isTrue = peek == UInt8(ascii: "t")
        try word(isTrue ? "true" : "false")
        return isTrue
    }

    package mutating func null() throws(JSONError) { try word("null") }

    private mutating func word(_ word: StaticString) throws(JSONError) {
        let count = word.utf8CodeUnitCount
        guard bytes.count - offset >= count,
            word.isText(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
        else { throw error("expected a JSON value") }
        offset += count
    }

    /// Reads a number and returns its range; `isWhole` if it has neither a fraction nor an exponent.
    package mutating func number() throws(JSONError) -> (place: Range<Int>, isWhole: Bool) {
        let start = offset
        if peek == UInt8(ascii: "-") { offset += 1 }
        let first = offset
        try digits()
        if bytes[first] == UInt8(ascii: "0"), offset > first + 1 {
            throw JSONError("a number cannot begin with 0", at: start)
        }
        var isWhole = true
        if peek == UInt8(ascii: ".") {
            isWhole = false
            offset += 1
            try digits()
        }
        if let letter = peek, letter | 0x20 == UInt8(ascii: "e") {
            isWhole = false
            offset += 1
            if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { offset += 1 }
            try digits()
        }
        return (start..<offset, isWhole)
    }

    private mutating func digits() throws(JSONError) {
        let start = offset
        while let byte = peek, byte &- 0x30 < 10 { offset += 1 }
        guard offset > start else { throw error("expected a digit") }
    }

    /// Reads a string and returns its place, from which `decoded` makes its value.
    package mutating func string() throws(JSONError) -> Text {
        let start = offset + 1
        var end = start
        var isEscaped = false
        while end < bytes.count {
            let byte = bytes[end]
            if byte > UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
                end += 1
            } else if byte == UInt8(ascii: "\"") {
                offset = end + 1
                return Text(range: start..<end, isEscaped: isEscaped)
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
                end += 1
                _ = try JSONEscape.read(bytes, &end)
            } else if byte < 0x20 {
                throw JSONError("a control character has to be written as an escape", at: end)
            } else {
                end += 1
            }
        }
        throw JSONError("the text that begins here is not closed", at: offset)
    }

    /// Returns the value of a name or a string with its escapes decoded.
    package func decoded(_ text: Text) -> String {
        JSONEscape.text(of: UnsafeRawBufferPointer(rebasing: bytes[text.range]))
    }

    // MARK: Whole texts

    /// Returns the fields of a text that is exactly one object; nil for any other text.
    static func fields(of bytes: UnsafeRawBufferPointer) -> [Field]? { try? readFields(of: bytes) }

    private static func readFields(of bytes: UnsafeRawBufferPointer) throws(JSONError) -> [Field]? {
        var scanner = JSONScanner(bytes, depthLimit: mostNesting)
        var fields: [Field] = []
        fields.reserveCapacity(32)
        guard try scanner.next() == .object else { return nil }
        try scanner.object { scanner, name throws(JSONError) in
            fields.append(Field(name: name, value: try scanner.skip()))
        }
        try scanner.end()
        return fields
    }

    /// Returns the ranges of the elements of a text that is exactly one list; nil for any other text.
    static func elements(of bytes: UnsafeRawBufferPointer) -> [Range<Int>]? { try? readElements(of: bytes) }

    private static func readElements(of bytes: UnsafeRawBufferPointer) throws(JSONError) -> [Range<Int>]? {
        var scanner = JSONScanner(bytes, depthLimit: mostNesting)
        var elements: [Range<Int>] = []
        guard try scanner.next() == .list else { return nil }
        try scanner.list { scanner throws(JSONError) in elements.append(try scanner.skip()) }
        try scanner.end()
        return elements
    }

    /// Works like `JSONText.forEachField`.
    static func forEachField(in bytes: UnsafeRawBufferPointer, _ take: (Field) -> Bool) {
        var scanner = JSONScanner(bytes, depthLimit: mostNesting)
        var isWanted = true
        repeat {
            let end: ()? = try? scanner.field { scanner, name throws(JSONError) in
                isWanted = take(Field(name: name, value: try scanner.skip()))
            }
            if end == nil { return }
        } while isWanted && scanner.take(",")
    }
}

extension StaticString {
    func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count == utf8CodeUnitCount && memcmp(bytes.baseAddress!, utf8Start, utf8CodeUnitCount) == 0
    }
}

/// Characters that are written with a backslash.
enum JSONEscape {
    /// Decodes the inside of a string whose escapes are valid.
    static func text(of bytes: UnsafeRawBufferPointer) -> String {
        guard bytes.contains(UInt8(ascii: "\\")) else { return String(decoding: bytes, as: UTF8.self) }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var offset = 0
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            if byte != UInt8(ascii: "\\") {
                decoded.append(byte)
            } else if let scalar = try? read(bytes, &offset) {
                decoded.append(contentsOf: UTF8.encode(scalar)!)
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }

    /// Reads the part of an escape after the backslash.
    static func read(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) throws(JSONError) -> Unicode.Scalar {
        let start = offset - 1
        guard offset < bytes.count else { throw JSONError("the text ends in an escape", at: offset) }
        let byte = bytes[offset]
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "u"): break
        default: throw JSONError("unknown escape", at: start)
        }
        var code = try unit(bytes, &offset)
        if code & 0xFC00 == 0xD800, bytes[offset...].starts(with: "\\u".utf8) {
            offset += 2
            let low = try unit(bytes, &offset)
            // Without a matching second half the code remains a surrogate.
            if low & 0xFC00 == 0xDC00 { code = 0x10000 + (code & 0x3FF) << 10 + (low & 0x3FF) }
        }
        guard let scalar = Unicode.Scalar(code) else {
            throw JSONError("this is half of a surrogate pair", at: start)
        }
        return scalar
    }

    private static func unit(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) throws(JSONError) -> UInt32 {
        let digits = bytes[offset...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ $0 &- 0x30 < 10 || ($0 | 0x20) &- 0x61 < 6 }),
            let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw JSONError("expected four hexadecimal digits", at: offset) }
        offset += 4
        return unit
    }
}
