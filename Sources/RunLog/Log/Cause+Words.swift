extension Cause {
    /// What happened and, where something else is to blame, the root: `cancelled because compile failed`. Of a group
    /// the root alone, where that says which member failed.
    var words: String {
        // The message of what reads one of `vars` says already what became of that.
        if cause == nil || isOfSharedValue { return ownWords }
        return kind == .member && (root.isFailure || root.kind == .condition) ? reason : "\(ownWords) because \(reason)"
    }

    /// The root as a clause with its subject. A condition that rules out others failed its own step: that of a
    /// `require`, or one that could not be evaluated.
    var reason: String {
        cause != nil && root.kind == .condition ? "\(root.subject.words) failed: \(root.message)" : root.rootWords
    }

    /// What this link alone says; of a member with its name, because the chain begins at the group around it.
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
