package import Basics

/// Writes values as fields of a record.
struct RecordWriter: RecordVisitor, ~Copyable {
    static var isReader: Bool { false }

    var json: JSONWriter
    let isJournal: Bool
    /// Writes the fields that stand for the bytes of an output; nil if those are written themselves.
    let output: ((inout JSONWriter) -> Void)?

    @inline(__always)
    mutating func field<Value: RecordValue>(_ name: StaticString, _ value: inout Value, _ rule: FieldRule) {
        value.write(name, to: &json, isJournal: isJournal)
    }

    @inline(__always)
    mutating func optional<Value: RecordValue>(_ name: StaticString, _ value: inout Value?, _ rule: FieldRule) {
        if let value { value.write(name, to: &json, isJournal: isJournal) }
    }

    @inline(__always)
    mutating func kept<Value: RecordValue>(_ name: StaticString, _ value: inout Value?) {
        if isJournal, let value { value.write(name, to: &json, isJournal: true) }
    }

    @inline(__always)
    mutating func text(_ name: StaticString, _ bytes: inout UnsafeRawBufferPointer, _ meaning: StaticString) {
        if let output { output(&json) } else { json.field(name, repairing: bytes) }
    }

    func fail() {}
}

extension JSONWriter {
    /// The fields of an event's record, in the open object. `isJournal`: those that only the journal has as well, and
    /// what `output` writes in place of the bytes of an output.
    ///
    /// No generic function: other targets would call that without its specialization, for a sixth of a step.
    package mutating func fields(
        of event: RunEvent, isJournal: Bool = false, output: ((inout JSONWriter) -> Void)? = nil
    ) {
        var writer = RecordWriter(json: self, isJournal: isJournal, output: output)
        event.write(to: &writer)
        self = writer.json
    }

    /// The fields of a value inside a record.
    @inline(__always)
    mutating func fields<Value: RecordFields>(of value: Value, isJournal: Bool) {
        var value = value
        var writer = RecordWriter(json: self, isJournal: isJournal, output: nil)
        value.fields(&writer)
        self = writer.json
    }

    /// The same for an object that is no event. Slow: see above.
    package mutating func fields(of value: some RecordFields) { fields(of: value, isJournal: false) }
}
