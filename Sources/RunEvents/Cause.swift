/// Why something did not succeed: a chain of links that ends at a root.
package indirect enum CauseLink: Sendable, Hashable {
    case root
    case because(Cause)
}

/// One link of the chain: what happened to whom, and where that stands in the file.
///
/// A victim's link leads straight to the root that ruled it out, not through every victim between: ten thousand steps
/// in a row would otherwise make ten thousand chains, each longer than the one before.
package struct Cause: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
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

    package let kind: Kind
    /// What happened, as a clause without its subject: `exit 2`, `timed out after 1s`, `interrupted by SIGINT`.
    package let message: String
    package let subject: Subject
    /// The workflow file's name and the line of the subject; nil where no place is to blame, as for a signal.
    package let file: String?
    package let line: Int?
    package let next: CauseLink

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
}
