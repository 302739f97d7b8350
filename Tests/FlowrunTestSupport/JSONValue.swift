/// A parsed JSON value, with accessors that answer nil where it is something else.
package enum JSONValue: Sendable, Hashable, Decodable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    package var string: String? { if case .string(let value) = self { value } else { nil } }
    package var double: Double? { if case .number(let value) = self { value } else { nil } }
    package var int: Int? { double.flatMap(Int.init(exactly:)) }
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    package var object: [String: JSONValue]? { if case .object(let value) = self { value } else { nil } }
    package var isNull: Bool { self == .null }

    /// The strings of an array of strings.
    package var strings: [String]? { array.map { $0.compactMap(\.string) } }

    package subscript(_ key: String) -> JSONValue? { object?[key] }
    package subscript(_ index: Int) -> JSONValue? {
        array.flatMap { $0.indices.contains(index) ? $0[index] : nil }
    }
}
