// Places in groups that limit their members, for groups that existed before what they must await (`PlaceNeeds`).

extension OperationScheduler {
    /// Lets groups that have not started await what a row that joined them needs from around them, as they would if it
    /// had been there from the beginning. O(depth), and where there is something to await O(rows + edges).
    mutating func awaitForPlaces(_ need: OperationID, for dependent: OperationID, joinedAt firstRow: Int) {
        guard knowsAllNeeds, graph.table.limitsMembers, states[need.row].phase != .finished else { return }
        var next = parent(of: dependent)
        while next != .root, !graph.isInside(need, next) {
            let group = next
            next = parent(of: next)
            guard case .members = graph.table.groups[groupIndex(of: next)].limit, graph.isInside(need, next),
                group.row < firstRow, states[group.row].phase == .blocked || states[group.row].phase == .ready,
                !has(group, .isConditional), !has(group, .isHook), !needs.leads(from: group, to: need, .inside),
                !hasNeeds(need, inside: group)
            else { continue }
            addEdge(of: group, on: need, .done, .inside)
            guard states[group.row].phase == .ready else { continue }
            if has(group, .hasLocks) { locks.forget(group) }
            move(group, to: .blocked)
        }
    }

    /// Whether a row ends only after the group or something inside it has begun.
    private func hasNeeds(_ id: OperationID, inside group: OperationID) -> Bool {
        var starts: Set<OperationID> = []
        var ends: Set<OperationID> = [id]
        var pending: [(id: OperationID, isEnd: Bool)] = [(id, true)]
        while let (id, isEnd) = pending.popLast() {
            guard states[id.row].phase != .finished else { continue }
            if id == group || graph.isInside(id, group) { return true }
            if isEnd, isGroup(id) {
                var walk = RowWalk(0..<0)
                enter(id, &walk)
                while let member = walk.next(graph.table.rows) {
                    if ends.insert(member).inserted { pending.append((member, true)) }
                }
            }
            guard !hasStarted(id), id != .root else { continue }
            if starts.insert(parent(of: id)).inserted { pending.append((parent(of: id), false)) }
            for need in needs.all(of: id) {
                if ends.insert(need.other).inserted { pending.append((need.other, true)) }
            }
        }
        return false
    }
}
