/// One JSON object from a line written by a program: its fields by name and type. A field of another type counts as
/// missing. A value is decoded only on access, so unused ones cost next to nothing.
package struct JSONObject: Sendable {
    private let text: [UInt8]
    private let fields: [JSONScanner.Field]

    /// Returns nil if the bytes are not exactly one JSON object.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard let fields = JSONScanner.fields(of: bytes) else { return nil }
        self.fields = fields
        text = Array(bytes)
    }

    package func string(_ name: StaticString) -> String? { value(name) { JSONText($0).string } }

    package func bool(_ name: StaticString) -> Bool? {
        value(name) { value in
            switch value.first {
            case UInt8(ascii: "t"): true
            case UInt8(ascii: "f"): false
            default: nil
            }
        }
    }

    package func int(_ name: StaticString) -> Int? {
        value(name) { Int(String(decoding: $0, as: UTF8.self)) }
    }

    /// The number of seconds of a field, as `JSONText` reads it.
    package func duration(_ name: StaticString) -> Duration? {
        value(name) { JSONText($0).duration }
    }

    package func object(_ name: StaticString) -> JSONObject? { value(name) { JSONObject($0) } }

    /// The elements of a list that are objects; empty if the list is missing.
    package func objects(_ name: StaticString) -> [JSONObject] { list(name) { JSONObject($0) } ?? [] }

    /// The elements of a list that are strings; nil if the field is missing or no list.
    package func strings(_ name: StaticString) -> [String]? { list(name) { JSONText($0).string } }

    /// The members in order, each value as its text in the line.
    package var members: [(name: String, json: String)] {
        text.withUnsafeBytes { text in
            fields.map { field in
                (
                    JSONEscape.text(of: UnsafeRawBufferPointer(rebasing: text[field.name.range])),
                    String(decoding: text[field.value], as: UTF8.self)
                )
            }
        }
    }

    // MARK: Values

    /// Applies `read` to the value of a field; nil if there is no such field.
    private func value<Value>(_ wanted: StaticString, _ read: (UnsafeRawBufferPointer) -> Value?) -> Value? {
        text.withUnsafeBytes { text in
            let found = fields.first { field in
                let name = UnsafeRawBufferPointer(rebasing: text[field.name.range])
                if field.name.isEscaped { return JSONEscape.text(of: name) == wanted.description }
                return wanted.isText(name)
            }
            return found.flatMap { read(UnsafeRawBufferPointer(rebasing: text[$0.value])) }
        }
    }

    /// Applies `read` to the elements of a list and leaves out those for which it returns nil; nil if there is no
    /// list.
    private func list<Element>(
        _ name: StaticString, _ read: (UnsafeRawBufferPointer) -> Element?
    ) -> [Element]? {
        value(name) { value in
            JSONScanner.elements(of: value)?.compactMap { read(UnsafeRawBufferPointer(rebasing: value[$0])) }
        }
    }
}

/// A view of one JSON value in a buffer, valid only as long as the buffer.
package struct JSONText {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Passes fields in order to `take` until it returns false; the rest of the text is not read. `text` is the
    /// content between the braces of an object, or its rest from one of its fields on. Cheaper than a `JSONObject`.
    /// Fields whose names have escapes are skipped: no program looks for such a name.
    package static func forEachField(
        in text: UnsafeRawBufferPointer, _ take: (_ name: JSONText, _ value: JSONText) -> Bool
    ) {
        JSONScanner.forEachField(in: text) { field in
            field.name.isEscaped
                || take(
                    JSONText(UnsafeRawBufferPointer(rebasing: text[field.name.range])),
                    JSONText(UnsafeRawBufferPointer(rebasing: text[field.value])))
        }
    }

    package func isText(_ text: StaticString) -> Bool { text.isText(bytes) }

    /// The decoded string; nil for anything but a string.
    package var string: String? {
        guard bytes.first == UInt8(ascii: "\"") else { return nil }
        return JSONEscape.text(of: UnsafeRawBufferPointer(rebasing: bytes.dropFirst().dropLast()))
    }

    /// A number of seconds, truncated to the microsecond. nil for anything else, and for thirty thousand years
    /// or more, which are of no use in calculations.
    package var duration: Duration? {
        var rest = bytes[...]
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative { rest.removeFirst() }
        let whole = Self.takeDigits(&rest, atMost: 12)
        guard whole.count > 0 else { return nil }
        var microseconds: Int64 = 0
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            let fraction = Self.takeDigits(&rest, atMost: 6)
            microseconds = (fraction.count..<6).reduce(fraction.value) { value, _ in value * 10 }
            rest = rest.drop(while: Self.isDigit)
        }
        guard rest.isEmpty else { return nil }
        return .seconds(isNegative ? -whole.value : whole.value)
            + .microseconds(isNegative ? -microseconds : microseconds)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func takeDigits(
        _ rest: inout Slice<UnsafeRawBufferPointer>, atMost limit: Int
    ) -> (value: Int64, count: Int) {
        let digits = rest.prefix(limit).prefix(while: isDigit)
        rest.removeFirst(digits.count)
        return (digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }, digits.count)
    }
}
