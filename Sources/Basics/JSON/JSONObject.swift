/// One JSON object out of a line that a program wrote: its fields by name and by type. A field of another type counts as
/// absent, and so does one that is missing. A value is read when it is asked for, so what is not costs next to nothing.
package struct JSONObject: Sendable {
    private let text: [UInt8]
    private let fields: [JSONScanner.Field]

    /// nil if the bytes are not one JSON object and nothing else.
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

    /// A number of seconds, as `JSONText` reads it.
    package func duration(_ name: StaticString) -> Duration? {
        value(name) { JSONText($0).duration }
    }

    package func object(_ name: StaticString) -> JSONObject? { value(name) { JSONObject($0) } }

    /// Of a list, what is an object; empty if it is missing.
    package func objects(_ name: StaticString) -> [JSONObject] { list(name) { JSONObject($0) } ?? [] }

    /// Of a list, what is a string; nil if it is missing, or no list.
    package func strings(_ name: StaticString) -> [String]? { list(name) { JSONText($0).string } }

    /// The members in their order, each value as the text that stands in the line.
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

    /// What `read` makes of the value of a field; nil where there is none.
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

    /// What `read` makes of the elements of a list, without those that it makes nothing of; nil where there is no list.
    private func list<Element>(
        _ name: StaticString, _ read: (UnsafeRawBufferPointer) -> Element?
    ) -> [Element]? {
        value(name) { value in
            JSONScanner.elements(of: value)?.compactMap { read(UnsafeRawBufferPointer(rebasing: value[$0])) }
        }
    }
}

/// A view of one JSON value in a buffer, valid as long as the buffer is.
package struct JSONText {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Hands out fields in their order, until `take` returns false; the text behind that is not read. `text` is what
    /// stands between the braces of an object, or the rest of that from one of its fields on. Costs less than a
    /// `JSONObject`. A name that has escapes is none that a program looks for, and is left out.
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

    /// nil for anything but a string.
    package var string: String? {
        guard bytes.first == UInt8(ascii: "\"") else { return nil }
        return JSONEscape.text(of: UnsafeRawBufferPointer(rebasing: bytes.dropFirst().dropLast()))
    }

    /// Of seconds, exact to the microsecond; what lies below is cut off. nil for anything else, and for thirty thousand
    /// years and more: nothing can be reckoned with them.
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
