/// Why a text is not JSON.
package struct JSONError: Error, Hashable {
    /// What was found; no full stop.
    package let message: String
    /// In bytes from the start of the text.
    package let offset: Int
}

/// Reads one JSON value and nothing behind it.
struct JSONReader {
    private static let depthLimit = 64

    private let bytes: [UInt8]
    private var offset = 0
    private var depth = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(JSONError) -> Value {
        let value = try value()
        skipBlanks()
        guard offset == bytes.count else { throw error("text follows the value") }
        return value
    }

    private mutating func value() throws(JSONError) -> Value {
        skipBlanks()
        guard let byte = peek else { throw error("the text ends where a value is expected") }
        switch byte {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try list()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw error("expected a JSON value")
        }
    }

    private mutating func object() throws(JSONError) -> Value {
        try open()
        var fields: [Value.Field] = []
        var names: Set<String> = []
        if !take(UInt8(ascii: "}")) {
            repeat {
                skipBlanks()
                let start = offset
                guard peek == UInt8(ascii: "\"") else { throw error("expected a name in double quotes") }
                let name = try string()
                guard names.insert(name).inserted else {
                    throw JSONError(message: "the object has this name twice", offset: start)
                }
                guard take(UInt8(ascii: ":")) else { throw error("expected `:`") }
                fields.append(Value.Field(name: name, value: try value()))
            } while take(UInt8(ascii: ","))
            guard take(UInt8(ascii: "}")) else { throw error("expected `,` or `}`") }
        }
        depth -= 1
        return .object(fields)
    }

    private mutating func list() throws(JSONError) -> Value {
        try open()
        var elements: [Value] = []
        if !take(UInt8(ascii: "]")) {
            repeat { elements.append(try value()) } while take(UInt8(ascii: ","))
            guard take(UInt8(ascii: "]")) else { throw error("expected `,` or `]`") }
        }
        depth -= 1
        return .list(elements)
    }

    private mutating func open() throws(JSONError) {
        depth += 1
        guard depth <= Self.depthLimit else { throw error("the nesting is deeper than \(Self.depthLimit) levels") }
        offset += 1
    }

    private mutating func word(_ word: StaticString, _ value: Value) throws(JSONError) -> Value {
        let letters = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard bytes[offset...].starts(with: letters) else { throw error("expected a JSON value") }
        offset += letters.count
        return value
    }

    private mutating func number() throws(JSONError) -> Value {
        let start = offset
        if peek == UInt8(ascii: "-") { offset += 1 }
        let first = offset
        try digits()
        if bytes[first] == UInt8(ascii: "0"), offset > first + 1 {
            throw JSONError(message: "a number cannot begin with 0", offset: start)
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
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        if isWhole, text != "-0", let number = Int(text) { return .int(number) }
        return .decimal(WrittenNumber(text))
    }

    private mutating func digits() throws(JSONError) {
        let start = offset
        while let byte = peek, byte &- 0x30 < 10 { offset += 1 }
        guard offset > start else { throw error("expected a digit") }
    }

    // MARK: texts

    private mutating func string() throws(JSONError) -> String {
        let start = offset
        offset += 1
        var text: [UInt8] = []
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                offset += 1
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                offset += 1
                try escape(into: &text)
            case 0..<0x20:
                throw error("a control character has to be written as an escape")
            default:
                text.append(byte)
                offset += 1
            }
        }
        throw JSONError(message: "the text that begins here is not closed", offset: start)
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
        guard let letter = peek else { throw error("the text ends in an escape") }
        offset += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
        case UInt8(ascii: "b"): text.append(8)
        case UInt8(ascii: "f"): text.append(12)
        case UInt8(ascii: "n"): text.append(10)
        case UInt8(ascii: "r"): text.append(13)
        case UInt8(ascii: "t"): text.append(9)
        case UInt8(ascii: "u"):
            let start = offset - 2
            var code = try hexDigits()
            if (0xD800..<0xDC00).contains(code), peek == UInt8(ascii: "\\"), offset + 1 < bytes.count,
                bytes[offset + 1] == UInt8(ascii: "u")
            {
                offset += 2
                let low = try hexDigits()
                guard (0xDC00..<0xE000).contains(low) else {
                    throw JSONError(message: "this is half of a surrogate pair", offset: start)
                }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else {
                throw JSONError(message: "this is half of a surrogate pair", offset: start)
            }
            text += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
        default:
            offset -= 2
            throw error("unknown escape")
        }
    }

    private mutating func hexDigits() throws(JSONError) -> UInt32 {
        guard offset + 4 <= bytes.count,
            bytes[offset..<offset + 4].allSatisfy({ $0 &- 0x30 < 10 || ($0 | 0x20) &- 0x61 < 6 }),
            let code = UInt32(String(decoding: bytes[offset..<offset + 4], as: UTF8.self), radix: 16)
        else { throw error("expected four hexadecimal digits") }
        offset += 4
        return code
    }

    // MARK: bytes

    private var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func skipBlanks() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { offset += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipBlanks()
        guard peek == byte else { return false }
        offset += 1
        return true
    }

    private func error(_ message: String) -> JSONError { JSONError(message: message, offset: offset) }
}
