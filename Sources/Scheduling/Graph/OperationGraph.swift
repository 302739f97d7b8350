/// Operations, their groups and their dependencies: the input of an `OperationScheduler`, and of additions to a
/// running one.
///
/// Rows are added in preorder, so the members of a group form one interval. Adding is O(1). Nothing here searches for
/// cycles: that is the planner's task.
package struct OperationGraph: Sendable {
    /// The settings of an operation or group.
    package struct Options: Sendable {
        /// Among ready rows, a higher priority starts earlier; equal ones start in row order.
        package var priority: UInt32
        /// The longest time that one attempt of an operation, or the body of a group in one round, may take; nil for
        /// no limit.
        package var timeout: Duration?
        /// True if its failure or timeout does not count as a failure of the enclosing group.
        package var toleratesFailure: Bool
        /// The policy for further attempts; nil for one attempt.
        package var retry: RetryPolicy?
        /// The locks held from start to end, all taken together; each lock at most once. A group may name mutexes
        /// only, and also takes those that anything inside it names.
        package var locks: [LockRequest]
        /// True if a `decide` command asks, once all dependencies have ended, whether it is to run.
        package var isConditional: Bool
        /// True if its dependencies only say when it runs: each `.ok` counts as `.done`, and the condition decides.
        package var waitsForAll: Bool

        /// Defaults: the lowest priority, no time limit, no tolerance, one attempt.
        package init(
            priority: UInt32 = 0, timeout: Duration? = nil, toleratesFailure: Bool = false,
            retry: RetryPolicy? = nil, locks: [LockRequest] = [], isConditional: Bool = false,
            waitsForAll: Bool = false
        ) {
            self.priority = priority
            self.timeout = timeout
            self.toleratesFailure = toleratesFailure
            self.retry = retry
            self.locks = locks
            self.isConditional = isConditional
            self.waitsForAll = waitsForAll
        }

        var flags: RowTable.Flags {
            var flags: RowTable.Flags = []
            if toleratesFailure { flags.insert(.toleratesFailure) }
            if isConditional { flags.insert(.isConditional) }
            if waitsForAll { flags.insert(.waitsForAll) }
            if timeout != nil { flags.insert(.hasTimeout) }
            if retry != nil { flags.insert(.hasRetry) }
            if !locks.isEmpty { flags.insert(.hasLocks) }
            return flags
        }
    }

    var table: RowTable
    private var lockCount = 0
    /// The capacities of the locks that are pools; all others are mutexes.
    private var pools: [LockID: Int] = [:]

    /// A graph that contains only its outermost group.
    package init(
        limit: ConcurrencyLimit = .unlimited, failFast: FailFast = .off, timeout: Duration? = nil,
        concludes: Bool = false, isOpen: Bool = false, isConditional: Bool = false, isSequence: Bool = false,
        minimumCapacity: Int = 0
    ) {
        table = RowTable()
        table.rows.reserveCapacity(minimumCapacity + 1)
        _ = table.begin(
            Options(timeout: timeout, isConditional: isConditional), limit: limit, failFast: failFast,
            isExpandable: false, concludes: concludes, isOpen: isOpen, flags: isSequence ? .isSequence : [])
    }

    /// Rows that join a group while its graph runs: the instances of a fan-out, or work added later. There is no
    /// outermost group: rows outside any `beginGroup` become direct members of the joined group.
    ///
    /// The rows are appended after all others, so their ids are known in advance: `firstRow` is the number of rows at
    /// that time, those of the graph and of all earlier additions, dropped ones included.
    package init(joiningAt firstRow: Int) {
        precondition(firstRow > 0, "rows can only join a graph that has some")
        table = RowTable(firstRow: firstRow)
    }

    /// Replaces the priority of each row. O(rows).
    package mutating func prioritize(_ priorities: [UInt32]) {
        for row in table.rows.indices {
            if table.rows[row].isGroup {
                table.groups[table.rows[row].group].priority = priorities[row]
            } else {
                table.rows[row].priority = priorities[row]
            }
        }
    }

    /// The number of rows, including the outermost group.
    package var count: Int { table.rows.count }

    /// The ids of the rows so far.
    package var rows: Range<Int> { table.firstRow..<table.end }

    /// Adds an operation to the open group.
    @discardableResult
    package mutating func addOperation(_ options: Options = Options()) -> OperationID {
        table.append(options)
    }

    /// Adds an operation that runs elsewhere to the open group. It has no dependencies, never starts here and takes
    /// no slot. It ends with the outcome that `ended` reports, even before its group starts, and, like anything else
    /// that waits, when that group is stopped. If it `outlastsStops`, a stop waits for it instead, because its end is
    /// near. The run does not stall until it has ended.
    ///
    /// If an enclosing group is tried again, it keeps its outcome.
    @discardableResult
    package mutating func addExternal(
        toleratesFailure: Bool = false, outlastsStops: Bool = false
    ) -> OperationID {
        table.append(
            Options(toleratesFailure: toleratesFailure),
            flags: outlastsStops ? [.isExternal, .outlastsStops] : .isExternal)
    }

    /// Opens a group inside the open one. If `failFast` is nil, the policy of the nearest enclosing group that has
    /// one applies.
    ///
    /// An `isExpandable` group asks for further members when it starts (`expand`). One that `concludes` asks for its
    /// outcome when everything inside has ended (`conclude`). One that `isOpen` accepts `added` members and does not
    /// end until it is closed or stopped.
    ///
    /// If it `judgesMembers`, the conditions of its members count together: a false one has an effect only when all
    /// are known. If it `isSequence`, each member depends on all members before it, as if by `.ok` edges, except on
    /// those to which it has an edge of its own; nothing can join it.
    @discardableResult
    package mutating func beginGroup(
        _ options: Options = Options(), limit: ConcurrencyLimit = .unlimited, failFast: FailFast? = nil,
        isExpandable: Bool = false, concludes: Bool = false, isOpen: Bool = false, judgesMembers: Bool = false,
        isSequence: Bool = false
    ) -> OperationID {
        precondition(!isSequence || !isExpandable && !isOpen, "nothing joins a sequence")
        var flags: RowTable.Flags = []
        if judgesMembers { flags.insert(.judgesMembers) }
        if isSequence { flags.insert(.isSequence) }
        return table.begin(
            options, limit: limit, failFast: failFast, isExpandable: isExpandable, concludes: concludes, isOpen: isOpen,
            flags: flags)
    }

    /// Opens a group of rows that run after the body of the open group: at most one of each kind per group, after its
    /// members. Nothing outside may need a hook or its contents, and a hook needs nothing outside.
    @discardableResult
    package mutating func beginHook(_ kind: Hook) -> OperationID {
        table.beginHook(kind)
    }

    /// Closes the open group or hook.
    package mutating func endGroup() {
        precondition(table.openCount > (table.firstRow == 0 ? 1 : 0), "endGroup without beginGroup")
        table.endGroup()
    }

    /// Lets `dependent` start only after `prerequisite` has ended as `kind` requires. Neither may be inside the
    /// other. A repeated edge counts twice, which is harmless. A dependent of a member of a group that is tried again
    /// goes on when that member ends in any round. In rows that join, `dependent` must be one of them.
    package mutating func addDependency(
        of dependent: OperationID, on prerequisite: OperationID, _ kind: DependencyKind = .ok,
        _ reason: EdgeReason = .dependency
    ) {
        precondition(dependent.row >= table.firstRow, "\(dependent) is not one of the new rows")
        table.edges.append(
            RowTable.Edge(dependent: dependent, prerequisite: prerequisite, kind: kind, reason: reason))
    }

    /// Declares in advance the mutexes and outside needs of members that will join `group` later, so that enclosing
    /// groups that hold mutexes can take and await them too.
    package mutating func foresee(_ mutexes: [LockID], needs: [OperationID], in group: OperationID) {
        guard !mutexes.isEmpty || !needs.isEmpty else { return }
        table.foreseen[group] = RowTable.Foreseen(mutexes: mutexes, needs: needs)
    }

    /// Adds a lock with one holder at a time.
    package mutating func addMutex() -> LockID {
        defer { lockCount += 1 }
        return LockID(lockCount)
    }

    /// Adds a lock with this many units, at least 1. Operations may request some or all of them.
    package mutating func addPool(of units: Int) -> LockID {
        defer { lockCount += 1 }
        declarePool(LockID(lockCount), of: units)
        return LockID(lockCount)
    }

    /// Turns a lock into a pool of `units`, at least 1. Called before any row requests the lock: for pools of rows
    /// that join.
    package mutating func declarePool(_ lock: LockID, of units: Int) {
        precondition(units >= 1, "a pool with \(units) units could never be had")
        pools[lock] = units
    }

    /// Drops the pools that no row requests.
    mutating func keepPools(in asked: Set<LockID>) {
        if !pools.isEmpty { pools = pools.filter { asked.contains($0.key) } }
    }
}

extension OperationGraph {
    func isMutex(_ lock: LockID) -> Bool { pools[lock] == nil }
    func capacity(of lock: LockID) -> Int { pools[lock] ?? 1 }

    /// True if a row is inside a group, at any depth. O(depth).
    func isInside(_ id: OperationID, _ group: OperationID) -> Bool {
        guard group != .root else { return id != .root }
        var next = id
        while next != .root {
            next = table.rows[next.row].parent
            if next == group { return true }
        }
        return false
    }

    /// Appends rows that join a group as its members. O(rows).
    mutating func append(_ joining: OperationGraph, to group: OperationID) {
        table.append(joining.table, to: group)
        if !joining.pools.isEmpty { pools.merge(joining.pools) { $1 } }
    }

    /// Counts members that remain when the group is tried again.
    mutating func addMembers(_ count: Int, toGroup index: Int) {
        table.groups[index].members += count
    }
}

/// Rows of a group that run after its body, which is everything else in it. A stop of the body does not reach them;
/// only `abort` does.
package enum Hook: UInt8, Sendable, Hashable, CaseIterable {
    /// After a failure or timeout of the body.
    case onFailure
    /// In any case, after `onFailure`, unless the group never started or was stopped before any work in it began.
    case finally
}

/// The reason for an edge. Edges for different reasons are independent: one neither replaces nor removes another.
package enum EdgeReason: UInt8, Sendable, Hashable {
    /// A dependency that was declared.
    case dependency
    /// The dependent comes later in a sequence, which records how its members have ended.
    case order
    /// A dependency on something inside the prerequisite: its end counts only when the prerequisite has ended.
    case rounds
    /// A dependency of something inside the dependent, which must not start first and hold up what it waits for.
    case inside
    /// Like `inside`, over a path that only the caller knows.
    case outside
}
