/// Operations, the groups around them and their dependencies: the input of an `OperationScheduler`, and what joins one
/// that runs.
///
/// Rows are added in preorder, so that a group's members are one interval. Adding is O(1); nothing here searches for
/// cycles, which is the planner's work.
package struct OperationGraph: Sendable {
    /// The settings of an operation or group.
    package struct Options: Sendable {
        /// Higher starts earlier among those that are ready; equals start in the order of their rows.
        package var priority: UInt32
        /// The longest that one attempt of an operation, or the body of a group in one round, may take; nil for no
        /// limit.
        package var timeout: Duration?
        /// Whether a failure or timeout of it counts as no failure of the group around it.
        package var toleratesFailure: Bool
        /// Whether and when it is tried again; nil for one attempt.
        package var retry: RetryPolicy?
        /// What it holds from its start to its end; all are taken together. Each lock at most once. A group may name
        /// mutexes only, and then also takes those that anything inside it names.
        package var locks: [LockRequest]
        /// Whether a `decide` command asks, once all dependencies have ended, if it is to run.
        package var isConditional: Bool
        /// Whether its dependencies only say when it runs: all count as `.done`, and the condition decides.
        package var waitsForAll: Bool

        /// By default: no time limit, no tolerance, one attempt, the lowest priority.
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
    /// The units of the locks that are pools; all others are mutexes.
    private var pools: [LockID: Int] = [:]

    /// A graph with nothing but its outermost group.
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

    /// Rows that join a group while its graph runs: the instances of a fan-out, or work that came later. There is no
    /// outermost group: rows outside any `beginGroup` become direct members of the group that they join.
    ///
    /// They are appended behind all others, so their ids are known in advance: `firstRow` is the number of rows that
    /// there are by then, those of the graph and of all that joined earlier, dropped ones included.
    package init(joiningAt firstRow: Int) {
        precondition(firstRow > 0, "rows can only join a graph that has some")
        table = RowTable(firstRow: firstRow)
    }

    /// Gives each row another priority. O(rows).
    package mutating func prioritize(_ priorities: [UInt32]) {
        for row in table.rows.indices {
            if table.rows[row].isGroup {
                table.groups[table.rows[row].group].priority = priorities[row]
            } else {
                table.rows[row].priority = priorities[row]
            }
        }
    }

    /// The number of rows, the outermost group included.
    package var count: Int { table.rows.count }

    /// The ids of the rows so far.
    package var rows: Range<Int> { table.firstRow..<table.end }

    /// Adds an operation to the group that is open.
    @discardableResult
    package mutating func addOperation(_ options: Options = Options()) -> OperationID {
        table.append(options)
    }

    /// Adds an operation that runs elsewhere to the group that is open. It never starts here and takes no slot; it ends
    /// with whatever outcome `ended` tells, whether the group around it has started or not, and, like anything else
    /// that waits, with a stop of that group; one that `outlastsStops` is waited for instead, because its end is near.
    /// While one has not ended, the run does not stall. It needs nothing itself.
    ///
    /// If a group around it is tried again, it stands there as what it has ended as.
    @discardableResult
    package mutating func addExternal(
        toleratesFailure: Bool = false, outlastsStops: Bool = false
    ) -> OperationID {
        table.append(
            Options(toleratesFailure: toleratesFailure),
            flags: outlastsStops ? [.isExternal, .outlastsStops] : .isExternal)
    }

    /// Opens a group inside the one that is open. `failFast` nil means that the nearest group around it that has a
    /// policy decides.
    ///
    /// An `isExpandable` group asks for further members when it starts (`expand`). One that `concludes` asks for its
    /// outcome when everything inside has ended (`conclude`). One that `isOpen` takes `added` members and does not end
    /// before it is closed or stopped.
    ///
    /// One that `judgesMembers` has members with conditions that count together: a false one means something only when
    /// all are known. In one that `isSequence` each member depends on all before it, as if by `.ok` edges, but for
    /// those that it has an edge of its own to; nothing joins it.
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

    /// Opens a group of rows that run when the body of the open group has ended: at most one of each kind in a group,
    /// behind its members. Nothing outside may need a hook or what is in it, and a hook needs nothing outside.
    @discardableResult
    package mutating func beginHook(_ kind: Hook) -> OperationID {
        table.beginHook(kind)
    }

    /// Closes the group or hook that is open.
    package mutating func endGroup() {
        precondition(table.openCount > (table.firstRow == 0 ? 1 : 0), "endGroup without beginGroup")
        table.endGroup()
    }

    /// Lets `dependent` start only after `prerequisite` has ended in the way that `kind` asks for. Neither may be
    /// inside the other; an edge given twice counts twice and does no harm. What needs a member of a group that is
    /// tried again goes on when that member ends in any round. In rows that join, `dependent` has to be one of them.
    package mutating func addDependency(
        of dependent: OperationID, on prerequisite: OperationID, _ kind: DependencyKind = .ok,
        _ reason: EdgeReason = .dependency
    ) {
        precondition(dependent.row >= table.firstRow, "\(dependent) is not one of the new rows")
        table.edges.append(
            RowTable.Edge(dependent: dependent, prerequisite: prerequisite, kind: kind, reason: reason))
    }

    /// Tells in advance what members that join `group` later will ask for and need outside of it, so that groups around
    /// it that hold mutexes can take and await that too.
    package mutating func foresee(_ mutexes: [LockID], needs: [OperationID], in group: OperationID) {
        guard !mutexes.isEmpty || !needs.isEmpty else { return }
        table.foreseen[group] = RowTable.Foreseen(mutexes: mutexes, needs: needs)
    }

    /// Adds a lock with a single holder at a time.
    package mutating func addMutex() -> LockID {
        defer { lockCount += 1 }
        return LockID(lockCount)
    }

    /// Adds a lock with this many units, at least 1, of which operations may ask for some or all.
    package mutating func addPool(of units: Int) -> LockID {
        defer { lockCount += 1 }
        declarePool(LockID(lockCount), of: units)
        return LockID(lockCount)
    }

    /// Makes a lock a pool with this many units, at least 1, before any row asks for it: one that rows that join bring.
    package mutating func declarePool(_ lock: LockID, of units: Int) {
        precondition(units >= 1, "a pool with \(units) units could never be had")
        pools[lock] = units
    }

    /// Forgets the pools that no row asks for.
    mutating func keepPools(in asked: Set<LockID>) {
        if !pools.isEmpty { pools = pools.filter { asked.contains($0.key) } }
    }
}

extension OperationGraph {
    func isMutex(_ lock: LockID) -> Bool { pools[lock] == nil }
    func capacity(of lock: LockID) -> Int { pools[lock] ?? 1 }

    /// Whether a row is inside a group, however deep. O(depth).
    func isInside(_ id: OperationID, _ group: OperationID) -> Bool {
        guard group != .root else { return id != .root }
        var next = id
        while next != .root {
            next = table.rows[next.row].parent
            if next == group { return true }
        }
        return false
    }

    /// Appends rows that joined as members of a group. O(rows).
    mutating func append(_ joining: OperationGraph, to group: OperationID) {
        table.append(joining.table, to: group)
        if !joining.pools.isEmpty { pools.merge(joining.pools) { $1 } }
    }

    /// Counts members that stay when the group is tried again.
    mutating func addMembers(_ count: Int, toGroup index: Int) {
        table.groups[index].members += count
    }
}

/// Rows of a group that run when its body, everything else in it, has ended. Nothing that stops the body reaches them,
/// except `abort`.
package enum Hook: UInt8, Sendable, Hashable, CaseIterable {
    /// After a failure or timeout of the body.
    case onFailure
    /// Whatever happened, if only the group started and was not stopped before any work in it began; after `onFailure`.
    case finally
}
