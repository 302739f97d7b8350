/// The rows of a graph, as they are built and as the scheduler reads them. Rare properties are in separate tables, so
/// a plain row takes sixteen bytes.
struct RowTable: Sendable {
    struct Flags: OptionSet, Sendable {
        let rawValue: UInt16

        static let toleratesFailure = Flags(rawValue: 1 << 0)
        static let isConditional = Flags(rawValue: 1 << 1)
        static let waitsForAll = Flags(rawValue: 1 << 2)
        static let hasTimeout = Flags(rawValue: 1 << 3)
        static let hasRetry = Flags(rawValue: 1 << 4)
        static let hasLocks = Flags(rawValue: 1 << 5)
        static let isHook = Flags(rawValue: 1 << 6)
        static let isExternal = Flags(rawValue: 1 << 7)
        static let outlastsStops = Flags(rawValue: 1 << 8)
        static let isGroup = Flags(rawValue: 1 << 9)
        static let judgesMembers = Flags(rawValue: 1 << 10)
        static let isSequence = Flags(rawValue: 1 << 11)
    }

    struct Row: Sendable {
        var parent: OperationID
        var subtreeEnd: UInt32
        /// The priority of an operation. For a group, its index in `groups`, where its priority is.
        private(set) var detail: UInt32
        private(set) var flags: Flags

        /// Creates the row of an operation, with nothing inside it.
        init(_ id: OperationID, in parent: OperationID, priority: UInt32, flags: Flags) {
            self.parent = parent
            subtreeEnd = id.value + 1
            detail = priority
            self.flags = flags
        }

        var isGroup: Bool { flags.contains(.isGroup) }

        /// The priority of an operation.
        var priority: UInt32 {
            get { detail }
            set { detail = newValue }
        }

        /// The index of a group in `groups`.
        var group: Int {
            get { Int(detail) }
            set {
                detail = UInt32(newValue)
                flags.insert(.isGroup)
            }
        }

        /// True for a group that names mutexes.
        var isHolder: Bool { isGroup && flags.contains(.hasLocks) }
    }

    struct Group: Sendable {
        var id: OperationID
        var priority: UInt32
        let limit: ConcurrencyLimit
        let failFast: FailFast?
        let isExpandable: Bool
        let concludes: Bool
        let isOpen: Bool
        /// Direct members that are not hooks.
        var members = 0
        /// The index of the nearest group, this one included, that limits the operations inside it; nil if there is
        /// none. Stored, because groups may be deeply nested.
        private(set) var operationLimit: UInt32?

        /// Stores the limit, for a group that has or will have this index; `outer` is the enclosing group.
        mutating func noteLimit(at index: Int, inside outer: Group?) {
            operationLimit = if case .operations = limit { UInt32(index) } else { outer?.operationLimit }
        }
    }

    struct Hooks: Sendable {
        var onFailure: OperationID?
        var finally: OperationID?
    }

    /// The mutexes and outside needs of members that join later.
    struct Foreseen: Sendable {
        let mutexes: [LockID]
        let needs: [OperationID]
    }

    struct Edge: Hashable, Sendable {
        let dependent: OperationID
        let prerequisite: OperationID
        let kind: DependencyKind
        var reason = EdgeReason.dependency
    }

    /// The id of the first row.
    let firstRow: Int
    var rows: [Row] = []
    var groups: [Group] = []
    var edges: [Edge] = []
    var timeouts: [OperationID: Duration] = [:]
    var retries: [OperationID: RetryPolicy] = [:]
    var locks: [OperationID: [LockRequest]] = [:]
    var hooks: [OperationID: Hooks] = [:]
    var foreseen: [OperationID: Foreseen] = [:]
    /// True if any group limits how many of its members are in progress.
    private(set) var limitsMembers = false
    /// The number of external rows.
    private(set) var externals = 0
    private var open: [OperationID] = []

    init(firstRow: Int = 0) { self.firstRow = firstRow }

    /// The id after the last row.
    var end: Int { firstRow + rows.count }

    /// The number of open groups, including an outermost one.
    var openCount: Int { open.count }

    mutating func append(_ options: OperationGraph.Options, flags: Flags = []) -> OperationID {
        let id = append(options, flags: flags, to: open.last ?? .root)
        if flags.contains(.isExternal) { externals += 1 }
        if let owner = open.last, !flags.contains(.isHook) { groups[groupIndex(of: owner)].members += 1 }
        return id
    }

    /// Appends a row after all others, outside the intervals of its enclosing groups.
    mutating func append(_ options: OperationGraph.Options, flags: Flags = [], to parent: OperationID) -> OperationID {
        let id = OperationID(end)
        rows.append(Row(id, in: parent, priority: options.priority, flags: flags.union(options.flags)))
        if let timeout = options.timeout { timeouts[id] = timeout }
        if let retry = options.retry { retries[id] = retry }
        if !options.locks.isEmpty { locks[id] = options.locks }
        return id
    }

    mutating func begin(
        _ options: OperationGraph.Options, limit: ConcurrencyLimit, failFast: FailFast?, isExpandable: Bool,
        concludes: Bool, isOpen: Bool, flags: Flags = []
    ) -> OperationID {
        let id = append(options, flags: flags)
        rows[id.row - firstRow].group = groups.count
        var group = Group(
            id: id, priority: options.priority, limit: limit, failFast: failFast, isExpandable: isExpandable,
            concludes: concludes, isOpen: isOpen)
        group.noteLimit(at: groups.count, inside: open.last.map { groups[groupIndex(of: $0)] })
        groups.append(group)
        open.append(id)
        if case .members = limit { limitsMembers = true }
        return id
    }

    mutating func beginHook(_ kind: Hook) -> OperationID {
        guard let owner = open.last else { preconditionFailure("a hook needs a group to belong to") }
        let id = begin(
            OperationGraph.Options(), limit: .unlimited, failFast: .off, isExpandable: false, concludes: false,
            isOpen: false, flags: .isHook)
        switch kind {
        case .onFailure:
            precondition(hooks[owner]?.onFailure == nil, "\(owner) has this hook already")
            hooks[owner, default: Hooks()].onFailure = id
        case .finally:
            precondition(hooks[owner]?.finally == nil, "\(owner) has this hook already")
            hooks[owner, default: Hooks()].finally = id
        }
        return id
    }

    mutating func endGroup() {
        noteEnd(of: open.removeLast())
    }

    /// Closes all open groups, because everything has been appended.
    mutating func closeAll() {
        for group in open { noteEnd(of: group) }
    }

    private mutating func noteEnd(of group: OperationID) {
        rows[group.row - firstRow].subtreeEnd = UInt32(end)
    }

    /// Appends the rows of another table. Rows that are in no group there become members of `group`.
    mutating func append(_ other: RowTable, to group: OperationID) {
        precondition(other.firstRow == end, "rows for row \(other.firstRow) came at row \(end)")
        precondition(other.open.isEmpty, "a group that is to join is still open")
        let groupOffset = groups.count
        var nextMember = end
        for (offset, row) in other.rows.enumerated() {
            var row = row
            if row.isGroup { row.group += groupOffset }
            if other.firstRow + offset == nextMember {
                row.parent = group
                nextMember = Int(row.subtreeEnd)
            }
            rows.append(row)
        }
        for var joined in other.groups {
            joined.noteLimit(at: groups.count, inside: groups[groupIndex(of: rows[joined.id.row].parent)])
            groups.append(joined)
        }
        limitsMembers = limitsMembers || other.limitsMembers
        timeouts.merge(other.timeouts) { $1 }
        retries.merge(other.retries) { $1 }
        locks.merge(other.locks) { $1 }
        hooks.merge(other.hooks) { $1 }
        foreseen.merge(other.foreseen) { $1 }
    }

    /// Removes rows. The member count of a group stays the same, because it is needed when the group is tried again.
    mutating func renumber(by renumbering: RowRenumbering) {
        rows.renumber(by: renumbering) { row, _ in
            guard let parent = renumbering[row.parent] else { preconditionFailure("a row stays without its group") }
            row.parent = parent
            row.subtreeEnd = UInt32(renumbering.position(of: Int(row.subtreeEnd)))
        }
        var kept: [Group] = []
        for var group in groups {
            guard let id = renumbering[group.id] else { continue }
            group.id = id
            rows[id.row].group = kept.count
            group.noteLimit(at: kept.count, inside: id == .root ? nil : kept[groupIndex(of: rows[id.row].parent)])
            kept.append(group)
        }
        groups = kept
        timeouts = timeouts.renumbered(by: renumbering)
        retries = retries.renumbered(by: renumbering)
        locks = locks.renumbered(by: renumbering)
        hooks = hooks.renumbered(by: renumbering).mapValues { hooks in
            Hooks(
                onFailure: hooks.onFailure.flatMap { renumbering[$0] },
                finally: hooks.finally.flatMap { renumbering[$0] })
        }
        foreseen = foreseen.renumbered(by: renumbering).mapValues { foreseen in
            Foreseen(mutexes: foreseen.mutexes, needs: foreseen.needs.compactMap { renumbering[$0] })
        }
    }

    private func groupIndex(of id: OperationID) -> Int { rows[id.row - firstRow].group }

    /// Returns the priority of an operation or group of the first table of a graph.
    @inline(__always)  // A call would copy the table.
    func priority(of id: OperationID) -> UInt32 {
        let row = rows[id.row]
        return row.isGroup ? groups[row.group].priority : row.detail
    }
}
