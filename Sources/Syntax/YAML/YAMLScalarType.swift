/// The type of a scalar in the YAML 1.2 core schema. The text stays as it is written: `3.10` is a float and reads
/// `3.10`.
package enum YAMLScalarType: Sendable, Hashable {
    case null, bool, int, float, string

    /// The type of a plain scalar with this text; a quoted one is always a string.
    init(plain text: UnsafeBufferPointer<UInt8>) {
        guard let first = text.first else {
            self = .null
            return
        }
        switch first {
        case UInt8(ascii: "~"), UInt8(ascii: "n"), UInt8(ascii: "N"):
            self = Self.isOne(of: ["~", "null", "Null", "NULL"], text) ? .null : .string
        case UInt8(ascii: "t"), UInt8(ascii: "T"), UInt8(ascii: "f"), UInt8(ascii: "F"):
            self = Self.isOne(of: ["true", "True", "TRUE", "false", "False", "FALSE"], text) ? .bool : .string
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."):
            self = Self.number(text)
        default:
            self = .string
        }
    }

    private static func isOne(of words: [StaticString], _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        words.contains { word in
            word.utf8CodeUnitCount == text.count
                && text.elementsEqual(UnsafeBufferPointer(start: word.utf8Start, count: text.count))
        }
    }

    private static func number(_ text: UnsafeBufferPointer<UInt8>) -> YAMLScalarType {
        if text.count > 2, text[0] == UInt8(ascii: "0"), text[1] == UInt8(ascii: "x") || text[1] == UInt8(ascii: "o") {
            let isHex = text[1] == UInt8(ascii: "x")
            return text[2...].allSatisfy { isHex ? isHexDigit($0) : (0x30...0x37).contains($0) } ? .int : .string
        }
        var rest = text[...]
        let isDot = isOne(of: [".nan", ".NaN", ".NAN"], text)
        if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        if isDot || isOne(of: [".inf", ".Inf", ".INF"], UnsafeBufferPointer(rebasing: rest)) { return .float }
        let whole = rest.prefix(while: isDigit)
        rest = rest.dropFirst(whole.count)
        if rest.isEmpty { return whole.isEmpty ? .string : .int }
        var fractionDigits = 0
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            fractionDigits = rest.prefix(while: isDigit).count
            rest = rest.dropFirst(fractionDigits)
        }
        guard !whole.isEmpty || fractionDigits > 0 else { return .string }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
            guard !rest.isEmpty else { return .string }
            rest = rest.drop(while: isDigit)
        }
        return rest.isEmpty ? .float : .string
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    private static func isHexDigit(_ byte: UInt8) -> Bool { isDigit(byte) || (byte | 0x20) &- 0x61 < 6 }
}

extension YAMLNode {
    /// The core-schema type of a scalar; nil for a collection.
    package var type: YAMLScalarType? {
        guard kind == .scalar else { return nil }
        return isPlain ? YAMLScalarType(plain: bytes) : .string
    }

    /// True if the value is absent, `null` or `~`.
    package var isNull: Bool { type == .null }
}
