/// The steps and groups that count as undone once a step of a hook starts.
package struct Undoing: RecordFields, Sendable, Hashable {
    /// The id of the group that the hook belongs to; empty for the run.
    package var body = ""
    /// Ids below it, as its `undoes` says; nil for the whole body.
    package var members: [String]?

    package init() {}

    /// Full ids of steps and groups; empty for the run as a whole.
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
