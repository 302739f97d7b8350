/// A step or group by its full id.
package enum Subject: Sendable, Hashable {
    case step(String)
    case group(String)
}

extension Subject {
    /// The field that its kind has.
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

    /// The fields of a lock that was taken or given back by this.
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
