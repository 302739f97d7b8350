internal import ProcessExecution
internal import WorkflowModel
internal import WorkflowPlanning

/// Finds the row that an id means where it stands: a member of the same copy of the group, or of a group around it.
@EventLoopActor
final class NameIndex {
    private let book: RunBook
    /// Per group that somebody has looked into: its members by their ids.
    private var members: [Int: [String: Int]] = [:]

    init(_ book: RunBook) { self.book = book }

    func row(named id: String, seenFrom row: Int, seesMembers: Bool) -> Int? {
        var group = seesMembers ? row : book.parent(of: row)
        while true {
            if book.plan.nodes[group].role != .fanOut, let found = members(of: group)[id] { return found }
            if group == 0 { return nil }
            group = book.parent(of: group)
        }
    }

    private func members(of group: Int) -> [String: Int] {
        if let known = members[group] { return known }
        let rows = book.plan.members(of: group)
        let named = rows.map { (book.workflow[book.plan.nodes[$0].definition].id, $0) }
        let made = Dictionary(named, uniquingKeysWith: { first, _ in first })
        members[group] = made
        return made
    }
}
