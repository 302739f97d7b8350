/// The extra dependencies of groups inside groups that limit their members.
///
/// A member in progress occupies one of a few places. If a group took one while something inside it depends on
/// another member that waits for a place, both could block forever. So such a group starts only after everything
/// inside the limiting group that its contents depend on has ended, unless that depends on the contents in turn and
/// they must start first.
struct PlaceNeeds {
    private let graph: OperationGraph
    private let table: RowTable

    /// `table` contains the new rows, which are in `graph` already.
    init(of table: RowTable, in graph: OperationGraph) {
        self.table = table
        self.graph = graph
    }

    /// Returns the edges that such groups among the new rows get. O(rows + edges), times the nesting depth of groups.
    func edges() -> [RowTable.Edge] {
        guard !table.edges.isEmpty || !table.foreseen.isEmpty else { return [] }
        var needs: [(around: OperationID, need: OperationID)] = []
        for edge in table.edges where parent(of: edge.dependent) != parent(of: edge.prerequisite) {
            needs.append((parent(of: edge.dependent), edge.prerequisite))
        }
        for (group, foreseen) in table.foreseen.sorted(by: { $0.key < $1.key }) {
            needs += foreseen.needs.map { (group, $0) }
        }
        guard !needs.isEmpty else { return [] }
        let entered = enteredGroups()
        var edges: [RowTable.Edge] = []
        var seen: Set<RowTable.Edge> = []
        for (around, need) in needs {
            var next = around
            while next.row >= table.firstRow, next != .root, !graph.isInside(need, next) {
                let (group, limited) = (next, parent(of: next))
                next = limited
                guard isLimited(limited), !isHook(group), entered.contains(limited) || graph.isInside(need, limited)
                else { continue }
                let edge = RowTable.Edge(dependent: group, prerequisite: need, kind: .done, reason: .inside)
                if seen.insert(edge).inserted { edges.append(edge) }
            }
        }
        return withoutRings(edges)
    }

    /// Limited groups whose contents something outside depends on. The dependencies of such a group may in turn wait
    /// for one of its places, wherever they are.
    private func enteredGroups() -> Set<OperationID> {
        var entered: Set<OperationID> = []
        for edge in table.edges {
            var next = parent(of: edge.prerequisite)
            while next != .root, !graph.isInside(edge.dependent, next) {
                if isLimited(next) { entered.insert(next) }
                next = parent(of: next)
            }
        }
        return entered
    }

    private func parent(of id: OperationID) -> OperationID { graph.table.rows[id.row].parent }

    private func isHook(_ id: OperationID) -> Bool { graph.table.rows[id.row].flags.contains(.isHook) }

    private func isLimited(_ group: OperationID) -> Bool {
        if case .members = graph.table.groups[graph.table.rows[group.row].group].limit { true } else { false }
    }

    // MARK: Rings

    /// Removes edges that would close a ring of starts and ends that wait for each other.
    private func withoutRings(_ edges: [RowTable.Edge]) -> [RowTable.Edge] {
        guard !edges.isEmpty else { return [] }
        var (waiters, awaited): ([UInt32], [UInt32]) = ([], [])
        func note(_ waiter: Int, waitsFor other: Int) {
            waiters.append(UInt32(waiter))
            awaited.append(UInt32(other))
        }
        for id in (table.firstRow..<table.end).lazy.map({ OperationID($0) }) {
            note(end(id), waitsFor: start(id))
            guard id != .root, parent(of: id).row >= table.firstRow else { continue }
            note(start(id), waitsFor: start(parent(of: id)))
            note(end(parent(of: id)), waitsFor: end(id))
        }
        func isNew(_ edge: RowTable.Edge) -> Bool { edge.prerequisite.row >= table.firstRow }
        for edge in table.edges + edges where isNew(edge) {
            note(start(edge.dependent), waitsFor: end(edge.prerequisite))
        }
        let waits = WaitForGraph(vertexCount: 2 * table.rows.count, sources: waiters, targets: awaited)
        let isInRing = waits.entangledVertices()
        return edges.filter {
            !isNew($0) || !isInRing[start($0.dependent)] || !isInRing[end($0.prerequisite)]
        }
    }

    private func start(_ id: OperationID) -> Int { 2 * (id.row - table.firstRow) }
    private func end(_ id: OperationID) -> Int { start(id) + 1 }
}
