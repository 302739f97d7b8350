/// One JSON value.
enum JSONElement: Sendable {
    struct Field: Sendable {
        let name: String
        let value: JSONElement
        /// The value as it was written.
        let json: String
    }

    case null
    case bool(Bool)
    /// As it was written.
    case number(String)
    case string(String)
    case array([JSONElement])
    case object([Field])
}

/// Reads one JSON value and nothing behind it. What it reads may be broken in any way; nothing of it is taken then.
struct JSONElementReader {
    /// More than outputs of steps may have.
    private static let depthLimit = 128

    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    private var depth = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    mutating func document() -> JSONElement? {
        guard let element = element() else { return nil }
        skipBlanks()
        return offset == bytes.count ? element : nil
    }

    private var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func skipBlanks() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { offset += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard peek == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    private mutating func element() -> JSONElement? {
        skipBlanks()
        guard let byte = peek else { return nil }
        switch byte {
        case UInt8(ascii: "{"): return nested { $0.object() }
        case UInt8(ascii: "["): return nested { $0.array() }
        case UInt8(ascii: "\""): return string().map(JSONElement.string)
        case UInt8(ascii: "t"): return word("true", .bool(true))
        case UInt8(ascii: "f"): return word("false", .bool(false))
        case UInt8(ascii: "n"): return word("null", .null)
        default: return number()
        }
    }

    private mutating func nested(_ read: (inout JSONElementReader) -> JSONElement?) -> JSONElement? {
        guard depth < Self.depthLimit else { return nil }
        depth += 1
        offset += 1
        defer { depth -= 1 }
        return read(&self)
    }

    private mutating func object() -> JSONElement? {
        var fields: [JSONElement.Field] = []
        guard !take("}") else { return .object([]) }
        repeat {
            skipBlanks()
            guard let name = string(), take(":") else { return nil }
            skipBlanks()
            let start = offset
            guard let value = element() else { return nil }
            fields.append(JSONElement.Field(name: name, value: value, json: text(start..<offset)))
        } while take(",")
        return take("}") ? .object(fields) : nil
    }

    private mutating func array() -> JSONElement? {
        var elements: [JSONElement] = []
        guard !take("]") else { return .array([]) }
        repeat {
            guard let element = element() else { return nil }
            elements.append(element)
        } while take(",")
        return take("]") ? .array(elements) : nil
    }

    private mutating func word(_ word: StaticString, _ element: JSONElement) -> JSONElement? {
        let count = word.utf8CodeUnitCount
        guard bytes.count - offset >= count,
            bytes[offset..<offset + count].elementsEqual(UnsafeRawBufferPointer(start: word.utf8Start, count: count))
        else { return nil }
        offset += count
        return element
    }

    private mutating func number() -> JSONElement? {
        let start = offset
        while let byte = peek, Self.isOfNumber(byte) { offset += 1 }
        guard offset > start else { return nil }
        return .number(text(start..<offset))
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: UnsafeRawBufferPointer(rebasing: bytes[range]), as: UTF8.self)
    }

    // MARK: Strings

    private mutating func string() -> String? {
        guard peek == UInt8(ascii: "\"") else { return nil }
        offset += 1
        let start = offset
        while let byte = peek, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { offset += 1 }
        guard peek == UInt8(ascii: "\\") else { return end(text(start..<offset)) }
        var decoded = Array(bytes[start..<offset])
        while let byte = peek, byte != UInt8(ascii: "\"") {
            offset += 1
            if byte == UInt8(ascii: "\\") {
                guard append(escape: &decoded) else { return nil }
            } else {
                decoded.append(byte)
            }
        }
        return end(String(decoding: decoded, as: UTF8.self))
    }

    private mutating func end(_ string: String) -> String? {
        guard peek == UInt8(ascii: "\"") else { return nil }
        offset += 1
        return string
    }

    private mutating func append(escape decoded: inout [UInt8]) -> Bool {
        guard let byte = peek else { return false }
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): decoded.append(byte)
        case UInt8(ascii: "n"): decoded.append(0x0A)
        case UInt8(ascii: "r"): decoded.append(0x0D)
        case UInt8(ascii: "t"): decoded.append(0x09)
        case UInt8(ascii: "b"): decoded.append(0x08)
        case UInt8(ascii: "f"): decoded.append(0x0C)
        case UInt8(ascii: "u"):
            guard var unit = unit() else { return false }
            if unit & 0xFC00 == 0xD800 {
                guard peek == UInt8(ascii: "\\"), offset + 1 < bytes.count, bytes[offset + 1] == UInt8(ascii: "u")
                else { return false }
                offset += 2
                guard let low = self.unit(), low & 0xFC00 == 0xDC00 else { return false }
                unit = 0x10000 + (unit & 0x3FF) << 10 + (low & 0x3FF)
            }
            guard let scalar = Unicode.Scalar(unit) else { return false }
            decoded += Array(String(Character(scalar)).utf8)
        default: return false
        }
        return true
    }

    private mutating func unit() -> UInt32? {
        guard bytes.count - offset >= 4 else { return nil }
        let digits = text(offset..<offset + 4)
        offset += 4
        return UInt32(digits, radix: 16)
    }
}
