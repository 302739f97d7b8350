internal import WorkflowModel

/// The fields of one JSON object from outside, by name and by type; a field of another type counts as absent.
struct JSONFields {
    private let fields: [Value.Field]

    /// nil if the bytes are not a JSON object.
    init?(_ bytes: some Sequence<UInt8>) {
        guard let value = try? Value(json: String(decoding: Array(bytes), as: UTF8.self)) else { return nil }
        self.init(value)
    }

    private init?(_ value: Value?) {
        guard case .object(let fields) = value else { return nil }
        self.fields = fields
    }

    /// In the order in which they were written.
    var names: [String] { fields.map(\.name) }

    subscript(_ name: String) -> Value? { fields.first { $0.name == name }?.value }

    func string(_ name: String) -> String? { if case .string(let text) = self[name] { text } else { nil } }
    func int(_ name: String) -> Int? { if case .int(let number) = self[name] { number } else { nil } }
    func bool(_ name: String) -> Bool? { if case .bool(let flag) = self[name] { flag } else { nil } }
    func object(_ name: String) -> JSONFields? { JSONFields(self[name]) }

    /// Of a list, what is an object.
    func objects(_ name: String) -> [JSONFields] { list(name).compactMap(JSONFields.init) }

    /// Of a list, what is a string.
    func strings(_ name: String) -> [String] {
        list(name).compactMap { if case .string(let text) = $0 { text } else { nil } }
    }

    /// Seconds.
    func duration(_ name: String) -> Duration? {
        switch self[name] {
        case .int(let seconds): .seconds(seconds)
        case .decimal(let seconds): .seconds(seconds.approximation)
        default: nil
        }
    }

    private func list(_ name: String) -> [Value] { if case .list(let values) = self[name] { values } else { [] } }
}
