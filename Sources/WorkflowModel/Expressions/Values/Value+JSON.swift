extension Value {
    /// Reads a JSON text (RFC 8259): numbers without fraction and exponent that fit into 64 bits are whole. Refused are
    /// names that stand in an object twice, nesting deeper than 64 levels and numbers beyond a `Double`. O(length).
    package init(json text: String) throws(JSONProblem) {
        var reader = JSONReader(Array(text.utf8))
        self = try reader.document()
    }

    /// The value as compact JSON, fields in their order. O(size).
    package var json: String {
        var bytes: [UInt8] = []
        appendJSON(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value as part of a text or as an environment variable: a text as it is, null as an empty one, lists and
    /// objects as JSON.
    package var text: String {
        switch self {
        case .string(let text): text
        case .null: ""
        default: json
        }
    }

    private func appendJSON(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let bool): bytes += (bool ? "true" : "false").utf8
        case .int(let number): bytes += String(number).utf8
        case .decimal(let number): bytes += number.description.utf8
        case .string(let text): Self.appendQuoted(text, to: &bytes)
        case .list(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.appendJSON(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let fields):
            bytes.append(UInt8(ascii: "{"))
            for (index, field) in fields.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.appendQuoted(field.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                field.value.appendJSON(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func appendQuoted(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "\n"): bytes += "\\n".utf8
            case UInt8(ascii: "\r"): bytes += "\\r".utf8
            case UInt8(ascii: "\t"): bytes += "\\t".utf8
            case 0..<0x20:
                let digits = Array("0123456789abcdef".utf8)
                bytes += "\\u00".utf8
                bytes += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
