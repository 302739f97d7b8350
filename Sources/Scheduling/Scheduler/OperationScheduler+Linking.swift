// Dependencies that are added or removed late.

extension OperationScheduler {
    /// True if an attempt or round has begun, so that it is too late to add a dependency.
    package func hasBegun(_ id: OperationID) -> Bool {
        hasStarted(id) || isBetweenAttempts(id) || states[id.row].phase == .finished
    }

    /// The declared dependencies of an unfinished row, with their kinds. O(dependencies).
    package func dependencies(of dependent: OperationID) -> [(prerequisite: OperationID, kind: DependencyKind)] {
        needs.all(of: dependent).filter { $0.reason == .dependency }.map { ($0.other, $0.kind) }
    }

    /// The rows that were declared to depend on a row. O(dependents).
    package func dependents(on prerequisite: OperationID) -> [OperationID] {
        dependents.all(of: prerequisite).filter { $0.reason == .dependency }.map(\.other)
    }

    /// Adds a dependency to something that has not begun, or changes the kind of an existing one. O(dependencies).
    mutating func link(
        _ dependent: OperationID, on prerequisite: OperationID, _ kind: DependencyKind, _ reason: EdgeReason
    ) {
        precondition(!hasBegun(dependent), "\(dependent) has begun, and cannot wait for \(prerequisite)")
        if needs.leads(from: dependent, to: prerequisite, reason) {
            needs.setKind(kind, from: dependent, to: prerequisite, reason)
        } else {
            addEdge(of: dependent, on: prerequisite, kind, reason)
        }
        if states[dependent.row].phase == .ready {
            // Its entries in queues are skipped, or used when it is ready again.
            if has(dependent, .hasLocks) { locks.forget(dependent) }
            move(dependent, to: .blocked)
        }
        consider(dependent)
    }

    /// Adds a new edge. Restores the edge if it was removed before, so that adding and removing do not accumulate
    /// entries.
    mutating func addEdge(
        of dependent: OperationID, on prerequisite: OperationID, _ kind: DependencyKind, _ reason: EdgeReason
    ) {
        var count = 1
        if needs.restore(from: dependent, to: prerequisite, reason) {
            count = needs.setKind(kind, from: dependent, to: prerequisite, reason)
        } else {
            needs.append(prerequisite, kind, reason, to: dependent)
        }
        if !dependents.restore(from: prerequisite, to: dependent, reason) {
            dependents.append(dependent, kind, reason, to: prerequisite)
        }
        if states[prerequisite.row].phase != .finished { states[dependent.row].pendingNeeds += UInt32(count) }
    }

    /// Removes a dependency from something that has not started, and the edges that enclosing groups got because of
    /// it. O(dependencies, plus the dependents of `prerequisite` times the depth).
    mutating func unlink(_ dependent: OperationID, from prerequisite: OperationID, _ reason: EdgeReason) {
        guard removeEdge(of: dependent, on: prerequisite, reason) else { return }
        var next = dependent
        while groupAround(&next) != nil, next != .root {
            guard needs.leads(from: next, to: prerequisite, .inside) else { continue }
            let isNeededInside = dependents.all(of: prerequisite).contains { edge in
                (edge.reason == .dependency || edge.reason == .rounds) && graph.isInside(edge.other, next)
            }
            if !isNeededInside, removeEdge(of: next, on: prerequisite, .inside) { consider(next) }
        }
        consider(dependent)
    }

    /// Removes the edges between two rows for this reason. Returns false if there are none.
    private mutating func removeEdge(
        of dependent: OperationID, on prerequisite: OperationID, _ reason: EdgeReason
    ) -> Bool {
        let count = needs.cut(from: dependent, to: prerequisite, reason)
        guard count > 0 else { return false }
        dependents.hide(from: prerequisite, to: dependent, reason)
        if states[prerequisite.row].phase != .finished { states[dependent.row].pendingNeeds -= UInt32(count) }
        return true
    }
}

// Reads the graph: positions of rows, and walks over their contents.

/// Rows to visit, as intervals, because members that joined later are after all others.
struct RowWalk {
    private var current: Range<Int>
    /// The intervals that follow, the next one last.
    private var others: [Range<Int>] = []

    init(_ first: Range<Int>) { current = first }

    /// Adds an interval to visit before the rest of the current one.
    mutating func add(_ interval: Range<Int>) {
        guard !interval.isEmpty else { return }
        if !current.isEmpty { others.append(current) }
        current = interval
    }

    /// Returns the next row. The walk skips the contents of the row unless `enter` adds them.
    mutating func next(_ rows: [RowTable.Row]) -> OperationID? {
        while true {
            if let row = current.first {
                current = Int(rows[row].subtreeEnd)..<current.upperBound
                return OperationID(row)
            }
            guard let other = others.popLast() else { return nil }
            current = other
        }
    }
}

extension OperationScheduler {
    @inline(__always)  // A call would copy the scheduler.
    func isGroup(_ id: OperationID) -> Bool { graph.table.rows[id.row].isGroup }

    /// The index of a group in `groups`.
    @inline(__always)  // A call would copy the scheduler.
    func groupIndex(of id: OperationID) -> Int { graph.table.rows[id.row].group }

    @inline(__always)  // A call would copy the scheduler.
    func has(_ id: OperationID, _ flag: RowTable.Flags) -> Bool { graph.table.rows[id.row].flags.contains(flag) }

    @inline(__always)  // A call would copy the scheduler.
    func parent(of id: OperationID) -> OperationID { graph.table.rows[id.row].parent }

    /// The directly enclosing group of a row, as an index into `groups`. Row 0 encloses itself.
    @inline(__always)  // A call would copy the scheduler.
    func parentGroup(of id: OperationID) -> Int { groupIndex(of: parent(of: id)) }

    /// Moves `id` to the enclosing group and returns its index; nil if `id` is the outermost group.
    @inline(__always)  // A call would copy the scheduler.
    func groupAround(_ id: inout OperationID) -> Int? {
        guard id != .root else { return nil }
        id = parent(of: id)
        return groupIndex(of: id)
    }

    /// Like `groupAround`, but nil for a hook too, because stops and failures of the enclosing group do not reach it.
    @inline(__always)  // A call would copy the scheduler.
    func bodyGroupAround(_ id: inout OperationID) -> Int? {
        has(id, .isHook) ? nil : groupAround(&id)
    }

    /// True if an attempt of an operation, or the current round of a group, has begun and not ended.
    @inline(__always)  // A call would copy the scheduler.
    func hasStarted(_ id: OperationID) -> Bool {
        states[id.row].phase == .executing || states[id.row].phase == .stopping
    }

    /// True if a group already has its verdict and only waits until its members have ended.
    @inline(__always)  // A call would copy the scheduler.
    func isDecided(_ id: OperationID) -> Bool {
        isGroup(id) && groups[groupIndex(of: id)].verdict != nil
    }

    /// A walk over one row; `enter` extends it into a group.
    func walk(from id: OperationID) -> RowWalk {
        RowWalk(id.row..<Int(graph.table.rows[id.row].subtreeEnd))
    }

    /// Makes a walk visit the direct members of a group, including hooks.
    func enter(_ id: OperationID, _ walk: inout RowWalk) {
        for addition in groups[groupIndex(of: id)].additions.reversed() { walk.add(addition.rows) }
        walk.add(id.row + 1..<Int(graph.table.rows[id.row].subtreeEnd))
    }

    /// Calls `body` for each direct member, including hooks.
    mutating func forEachMember(of id: OperationID, _ body: (inout Self, OperationID) -> Void) {
        var walk = RowWalk(0..<0)
        enter(id, &walk)
        while let member = walk.next(graph.table.rows) { body(&self, member) }
    }
}

// An errand is work outside the graph that takes a slot like an operation, such as the command of one of `vars`.
//
// An errand holds nothing but its slot, and once it has one it waits for nothing. So no cycle of waits leads through
// an errand: an operation that waits for a slot waits for work that ends by itself.

/// Work outside the graph that counts as one operation against the width. The caller chooses the numbers and uses
/// each once.
package struct Errand: Hashable, Sendable {
    package let number: Int

    package init(_ number: Int) { self.number = number }
}

/// The errands that wait or run.
struct Errands: Sendable {
    /// Errands without a slot, oldest first.
    var waiting: [Errand] = []
    /// Errands with a slot.
    var started: Set<Errand> = []
}

extension OperationScheduler {
    /// Gives free slots to errands, oldest first and before any operation: each errand has an operation waiting for
    /// it that could otherwise have started.
    mutating func startErrands() {
        guard !errands.waiting.isEmpty, !clocks.isSuspended, running < width else { return }
        let count = min(width - running, errands.waiting.count)
        for errand in errands.waiting.prefix(count) {
            occupy(errand)
            commands.append(.startErrand(errand))
        }
        errands.waiting.removeFirst(count)
    }

    /// True if something that could start lacks a slot of the width; or a lock, which is known once it has its turn.
    package var lacksSlot: Bool {
        !clocks.isSuspended && running >= width && (!ready.isEmpty || !errands.waiting.isEmpty)
    }

    /// Gives a slot to an errand, even beyond the width if it goes on after the operation whose slot it used.
    mutating func occupy(_ errand: Errand) {
        let isNew = errands.started.insert(errand).inserted
        precondition(isNew, "errand \(errand.number) has a slot already")
        running += 1
    }

    /// Ends an errand, or its wait for a slot.
    mutating func end(_ errand: Errand) {
        if errands.started.remove(errand) != nil {
            running -= 1
        } else {
            errands.waiting.removeAll { $0 == errand }
        }
    }
}

// The state of rows that are new in the graph.
extension OperationScheduler {
    /// Creates the state of rows that are new in the graph.
    mutating func addState(of table: RowTable) {
        var table = table
        addLocks(of: &table)
        if knowsAllNeeds, graph.table.limitsMembers {
            let places = PlaceNeeds(of: table, in: graph).edges()
            if !places.isEmpty { table.edges += places }
        }
        needs.append(
            count: table.rows.count, edges: table.edges, from: { $0.dependent }, to: { $0.prerequisite })
        dependents.append(
            count: table.rows.count, edges: table.edges, from: { $0.prerequisite }, to: { $0.dependent })
        states.append(contentsOf: repeatElement(State(), count: table.rows.count))
        states.withUnsafeMutableBufferPointer { states in
            for edge in table.edges where states[edge.prerequisite.row].phase != .finished {
                states[edge.dependent.row].pendingNeeds += 1
            }
        }
        openGroups += table.groups.count { $0.isOpen }
        unfinishedExternals += table.externals
        for group in graph.table.groups[groups.count...] {
            var state = GroupState(group)
            state.draining = drain(around: group.id)
            groups.append(state)
        }
    }

    /// Creates the state of one new operation.
    mutating func addState(of id: OperationID, _ asked: [LockRequest], _ prerequisites: [(OperationID, DependencyKind)])
    {
        if !asked.isEmpty {
            let requests =
                switch holderRule {
                case .takesEverything: holders.requests(of: id, naming: asked, in: graph)
                case .takesItsOwn: asked.map(HolderTable.Request.init(inWholeRun:))
                }
            locks.add(id, requests, of: graph)
        }
        needs.append(prerequisites)
        dependents.append()
        var state = State()
        for (prerequisite, kind) in prerequisites {
            let hasEnded = states[prerequisite.row].phase == .finished
            if !hasEnded { state.pendingNeeds += 1 }
            // A prerequisite that has ended for good has nothing to report.
            if !hasEnded || mayBeReset(prerequisite) { dependents.append(id, kind, to: prerequisite) }
        }
        states.append(state)
    }

    /// Records the locks of new rows. Groups that hold mutexes wait for more than they name.
    private mutating func addLocks(of table: inout RowTable) {
        switch holderRule {
        case .takesEverything:
            let (requests, edges) = holders.add(table, to: graph)
            for (id, requests) in requests { locks.add(id, requests, of: graph) }
            // Appending an empty array would copy all edges.
            if knowsAllNeeds, !edges.isEmpty { table.edges += edges }
        case .takesItsOwn:
            for (id, requests) in table.locks {
                locks.add(id, requests.map(HolderTable.Request.init(inWholeRun:)), of: graph)
            }
        }
    }
}
