package import Basics

/// A type whose values are an object of the record, or a part of one.
///
/// `fields` declares each field once: its name, the property with its value, and its meaning. Writing the log and the
/// journal, reading them, and generating the schema all use this declaration, in the same order.
package protocol RecordFields {
    /// Makes an empty value for a reader to fill.
    init()

    mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor)
}

extension RecordFields {
    /// Makes a value whose fields `fill` sets.
    @inlinable package init(_ fill: (inout Self) -> Void) {
        self.init()
        fill(&self)
    }
}

/// Visits the fields of a record in order.
package protocol RecordVisitor: ~Copyable {
    /// True if it changes the values; false if it only reads them.
    static var isReader: Bool { get }

    mutating func field<Value: RecordValue>(_ name: StaticString, _ value: inout Value, _ rule: FieldRule)

    /// Visits a field that is left out if it is nil.
    mutating func optional<Value: RecordValue>(_ name: StaticString, _ value: inout Value?, _ rule: FieldRule)

    /// Visits a field that only the journal has, because a later run needs it; left out if it is nil.
    mutating func kept<Value: RecordValue>(_ name: StaticString, _ value: inout Value?)

    /// Visits the borrowed bytes of an output event.
    mutating func text(_ name: StaticString, _ bytes: inout UnsafeRawBufferPointer, _ meaning: StaticString)

    /// Reports that the fields read so far contradict each other or are incomplete.
    mutating func fail()
}

extension RecordVisitor where Self: ~Copyable {
    @inline(__always)
    package mutating func field<Value: RecordValue>(_ name: StaticString, _ value: inout Value, _ meaning: StaticString)
    {
        field(name, &value, FieldRule(meaning))
    }

    @inline(__always)
    package mutating func optional<Value: RecordValue>(
        _ name: StaticString, _ value: inout Value?, _ meaning: StaticString
    ) {
        optional(name, &value, FieldRule(meaning))
    }

    // Fields of several events.

    package mutating func step(_ id: inout String) {
        field("step", &id, "full id of the step, such as `build[x86_64].compile`")
    }

    mutating func group(_ id: inout String) {
        field("group", &id, "full id of the group, such as `build[x86_64]`")
    }

    mutating func attempt(_ number: inout Int) {
        field("attempt", &number, FieldRule("which try of the step this is, from 1", least: 1))
    }

    mutating func delay(_ delay: inout Duration) { field("delay", &delay, "seconds until the next one may begin") }

    mutating func outcome(_ outcome: inout StepOutcome) {
        field("outcome", &outcome, "how a step, a group or the run ended")
    }

    mutating func cause(_ cause: inout Cause?) {
        field("cause", &cause, "a cause, or null where there is none: a success, or the root of the chain")
    }

    mutating func item(_ item: inout String?) {
        field(
            "item", &item,
            """
            values of the innermost fan-out around the step, in axis order with commas between them, or those of \
            `include` where there are no axes; null outside of a fan-out
            """
        )
    }

    mutating func name(_ name: inout String?) {
        field("name", &name, "the step's `name`; null where the file has none")
    }

    mutating func status(_ status: inout ExitStatus?) {
        var (code, signal) = (status?.exitCode, status?.signalName)
        field("exit_code", &code, "status with which the process ended; null where it did not exit")
        field(
            "signal", &signal,
            FieldRule(
                "signal that ended the process, such as `SIGSEGV`; null where none did", pattern: "^SIG"))
        guard Self.isReader else { return }
        status =
            code.map { .exited(Int32(truncatingIfNeeded: $0)) }
            ?? signal.flatMap(SignalName.number).map(ExitStatus.signalled)
    }
}

/// The schema of a field besides its type.
package struct FieldRule {
    package let meaning: StaticString
    /// The smallest allowed number.
    package let least: Int
    /// The pattern of a text; nil if any text is allowed.
    package let pattern: StaticString?

    @inline(__always)
    package init(_ meaning: StaticString, least: Int = 0, pattern: StaticString? = nil) {
        self.meaning = meaning
        self.least = least
        self.pattern = pattern
    }
}

/// Sets values from a record of a journal, in which blank ones are left out.
struct RecordReader: RecordVisitor {
    static var isReader: Bool { true }

    let record: JSONObject
    /// False once a field was missing.
    var isComplete = true

    mutating func field<Value: RecordValue>(_ name: StaticString, _ value: inout Value, _ rule: FieldRule) {
        if let found = Value(record, name) ?? Value.blank { value = found } else { isComplete = false }
    }

    mutating func optional<Value: RecordValue>(_ name: StaticString, _ value: inout Value?, _ rule: FieldRule) {
        value = Value(record, name)
    }

    mutating func kept<Value: RecordValue>(_ name: StaticString, _ value: inout Value?) { value = Value(record, name) }

    mutating func text(_ name: StaticString, _ bytes: inout UnsafeRawBufferPointer, _ meaning: StaticString) {}

    mutating func fail() { isComplete = false }
}

extension RecordFields {
    /// Returns nil if a field is missing.
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

/// Writes values as fields of a record. A journal leaves out those that are blank: of a step's end, most are.
struct RecordWriter: RecordVisitor, ~Copyable {
    static var isReader: Bool { false }

    var json: JSONWriter
    let isJournal: Bool
    /// Receives the log's record of the same event beside that of a journal; nil if only one is wanted.
    let whole: WholeRecord?
    /// Writes the fields that replace the bytes of an output; nil if the bytes themselves are written.
    let output: ((inout JSONWriter) -> Void)?

    @inline(__always)
    mutating func field<Value: RecordValue>(_ name: StaticString, _ value: inout Value, _ rule: FieldRule) {
        if let whole {
            let start = whole.json.count
            value.write(name, to: &whole.json, isJournal: false)
            guard !value.isBlank else { return }
            if Value.isAlike {
                json.append(tailOf: whole.json, from: start)
            } else {
                value.write(name, to: &json, isJournal: true)
            }
        } else if !isJournal || !value.isBlank {
            value.write(name, to: &json, isJournal: isJournal)
        }
    }

    @inline(__always)
    mutating func optional<Value: RecordValue>(_ name: StaticString, _ value: inout Value?, _ rule: FieldRule) {
        if let value {
            value.write(name, to: &json, isJournal: isJournal)
            if let whole { value.write(name, to: &whole.json, isJournal: false) }
        }
    }

    @inline(__always)
    mutating func kept<Value: RecordValue>(_ name: StaticString, _ value: inout Value?) {
        if isJournal, let value { value.write(name, to: &json, isJournal: true) }
    }

    @inline(__always)
    mutating func text(_ name: StaticString, _ bytes: inout UnsafeRawBufferPointer, _ meaning: StaticString) {
        if let output { output(&json) } else { json.field(name, repairing: bytes) }
        if let whole { whole.json.field(name, repairing: bytes) }
    }

    func fail() {}
}

/// The record of an event as the log has it, written together with the journal's: what both have is written once and
/// copied, which is most of what a step costs the log in JSON.
package final class WholeRecord {
    /// The number of the event; nil if the last one has no record here.
    var sequence: Int?
    fileprivate var json = JSONWriter(capacity: 16 * 1024)

    /// Returns the record of an event with its line feed, valid until the next one; nil if it has another's or none.
    func bytes(of event: RunEvent) -> UnsafeRawBufferPointer? { sequence == event.sequence ? json.tail(from: 0) : nil }

    fileprivate func begin() {
        json.removeAll()
        json.beginObject()
    }

    fileprivate func end(_ event: RunEvent) {
        json.endObject()
        json.newline()
        sequence = event.sequence
    }
}

extension JSONWriter {
    /// Writes the fields of an event's record into the open object. With `isJournal`, it includes the fields that
    /// only the journal has, and calls `output` in place of writing the bytes of an output; then `whole`, if not nil,
    /// receives the log's record of the event.
    ///
    /// Not generic: other targets would call it unspecialized, which takes a sixth of a step's time.
    package mutating func fields(
        of event: RunEvent, isJournal: Bool = false, whole: WholeRecord? = nil,
        output: ((inout JSONWriter) -> Void)? = nil
    ) {
        whole?.begin()
        var writer = RecordWriter(json: self, isJournal: isJournal, whole: whole, output: output)
        event.write(to: &writer)
        self = writer.json
        whole?.end(event)
    }

    /// Writes the fields of a value inside a record.
    @inline(__always)
    mutating func fields<Value: RecordFields>(of value: Value, isJournal: Bool) {
        var value = value
        var writer = RecordWriter(json: self, isJournal: isJournal, whole: nil, output: nil)
        value.fields(&writer)
        self = writer.json
    }

    /// Writes the fields of an object that is no event. Slow, because it is not specialized in other targets.
    package mutating func fields(of value: some RecordFields) { fields(of: value, isJournal: false) }
}
