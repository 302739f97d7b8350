/// Groups that hold mutexes, and their effect on the locks and dependencies of rows.
///
/// A group that names a mutex is a *holder*. It starts only when everything that its contents need from outside has
/// ended, and then takes, all at once, the mutexes that it or anything inside it names. So while it holds them, it
/// waits only for its own members, and nothing waits for it forever.
///
/// Its members share the mutexes that they name: among them, each such name is a lock of its own, whose *scope* is
/// the nearest enclosing holder. A mutex that a holder names itself is free to everything inside it.
struct HolderTable: Sendable {
    /// A lock inside a scope: the whole run (`.root`) or a holder.
    struct ScopedLock: Hashable, Sendable {
        let lock: LockID
        let scope: OperationID
    }

    struct Request: Hashable, Sendable {
        let lock: ScopedLock
        let units: Int

        init(lock: ScopedLock, units: Int) {
            self.lock = lock
            self.units = units
        }

        /// A request in the scope of the whole run.
        init(inWholeRun request: LockRequest) {
            self.init(lock: ScopedLock(lock: request.lock, scope: .root), units: request.units)
        }
    }

    private struct Holder: Sendable {
        /// The nearest enclosing holder.
        var around: OperationID?
        var rows: Range<Int>
        let own: Set<LockID>
        /// The mutexes that it or anything inside it names.
        var taken: Set<LockID>
        /// True if something outside needs a row inside. Then the needs of its members may in turn wait for such a
        /// row, and it cannot await them before it starts.
        var isEntered = false
    }

    private var holders: [OperationID: Holder] = [:]

    /// Adds rows that were appended to the graph. Returns the requests of each row that names locks, and the edges
    /// that holders get because of their contents. Without locks, returns nothing at once; otherwise O(rows + edges),
    /// times the nesting depth of holders.
    mutating func add(
        _ table: RowTable, to graph: OperationGraph
    ) -> (requests: [(OperationID, [Request])], edges: [RowTable.Edge]) {
        guard !table.locks.isEmpty || !table.foreseen.isEmpty else { return ([], []) }
        let around = nearestHolders(of: table, in: graph)
        func holder(around id: OperationID) -> OperationID? { around[id.row - table.firstRow] }
        func holder(of group: OperationID) -> OperationID? { holders[group] == nil ? holder(around: group) : group }

        for (id, requests) in table.locks {
            take(requests.map(\.lock).filter(graph.isMutex), holder(around: id), from: table.firstRow)
        }
        for (id, foreseen) in table.foreseen { take(foreseen.mutexes, holder(of: id), from: table.firstRow) }

        let requests = table.locks.map { id, own in
            (id, self.requests(of: id, own, holder(around: id), graph))
        }
        return (requests, outsideNeeds(of: table, holder(around:)))
    }

    /// The requests of one operation that was appended to the graph and names locks.
    func requests(of id: OperationID, naming locks: [LockRequest], in graph: OperationGraph) -> [Request] {
        requests(of: id, locks, holder(from: graph.table.rows[id.row].parent, graph), graph)
    }

    /// Returns the nearest holder that encloses each new row. Records the holders among them.
    private mutating func nearestHolders(of table: RowTable, in graph: OperationGraph) -> [OperationID?] {
        var nearest: [OperationID?] = []
        nearest.reserveCapacity(table.rows.count)
        for row in table.firstRow..<table.end {
            let id = OperationID(row)
            let parent = graph.table.rows[row].parent
            let around: OperationID? =
                if row == 0 { nil } else if parent.row < table.firstRow { holder(from: parent, graph) } else {
                    holders[parent] != nil ? parent : nearest[parent.row - table.firstRow]
                }
            nearest.append(around)
            guard graph.table.rows[row].isHolder, let requests = table.locks[id] else { continue }
            let own = Set(requests.map(\.lock))
            precondition(own.allSatisfy(graph.isMutex), "\(id) is a group, which can hold mutexes only")
            holders[id] = Holder(
                around: around, rows: row..<Int(graph.table.rows[row].subtreeEnd), own: own, taken: own)
        }
        return nearest
    }

    mutating func renumber(by renumbering: RowRenumbering) {
        holders = holders.renumbered(by: renumbering).mapValues { holder in
            var holder = holder
            holder.around = holder.around.flatMap { renumbering[$0] }
            holder.rows = renumbering[holder.rows]
            return holder
        }
    }

    /// The row itself if it is a holder, otherwise the nearest enclosing one.
    private func holder(from id: OperationID, _ graph: OperationGraph) -> OperationID? {
        guard !holders.isEmpty else { return nil }
        var next = id
        while next != .root {
            if holders[next] != nil { return next }
            next = graph.table.rows[next.row].parent
        }
        return nil
    }

    /// Makes a holder and its enclosing holders take the mutexes that something inside names. A holder that existed
    /// before takes no more: unforeseen rows that join it share its mutexes with everything outside.
    private mutating func take(_ mutexes: [LockID], _ innermost: OperationID?, from firstRow: Int) {
        for mutex in mutexes {
            var next = innermost
            while let id = next, id.row >= firstRow, holders[id]?.taken.insert(mutex).inserted == true {
                next = holders[id]?.around
            }
        }
    }

    private func requests(
        of id: OperationID, _ own: [LockRequest], _ innermost: OperationID?, _ graph: OperationGraph
    ) -> [Request] {
        var wanted = own
        if let holder = holders[id] {
            wanted += holder.taken.subtracting(holder.own).sorted().map { LockRequest(lock: $0) }
        }
        return wanted.compactMap { request in
            guard graph.isMutex(request.lock) else {
                return Request(inWholeRun: request)
            }
            return scope(of: request.lock, innermost).map {
                Request(lock: ScopedLock(lock: request.lock, scope: $0), units: request.units)
            }
        }
    }

    /// The scope in which a mutex is shared; nil if an enclosing holder names it itself, so that there is nothing to
    /// take.
    private func scope(of mutex: LockID, _ innermost: OperationID?) -> OperationID? {
        var scope: OperationID?
        var next = innermost
        while let id = next, let holder = holders[id] {
            if holder.own.contains(mutex) { return nil }
            if holder.taken.contains(mutex) { scope = scope ?? id }
            next = holder.around
        }
        return scope ?? .root
    }

    /// Returns the edges of holders whose contents depend on something outside: the outermost such holder awaits it,
    /// and those in between start after that.
    private mutating func outsideNeeds(
        of table: RowTable, _ holder: (OperationID) -> OperationID?
    ) -> [RowTable.Edge] {
        struct Wait: Hashable {
            let holder: OperationID
            let need: OperationID
        }
        var waits: Set<Wait> = []
        var order: [Wait] = []
        func outermost(around innermost: OperationID?, without row: Int, _ body: (OperationID) -> Void) -> OperationID?
        {
            var found: OperationID?
            var next = innermost
            while let id = next, id.row >= table.firstRow, let holder = holders[id], !holder.rows.contains(row) {
                body(id)
                found = id
                next = holder.around
            }
            return found
        }
        func note(_ innermost: OperationID?, _ need: OperationID) {
            guard let holder = outermost(around: innermost, without: need.row, { _ in }) else { return }
            let wait = Wait(holder: holder, need: need)
            if waits.insert(wait).inserted { order.append(wait) }
        }
        var entered: [OperationID] = []
        for edge in table.edges {
            note(holder(edge.dependent), edge.prerequisite)
            guard edge.prerequisite.row >= table.firstRow else { continue }
            _ = outermost(around: holder(edge.prerequisite), without: edge.dependent.row) { entered.append($0) }
        }
        for (group, foreseen) in table.foreseen {
            for need in foreseen.needs { note(holders[group] == nil ? holder(group) : group, need) }
        }
        for id in entered { holders[id]?.isEntered = true }
        return order.filter { holders[$0.holder]?.isEntered == false }
            .map { RowTable.Edge(dependent: $0.holder, prerequisite: $0.need, kind: .done, reason: .inside) }
    }
}
