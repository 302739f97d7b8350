internal import ProcessExecution
internal import WorkflowModel
internal import WorkflowPlanning

/// Finds what an id means where it stands: a member of the same copy of the group, or of a group around it.
@EventLoopActor
final class NameIndex {
    enum Meaning {
        case row(Int)
        /// It is in the file, but the caller has not chosen to run it.
        case leftOut(NodeIndex)
    }

    private let book: RunBook
    /// Per group that somebody has looked into: its members by their ids.
    private var members: [Int: [String: Meaning]] = [:]

    init(_ book: RunBook) { self.book = book }

    func find(_ id: String, seenFrom row: Int, seesMembers: Bool) -> Meaning? {
        var group = seesMembers ? row : book.parent(of: row)
        while true {
            if book.plan.nodes[group].role != .fanOut, let found = members(of: group)[id] { return found }
            if group == 0 { return nil }
            group = book.parent(of: group)
        }
    }

    private func members(of group: Int) -> [String: Meaning] {
        if let known = members[group] { return known }
        var made: [String: Meaning] = [:]
        for row in book.plan.members(of: group) {
            made[book.workflow[book.plan.nodes[row].definition].id] = .row(row)
        }
        for definition in book.leftOut(of: group) { made[book.workflow[definition].id] = .leftOut(definition) }
        members[group] = made
        return made
    }
}
