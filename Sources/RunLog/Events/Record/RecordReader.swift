package import Basics

/// Fills values from a record.
struct RecordReader: RecordVisitor {
    static var isReader: Bool { true }

    let record: JSONObject
    /// False once a field was missing.
    var isComplete = true

    mutating func field<Value: RecordValue>(_ name: StaticString, _ value: inout Value, _ rule: FieldRule) {
        if let found = Value(record, name) { value = found } else { isComplete = false }
    }

    mutating func optional<Value: RecordValue>(_ name: StaticString, _ value: inout Value?, _ rule: FieldRule) {
        value = Value(record, name)
    }

    mutating func kept<Value: RecordValue>(_ name: StaticString, _ value: inout Value?) { value = Value(record, name) }

    mutating func text(_ name: StaticString, _ bytes: inout UnsafeRawBufferPointer, _ meaning: StaticString) {}

    mutating func fail() { isComplete = false }
}

extension RecordFields {
    /// nil if a field is missing.
    package init?(_ record: JSONObject) {
        var reader = RecordReader(record: record)
        self.init()
        fields(&reader)
        if !reader.isComplete { return nil }
    }
}

extension UnsafeRawBufferPointer {
    package static var nothing: Self { Self(start: nil, count: 0) }
}
