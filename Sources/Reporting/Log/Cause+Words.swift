internal import RunEvents

extension Cause {
    /// What happened and, where something else is to blame, the root: `cancelled because compile failed`.
    var words: String {
        // The message of what reads one of `vars` says already what became of that.
        if cause == nil || isOfSharedValue { return message }
        return "\(message) because \(root.rootWords)"
    }

    private var isOfSharedValue: Bool { if case .sharedValue? = cause?.subject { true } else { false } }

    /// A root cause as a clause with its subject: `compile failed`, `group build timed out`.
    var rootWords: String {
        switch kind {
        case .exit, .signal, .spawn, .expression, .output, .lost: "\(subject.words) failed"
        case .timeout: "\(subject.words) timed out"
        case .failFast, .dependency, .condition, .interrupt, .member: message
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
