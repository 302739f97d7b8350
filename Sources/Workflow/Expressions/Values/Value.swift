package import Basics
internal import Syntax

/// The value of an expression. No type is converted to another implicitly.
package enum Value: Sendable, Hashable {
    case null
    case bool(Bool)
    case int(Int)
    /// A number that is not a whole number of 64 bits. It can only come from JSON; the file has no way to write one.
    case decimal(WrittenNumber)
    case string(String)
    case list([Value])
    /// In the order in which the fields were written.
    case object([Field])

    package struct Field: Sendable, Hashable {
        package let name: String
        package let value: Value

        package init(name: String, value: Value) {
            self.name = name
            self.value = value
        }
    }
}

extension Value {
    var isList: Bool {
        if case .list = self { true } else { false }
    }

    /// The kind of value, for messages: "a text", "a list".
    package var described: String {
        switch self {
        case .null: "null"
        case .bool(let bool): bool ? "true" : "false"
        case .int: "a whole number"
        case .decimal: "a number"
        case .string: "a text"
        case .list: "a list"
        case .object: "an object"
        }
    }

    /// Returns the field of an object; nil if it has none of the name. Throws for any other value.
    func field(_ name: String, at range: SourceRange) throws(EvaluationError) -> Value? {
        guard case .object(let fields) = self else {
            throw EvaluationError("\(described) has no field `\(name)`", at: range)
        }
        return fields.first { $0.name == name }?.value
    }

    /// True if they can be compared for equality: both are of one type, and all numbers are of the same type.
    func isComparable(to other: Value) -> Bool {
        switch (self, other) {
        case (.null, .null), (.bool, .bool), (.string, .string), (.list, .list), (.object, .object): true
        case (.int, .int), (.int, .decimal), (.decimal, .int), (.decimal, .decimal): true
        default: false
        }
    }

    /// Compares texts byte by byte, and objects in any order of their fields; values of different types are not
    /// equal.
    package func isEqual(to other: Value) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.list(let left), .list(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.isEqual(to: $1) }
        case (.object(let left), .object(let right)): Self.areEqual(left, right)
        default: order(against: other) == 0
        }
    }

    private static func areEqual(_ left: [Field], _ right: [Field]) -> Bool {
        guard left.count == right.count else { return false }
        let fields = Dictionary(right.map { ($0.name, $0.value) }) { first, _ in first }
        return left.allSatisfy { field in fields[field.name].map { field.value.isEqual(to: $0) } ?? false }
    }

    /// Returns a number below, equal to or above 0 for the order of two numbers or of two texts (by their bytes); nil
    /// for anything else.
    func order(against other: Value) -> Int? {
        switch (self, other) {
        case (.int(let left), .int(let right)): left < right ? -1 : left == right ? 0 : 1
        case (.decimal(let left), .decimal(let right)): left.order(against: right)
        case (.int(let left), .decimal(let right)): WrittenNumber(String(left)).order(against: right)
        case (.decimal(let left), .int(let right)): left.order(against: WrittenNumber(String(right)))
        case (.string(let left), .string(let right)):
            left.utf8.elementsEqual(right.utf8) ? 0 : left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1
        default: nil
        }
    }
}

extension Value {
    /// The largest nesting depth of lists and objects.
    private static let depthLimit = 64

    /// Reads a JSON text (RFC 8259). Numbers without fraction and exponent that fit into 64 bits are whole; all
    /// others keep their spelling. Throws for a name that an object has twice, and for nesting deeper than 64 levels.
    /// O(length).
    package init(json text: String) throws(JSONError) {
        self = try Array(text.utf8).withUnsafeBufferPointer { text throws(JSONError) in
            var scanner = JSONScanner(UnsafeRawBufferPointer(text), depthLimit: Self.depthLimit)
            let value = try Value(next: &scanner, of: text)
            try scanner.end()
            return value
        }
    }

    private init(next scanner: inout JSONScanner, of text: UnsafeBufferPointer<UInt8>) throws(JSONError) {
        switch try scanner.next() {
        case .null:
            try scanner.null()
            self = .null
        case .bool: self = .bool(try scanner.bool())
        case .string: self = .string(scanner.decoded(try scanner.string()))
        case .number:
            let (place, isWhole) = try scanner.number()
            let digits = String(decoding: text[place], as: UTF8.self)
            // A whole number cannot be minus zero.
            let number = isWhole && digits != "-0" ? Int(digits) : nil
            self = number.map(Value.int) ?? .decimal(WrittenNumber(digits))
        case .list:
            var elements: [Value] = []
            try scanner.list { scanner throws(JSONError) in elements.append(try Value(next: &scanner, of: text)) }
            self = .list(elements)
        case .object:
            var fields: [Field] = []
            var names: Set<String> = []
            try scanner.object { scanner, name throws(JSONError) in
                let decoded = scanner.decoded(name)
                guard names.insert(decoded).inserted else {
                    throw JSONError("the object has this name twice", at: name.place)
                }
                fields.append(Field(name: decoded, value: try Value(next: &scanner, of: text)))
            }
            self = .object(fields)
        }
    }

    /// The value as compact JSON, fields in their order. O(size).
    package var json: String {
        var bytes: [UInt8] = []
        appendJSON(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value as part of a text or as an environment variable: a text as it is, null as an empty text, lists and
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
        case .decimal(let number): bytes += number.text.utf8
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

/// A number with the spelling of a JSON text: `1.10` stays `1.10`, and `1e400` is as good a number as 1.
package struct WrittenNumber: Sendable, Hashable {
    /// In JSON's grammar.
    package let text: String

    package init(_ text: String) { self.text = text }

    /// The result of arithmetic. The number is finite.
    package init(_ number: Double) { text = number.description }

    /// The nearest `Double`; infinite beyond its range.
    package var approximation: Double { Double(text) ?? .nan }

    /// Returns a number below, equal to or above 0 if this is less than, equal to or more than another, exactly.
    /// O(length of both).
    func order(against other: WrittenNumber) -> Int {
        let (left, right) = (Parts(text), Parts(other.text))
        guard left.sign == right.sign else { return left.sign < right.sign ? -1 : 1 }
        return left.sign * left.magnitudeOrder(against: right)
    }

    /// ± 0.DIGITS times ten to the power of the exponent, without zeros at either end of the digits.
    private struct Parts {
        /// 0 for zero, whatever its spelling.
        var sign = 1
        var digits: [UInt8] = []
        var exponent = 0

        init(_ text: String) {
            var rest = text.utf8[...]
            let isNegative = rest.first == UInt8(ascii: "-")
            if isNegative { rest = rest.dropFirst() }
            var isFraction = false
            while let byte = rest.popFirst() {
                if byte == UInt8(ascii: ".") {
                    isFraction = true
                } else if byte &- 0x30 < 10 {
                    // Leading zeros move the point, or mean nothing.
                    if !digits.isEmpty || byte != 0x30 { digits.append(byte) }
                    if isFraction, digits.isEmpty { exponent -= 1 }
                    if !isFraction, !digits.isEmpty { exponent += 1 }
                } else {
                    exponent += Self.exponent(rest)
                    break
                }
            }
            while digits.last == 0x30 { digits.removeLast() }
            sign = digits.isEmpty ? 0 : isNegative ? -1 : 1
        }

        /// An exponent that is too large for an `Int` becomes one that no number of digits can make up for.
        private static func exponent(_ text: Substring.UTF8View) -> Int {
            let limit = 1 << 40
            let isNegative = text.first == UInt8(ascii: "-")
            return Int(String(Substring(text))).map { max(-limit, min(limit, $0)) } ?? (isNegative ? -limit : limit)
        }

        func magnitudeOrder(against other: Parts) -> Int {
            if exponent != other.exponent { return exponent < other.exponent ? -1 : 1 }
            if digits == other.digits { return 0 }
            return digits.lexicographicallyPrecedes(other.digits) ? -1 : 1
        }
    }
}
