/// One JSON object out of a line that a program wrote: its fields by name and by type. A field of another type counts as
/// absent, and so does one that is missing.
package struct JSONObject: Sendable {
    private let fields: [JSONElement.Field]

    /// nil if the bytes are not one JSON object and nothing else.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = JSONElementReader(bytes)
        guard case .object(let fields) = reader.document() else { return nil }
        self.fields = fields
    }

    init(_ fields: [JSONElement.Field]) { self.fields = fields }

    private subscript(_ name: StaticString) -> JSONElement? {
        let wanted = UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        return fields.first { field in field.name.utf8.elementsEqual(wanted) }?.value
    }

    package func string(_ name: StaticString) -> String? {
        if case .string(let text) = self[name] { text } else { nil }
    }

    package func bool(_ name: StaticString) -> Bool? { if case .bool(let flag) = self[name] { flag } else { nil } }

    package func int(_ name: StaticString) -> Int? {
        if case .number(let digits) = self[name] { Int(digits) } else { nil }
    }

    /// Of seconds, exact to the microsecond; what lies below is cut off. Thirty thousand years and more count as absent:
    /// nothing can be reckoned with them.
    package func duration(_ name: StaticString) -> Duration? {
        guard case .number(let digits) = self[name] else { return nil }
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        let isNegative = digits.hasPrefix("-")
        guard parts.count <= 2, let seconds = Int64(parts[0]), seconds.magnitude < 1_000_000_000_000 else { return nil }
        let fraction = parts.count == 2 ? parts[1].prefix(6) : ""
        guard let microseconds = Int64(fraction + String(repeating: "0", count: 6 - fraction.count)) else { return nil }
        return .seconds(seconds) + .microseconds(isNegative ? -microseconds : microseconds)
    }

    package func object(_ name: StaticString) -> JSONObject? {
        if case .object(let fields) = self[name] { JSONObject(fields) } else { nil }
    }

    /// Of a list, what is an object; empty if it is missing.
    package func objects(_ name: StaticString) -> [JSONObject] {
        list(name).compactMap { if case .object(let fields) = $0 { JSONObject(fields) } else { nil } }
    }

    /// Of a list, what is a string; nil if it is missing, or no list.
    package func strings(_ name: StaticString) -> [String]? {
        guard case .array(let elements) = self[name] else { return nil }
        return elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
    }

    /// The members in their order, each value as the text that stands in the line.
    package var members: [(name: String, json: String)] { fields.map { ($0.name, $0.json) } }

    private func list(_ name: StaticString) -> [JSONElement] {
        if case .array(let elements) = self[name] { elements } else { [] }
    }
}
