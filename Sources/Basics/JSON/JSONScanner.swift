internal import Glibc

/// Finds where the values of a JSON text stand. A text that is not JSON gives nil, wherever it is broken.
struct JSONScanner {
    struct Field: Sendable {
        /// What stands between the quotes.
        let name: Range<Int>
        let isNameEscaped: Bool
        let value: Range<Int>
    }

    /// More than outputs of steps may have.
    private static let depthLimit = 128

    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    private var depth = 0
    /// Of the outermost value.
    private var elements: [Range<Int>] = []

    /// The fields of a text that is one object and nothing else.
    static func fields(of bytes: UnsafeRawBufferPointer) -> [Field]? {
        var scanner = JSONScanner(bytes)
        var fields: [Field] = []
        fields.reserveCapacity(32)
        let isObject =
            scanner.take("{")
            && scanner.object { field in
                fields.append(field)
                return true
            }
        return isObject && scanner.isAtEnd() ? fields : nil
    }

    /// As `JSONText.forEachField`.
    static func forEachField(in bytes: UnsafeRawBufferPointer, _ take: (Field) -> Bool) {
        var scanner = JSONScanner(bytes)
        _ = scanner.fields(take)
    }

    /// Where the elements of a text stand that is one list and nothing else.
    static func elements(of bytes: UnsafeRawBufferPointer) -> [Range<Int>]? {
        var scanner = JSONScanner(bytes)
        return scanner.take("[") && scanner.array() && scanner.isAtEnd() ? scanner.elements : nil
    }

    private init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    private var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func isAtEnd() -> Bool {
        skipBlanks()
        return offset == bytes.count
    }

    private mutating func skipBlanks() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { offset += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard peek == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    private mutating func value() -> Range<Int>? {
        skipBlanks()
        let start = offset
        guard let byte = peek else { return nil }
        let isValue =
            switch byte {
            case UInt8(ascii: "{"): nested { $0.object() }
            case UInt8(ascii: "["): nested { $0.array() }
            case UInt8(ascii: "\""): string() != nil
            case UInt8(ascii: "t"): word("true")
            case UInt8(ascii: "f"): word("false")
            case UInt8(ascii: "n"): word("null")
            default: number()
            }
        return isValue ? start..<offset : nil
    }

    private mutating func nested(_ read: (inout JSONScanner) -> Bool) -> Bool {
        guard depth < Self.depthLimit else { return false }
        depth += 1
        offset += 1
        defer { depth -= 1 }
        return read(&self)
    }

    private mutating func object(_ visit: (Field) -> Bool = { _ in true }) -> Bool {
        take("}") || fields(visit) && take("}")
    }

    /// At least one.
    private mutating func fields(_ visit: (Field) -> Bool) -> Bool {
        repeat {
            skipBlanks()
            guard let name = string(), take(":"), let value = value(),
                visit(Field(name: name.text, isNameEscaped: name.isEscaped, value: value))
            else { return false }
        } while take(",")
        return true
    }

    private mutating func array() -> Bool {
        guard !take("]") else { return true }
        repeat {
            guard let element = value() else { return false }
            if depth == 0 { elements.append(element) }
        } while take(",")
        return take("]")
    }

    private mutating func word(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard bytes.count - offset >= count,
            word.isText(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
        else { return false }
        offset += count
        return true
    }

    private mutating func number() -> Bool {
        let start = offset
        while let byte = peek, Self.isOfNumber(byte) { offset += 1 }
        return offset > start
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    /// What stands between the quotes of a string.
    private mutating func string() -> (text: Range<Int>, isEscaped: Bool)? {
        guard peek == UInt8(ascii: "\"") else { return nil }
        let start = offset + 1
        var end = start
        var isEscaped = false
        while end < bytes.count {
            let byte = bytes[end]
            if byte == UInt8(ascii: "\"") {
                offset = end + 1
                return (start..<end, isEscaped)
            }
            end += 1
            guard byte == UInt8(ascii: "\\") else { continue }
            isEscaped = true
            guard JSONEscape.read(bytes, &end) != nil else { return nil }
        }
        return nil
    }
}

extension StaticString {
    func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count == utf8CodeUnitCount && memcmp(bytes.baseAddress!, utf8Start, utf8CodeUnitCount) == 0
    }
}

/// A character that is written with a backslash.
enum JSONEscape {
    /// What stands between the quotes of a string whose escapes are valid.
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
            } else if let scalar = read(bytes, &offset) {
                decoded.append(contentsOf: UTF8.encode(scalar)!)
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }

    /// Reads what stands behind a backslash; nil unless it is an escape.
    static func read(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) -> Unicode.Scalar? {
        guard offset < bytes.count else { return nil }
        let byte = bytes[offset]
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "u"): return scalar(bytes, &offset)
        default: return nil
        }
    }

    private static func scalar(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) -> Unicode.Scalar? {
        guard let unit = unit(bytes, &offset) else { return nil }
        guard unit & 0xFC00 == 0xD800 else { return Unicode.Scalar(unit) }
        guard offset + 1 < bytes.count, bytes[offset] == UInt8(ascii: "\\"), bytes[offset + 1] == UInt8(ascii: "u")
        else { return nil }
        offset += 2
        guard let low = self.unit(bytes, &offset), low & 0xFC00 == 0xDC00 else { return nil }
        return Unicode.Scalar(0x10000 + (unit & 0x3FF) << 10 + (low & 0x3FF))
    }

    private static func unit(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) -> UInt32? {
        guard bytes.count - offset >= 4 else { return nil }
        let digits = bytes[offset..<offset + 4]
        offset += 4
        return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}
