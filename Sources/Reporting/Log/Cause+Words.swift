internal import RunEvents

extension Cause {
    /// What happened and, where something else is to blame, the root: `cancelled because compile failed`.
    var words: String {
        cause == nil ? message : "\(message) because \(root.rootWords)"
    }

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
        case .run: "the run"
        }
    }
}
