/// Why something did not succeed: a chain of links that ends at a root.
package indirect enum CauseLink: Sendable, Hashable {
    case root
    case because(Cause)
}

/// One link of the chain: what happened to whom, and where that stands in the file.
///
/// A victim's link leads straight to the root that ruled it out, not through every victim between: ten thousand steps
/// in a row would otherwise make ten thousand chains, each longer than the one before.
package struct Cause: RecordFields, RecordValue, Sendable, Hashable {
    package enum Kind: String, RecordWord, Sendable, Hashable {
        /// The process ended with a status other than 0.
        case exit
        /// The process was ended by a signal that flowrun did not send.
        case signal
        case timeout
        case failFast = "fail-fast"
        /// Something it needs, or the group around it, ended in a way that rules it out.
        case dependency
        case condition
        /// An expression of the step could not be evaluated.
        case expression
        /// A signal to flowrun, such as Ctrl-C.
        case interrupt
        /// The process could not be started.
        case spawn
        case output
        case lost
        /// A member of the group failed.
        case member
    }

    package enum Subject: Sendable, Hashable {
        case step(String)
        case group(String)
        /// The command of one of `vars`, which belongs to no step.
        case sharedValue(String)
        case run
    }

    package var kind = Kind.exit
    /// What happened, as a clause without its subject: `exit 2`, `timed out after 1s`, `interrupted by SIGINT`.
    package var message = ""
    package var subject = Subject.run
    /// The workflow file's name and the line of the subject; nil where no place is to blame, as for a signal.
    package var file: String?
    package var line: Int?
    package var next = CauseLink.root

    package init() {}

    package init(
        kind: Kind, message: String, subject: Subject, file: String? = nil, line: Int? = nil, next: CauseLink = .root
    ) {
        self.kind = kind
        self.message = message
        self.subject = subject
        self.file = file
        self.line = line
        self.next = next
    }

    /// The cause below this one; nil at the root.
    package var cause: Cause? {
        if case .because(let cause) = next { cause } else { nil }
    }

    /// The last link of the chain.
    package var root: Cause {
        var last = self
        while let below = last.cause { last = below }
        return last
    }

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.field("kind", &kind, "what sort of cause it is")
        visitor.field("message", &message, "what happened, for people")
        subject.fields(&visitor)
        visitor.field("file", &file, "the workflow file; null where no place is to blame")
        visitor.field("line", &line, FieldRule("line in that file, from 1", least: 1))
        var below = cause
        visitor.cause(&below)
        if Visitor.isReader { next = below.map(CauseLink.because) ?? .root }
    }
}

extension Cause.Subject {
    /// At most one of them is not null.
    fileprivate mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        var (step, group, value): (String?, String?, String?)
        switch self {
        case .step(let id): step = id
        case .group(let id): group = id
        case .sharedValue(let name): value = name
        case .run: break
        }
        visitor.field("step", &step, "the step it happened to; null where it is a group or the run")
        visitor.field("group", &group, "the group it happened to; null where it is a step or the run")
        visitor.field(
            "var", &value,
            "the one of `vars` whose command it happened to; null where it is a step, a group or the run")
        guard Visitor.isReader else { return }
        self = step.map(Self.step) ?? group.map(Self.group) ?? value.map(Self.sharedValue) ?? .run
    }
}
