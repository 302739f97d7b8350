/// Operations, the groups around them and what they wait for: the input of an `OperationScheduler`.
///
/// Rows are added in preorder, so that a group's members are one interval. Adding is O(1); nothing here searches for
/// cycles, which is the planner's work.
public struct OperationGraph: Sendable {
    /// What an operation or group may be given beside its place.
    public struct Options: Sendable {
        /// Higher starts earlier among those that are ready; equals start in the order of their rows.
        public var priority: UInt32 = 0
        /// From the start of the operation or group to its end; nil for no limit.
        public var timeout: Duration?
        /// Whether a failure or timeout leaves the group around it unharmed.
        public var toleratesFailure = false

        /// No limit of time, no tolerance, the lowest priority, unless told otherwise.
        public init(priority: UInt32 = 0, timeout: Duration? = nil, toleratesFailure: Bool = false) {
            self.priority = priority
            self.timeout = timeout
            self.toleratesFailure = toleratesFailure
        }
    }

    struct Row: Sendable {
        var parent: OperationID
        var subtreeEnd: UInt32
        var priority: UInt32
        var group: UInt32?
        var toleratesFailure: Bool
    }

    struct Group: Sendable {
        let id: OperationID
        let limit: ConcurrencyLimit
        let failFast: FailFast?
        var members = 0
    }

    struct Edge: Sendable {
        let dependent: OperationID
        let prerequisite: OperationID
        let kind: EdgeKind
    }

    var rows: [Row] = []
    var groups: [Group] = []
    var edges: [Edge] = []
    var timeouts: [OperationID: Duration] = [:]
    private var open: [OperationID] = []

    /// A graph with nothing but its outermost group.
    public init(
        limit: ConcurrencyLimit = .unlimited, failFast: FailFast = .off, timeout: Duration? = nil,
        minimumCapacity: Int = 0
    ) {
        rows.reserveCapacity(minimumCapacity + 1)
        append(Options(timeout: timeout), group: (limit, failFast))
    }

    /// The number of rows, the outermost group included.
    public var count: Int { rows.count }

    /// Adds an operation to the group that is open.
    @discardableResult
    public mutating func addOperation(_ options: Options = Options()) -> OperationID {
        append(options, group: nil)
    }

    /// Opens a group inside the one that is open. `failFast` nil means that the nearest group around it that has a
    /// policy decides.
    @discardableResult
    public mutating func beginGroup(
        _ options: Options = Options(), limit: ConcurrencyLimit = .unlimited, failFast: FailFast? = nil
    ) -> OperationID {
        append(options, group: (limit, failFast))
    }

    /// Closes the group that is open.
    public mutating func endGroup() {
        precondition(open.count > 1, "endGroup without beginGroup")
        open.removeLast()
    }

    /// Lets `dependent` start only after `prerequisite` has ended in the way that `kind` asks for. Neither may be
    /// inside the other; an edge given twice counts twice and does no harm.
    public mutating func addDependency(
        of dependent: OperationID, on prerequisite: OperationID, _ kind: EdgeKind = .ok
    ) {
        edges.append(Edge(dependent: dependent, prerequisite: prerequisite, kind: kind))
    }

    @discardableResult
    private mutating func append(_ options: Options, group: (ConcurrencyLimit, FailFast?)?) -> OperationID {
        let id = OperationID(rows.count)
        let parent = open.last ?? .root
        if let owner = open.last, let index = rows[owner.row].group { groups[Int(index)].members += 1 }
        rows.append(
            Row(
                parent: parent, subtreeEnd: id.value + 1, priority: options.priority,
                group: group == nil ? nil : UInt32(groups.count), toleratesFailure: options.toleratesFailure))
        for ancestor in open { rows[ancestor.row].subtreeEnd = id.value + 1 }
        if let timeout = options.timeout { timeouts[id] = timeout }
        if let (limit, failFast) = group {
            groups.append(Group(id: id, limit: limit, failFast: failFast))
            open.append(id)
        }
        return id
    }
}
