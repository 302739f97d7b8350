/// A type whose values are an object of the record, or a part of one.
///
/// Each field is said once, in `fields`: its name, where its value is kept, and what it means. The log and the journal
/// are written from that, read back from that, and the schema is made of that, in the same order.
package protocol RecordFields {
    /// An empty value, for a reader to fill.
    init()

    mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor)
}

extension RecordFields {
    /// A value that `fill` gives its fields.
    @inlinable package init(_ fill: (inout Self) -> Void) {
        self.init()
        fill(&self)
    }
}

/// Goes through the fields of a record, in their order.
package protocol RecordVisitor: ~Copyable {
    /// True if it changes the values, false if it looks at them.
    static var isReader: Bool { get }

    mutating func field<Value: RecordValue>(_ name: StaticString, _ value: inout Value, _ rule: FieldRule)

    /// A field that is left out if it is nil.
    mutating func optional<Value: RecordValue>(_ name: StaticString, _ value: inout Value?, _ rule: FieldRule)

    /// The same for one that only the journal has: what the log does not tell and a later run needs.
    mutating func kept<Value: RecordValue>(_ name: StaticString, _ value: inout Value?)

    /// The bytes that an event of output lends.
    mutating func text(_ name: StaticString, _ bytes: inout UnsafeRawBufferPointer, _ meaning: StaticString)

    /// The fields that were read contradict each other, or say too little.
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

    // Fields that several events have.

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
            "values of the innermost fan-out around the step, in axis order with commas between them, or those of `include` where there are no axes; null outside of a fan-out"
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

/// What a field of the schema says beside its type.
package struct FieldRule {
    package let meaning: StaticString
    /// The smallest number that it may be.
    package let least: Int
    /// What a text must match; nil if it may be any.
    package let pattern: StaticString?

    @inline(__always)
    package init(_ meaning: StaticString, least: Int = 0, pattern: StaticString? = nil) {
        self.meaning = meaning
        self.least = least
        self.pattern = pattern
    }
}
