package import WorkflowModel

extension JSONWriter {
    /// Fields whose names and values a workflow gives, in order.
    package mutating func fields(_ fields: [Value.Field]) {
        for field in fields {
            key(field.name)
            value(field.value)
        }
    }

    package mutating func value(_ value: Value) {
        switch value {
        case .null: null()
        case .bool(let value): self.value(value)
        case .int(let number): self.value(number)
        case .decimal(let number): self.value(decimal: number)
        case .string(let text): self.value(text)
        case .list(let elements): array { json in for element in elements { json.value(element) } }
        case .object(let fields): object { json in json.fields(fields) }
        }
    }
}
