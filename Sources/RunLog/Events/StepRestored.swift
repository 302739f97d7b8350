internal import Basics

/// The result of an earlier run in place of a step's start and end: its success is restored.
package struct StepRestored: RecordFields, Sendable {
    package var step = ""
    /// As in `StepFinished`.
    package var outputs: [LoggedValue] = []
    package var item: String?
    package var name: String?
    package var definition: String?
    /// The bytes that it wrote to standard output; nil if nothing reads them. Not in the log.
    package var standardOutput: [UInt8]?

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.step(&step)
        visitor.field("outputs", &outputs, "the step's outputs by name")
        visitor.item(&item)
        visitor.name(&name)
        visitor.kept("definition", &definition)
        var output = Visitor.isReader ? nil : standardOutput.map(Base64.text)
        visitor.kept("stdout_base64", &output)
        guard Visitor.isReader, let output else { return }
        standardOutput = Base64.bytes(of: output)
        if standardOutput == nil { visitor.fail() }
    }
}

/// A step of the resumed run is about to run again.
package struct StepRerun: RecordFields, Sendable {
    package var step = ""
    package var reason = RerunReason.unfinished

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.step(&step)
        visitor.field("reason", &reason, "why it is not restored")
    }
}

/// The reason why a step of the resumed run runs again.
package enum RerunReason: String, RecordWord, Sendable, Hashable {
    /// It had not ended, or not in a round that counts.
    case unfinished
    /// It had not succeeded.
    case outcome
    /// `--from` names it, or an enclosing group.
    case asked
    /// A hook that counts as undoing it has started since.
    case undone
    /// Something that it needs has run again.
    case upstream
    /// Its definition, or what it needs, has changed.
    case definition
    /// Its result was not kept: it holds a secret, or was in `FLOWRUN_TEMP`.
    case result
    /// Its kept output has changed since.
    case damage

    package var meaning: String? { words }

    /// The reason as a clause.
    package var words: String {
        switch self {
        case .unfinished: "it had not finished"
        case .outcome: "it had not succeeded"
        case .asked: "--from asks for it"
        case .undone: "a hook has undone it"
        case .upstream: "something that it needs ran again"
        case .definition: "its definition or its needs have changed"
        case .result: "its result could not be kept"
        case .damage: "its kept output does not match its checksum"
        }
    }
}

/// The steps and groups that count as undone once a step of a hook starts.
package struct Undoing: RecordFields, Sendable, Hashable {
    /// The id of the group that the hook belongs to; empty for the run.
    package var body = ""
    /// Ids relative to the body, as in `undoes`; nil for the whole body.
    package var members: [String]?

    package init() {}

    /// Full ids of steps and groups; the empty id is the whole run.
    package var ids: [String] {
        guard let members else { return [body] }
        return body.isEmpty ? members : members.map { "\(body).\($0)" }
    }

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.field("body", &body, "id of the group that the hook belongs to; empty for the run")
        visitor.field(
            "undoes", &members, "members of that group, as `undoes` in the file says; null for all of them")
    }
}
