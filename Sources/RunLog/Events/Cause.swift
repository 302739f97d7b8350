/// The link from a cause to the cause below it: a chain that ends at a root.
package indirect enum CauseLink: Sendable, Hashable {
    case root
    case because(Cause)
}

/// One link of the chain: what happened, to which subject, and the place in the file.
///
/// A victim's link leads straight to the root that ruled it out, not through every victim between. Otherwise ten
/// thousand steps in a row would make ten thousand chains, each longer than the one before.
package struct Cause: RecordFields, RecordValue, Sendable, Hashable {
    package enum Kind: String, RecordWord, Sendable, Hashable {
        /// The process ended with a status other than 0.
        case exit
        /// The process was ended by a signal that flowrun did not send.
        case signal
        case timeout
        case failFast = "fail-fast"
        /// Something it needs, or the enclosing group, ended in a way that rules it out.
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
    /// The event as a clause without its subject: `exit 2`, `timed out after 1s`, `interrupted by SIGINT`.
    package var message = ""
    package var subject = Subject.run
    /// The workflow file's name and the line of the subject; nil if no place is to blame, as for a signal.
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

extension Cause {
    /// The message, and if something else is to blame, the root: `cancelled because compile failed`. For a group only
    /// the root, if that names the failed member.
    var words: String {
        // A message about a failed value of `vars` already has its outcome, and one about an unmet need says enough.
        if cause == nil || isOfSharedValue || kind == .condition { return ownWords }
        return kind == .member && (root.isFailure || root.kind == .condition) ? reason : "\(ownWords) because \(reason)"
    }

    /// The root as a clause with its subject. If the root is a condition, its own step has failed: by a `require`, or
    /// because the condition could not be evaluated.
    var reason: String {
        if kind == .condition { return ownWords }
        return cause != nil && root.kind == .condition
            ? "\(root.subject.words) failed: \(root.message)" : root.rootWords
    }

    /// The words of this link alone; for a member with its name, because the chain begins at the enclosing group.
    var ownWords: String { kind == .member ? "\(subject.words) \(message)" : message }

    private var isFailure: Bool {
        switch kind {
        case .exit, .signal, .spawn, .expression, .output, .lost, .timeout: true
        case .failFast, .dependency, .condition, .interrupt, .member: false
        }
    }

    private var isOfSharedValue: Bool { if case .sharedValue? = cause?.subject { true } else { false } }

    /// A root cause as a clause with its subject: `compile failed`, `group build timed out`.
    private var rootWords: String {
        switch kind {
        case .exit, .signal, .spawn, .expression, .output, .lost: "\(subject.words) failed"
        case .timeout: "\(subject.words) timed out"
        case .failFast, .dependency, .condition, .interrupt, .member: ownWords
        }
    }
}

extension Cause.Subject {
    /// `compile`, `group build`, `the run`.
    var words: String {
        switch self {
        case .step(let step): step
        case .group(let group): "group \(group)"
        case .sharedValue(let name): "`vars.\(name)`"
        case .run: "the run"
        }
    }
}

/// A step or group by its full id.
package enum Subject: Sendable, Hashable {
    case step(String)
    case group(String)
}

extension Subject {
    /// Visits the field of its kind.
    mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        switch self {
        case .step(var id):
            visitor.step(&id)
            if Visitor.isReader { self = .step(id) }
        case .group(var id):
            visitor.group(&id)
            if Visitor.isReader { self = .group(id) }
        }
    }

    /// Visits the fields of a lock that the subject has acquired or released.
    mutating func fields<Visitor: RecordVisitor & ~Copyable>(ofLock name: inout String, _ visitor: inout Visitor) {
        visitor.field("name", &name, "the pool's or mutex's name")
        var (step, group): (String?, String?)
        switch self {
        case .step(let id): step = id
        case .group(let id): group = id
        }
        visitor.field("step", &step, "full id of the step, such as `build[x86_64].compile`; null for a group")
        visitor.field("group", &group, "full id of the group, such as `build[x86_64]`; null for a step")
        guard Visitor.isReader else { return }
        if let found = step.map(Subject.step) ?? group.map(Subject.group) { self = found } else { visitor.fail() }
    }
}

/// The command inside a script at which the script failed, as far as its shell can tell.
package struct FailedCommand: Sendable, Hashable {
    /// The command's first line, as the shell prints it, and no longer than a terminal can show.
    package let text: String
    /// The file with the command: the workflow's, or one that the script has read with `source`.
    package let file: String
    /// From 1.
    package let line: Int

    package init(text: String, file: String, line: Int) {
        self.text = text
        self.file = file
        self.line = line
    }

    /// The command as a part of a sentence after its exit status; nil if that would only repeat it, as in "exit 3 in
    /// `exit 3`".
    package var words: String? {
        text == "exit" || text.hasPrefix("exit ") ? nil : "in `\(text)`"
    }

    static func fields<Visitor: RecordVisitor & ~Copyable>(of command: inout FailedCommand?, _ visitor: inout Visitor) {
        var (text, file, line) = (command?.text, command?.file, command?.line)
        visitor.field(
            "command", &text,
            "the command at which the step's script failed, its first line; null where the shell cannot tell")
        visitor.field(
            "command_file", &file,
            "the file of the command: the workflow file, or one that the script has read")
        visitor.field("command_line", &line, FieldRule("its line in that file, from 1", least: 1))
        guard Visitor.isReader, let text, let file, let line else { return }
        command = FailedCommand(text: text, file: file, line: line)
    }
}
