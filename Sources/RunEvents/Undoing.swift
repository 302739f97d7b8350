/// What the start of a step in a hook counts as undoing.
package struct Undoing: Sendable, Hashable {
    /// The id of the group that the hook belongs to; empty for the run.
    package let body: String
    /// Ids below it, as its `undoes` says; nil for the whole body.
    package let members: [String]?

    package init(body: String, members: [String]?) {
        self.body = body
        self.members = members
    }

    /// Full ids of steps and groups; empty for the run as a whole.
    package var ids: [String] {
        guard let members else { return [body] }
        return body.isEmpty ? members : members.map { "\(body).\($0)" }
    }
}
