/// Decides what starts, what stops and how everything ends. A pure value: it knows no clock, no task and no process,
/// so the same code runs live, in virtual time and under an explorer.
///
/// Feed it events in the order in which they happened; carry out the commands in the order in which they come. Every
/// operation and group gets exactly one `finished` command, a group's after those of all its members, and a dependent's
/// `start` after those of all it needs.
///
/// All state lives in dense arrays, one row an operation; a waiting operation costs memory and nothing else. Handling an
/// event is O(log n) plus what it changes: the dependents of what ended, the members of a group that is stopped.
package struct OperationScheduler: Sendable {
    /// What happened outside.
    package enum Event: Sendable {
        /// Once, first; only `suspend`, `resume` and `width` may come before it.
        case begin
        /// The work of a started operation is over: `success`, `failure`, `skipped`, `timeout` for a limit inside the
        /// work, or `cancelled` where the work itself was asked to stop. What a stopped operation answers does not
        /// matter any more. `mayRetry`: a failure or timeout is of a kind that is worth another attempt. Also the answer
        /// to `conclude`, where `mayRetry` is about another round, to an `expand` that failed, and, with any outcome,
        /// the end of an external operation; after its end: ignored.
        case ended(OperationID, OperationOutcome, mayRetry: Bool)
        /// The work of a started operation cannot begin yet: the limit of its attempt starts with `launched`.
        case delayed(OperationID)
        /// What was `delayed` has begun.
        case launched(OperationID)
        /// The work itself is over and only its clean-up goes on: its own limits of time no longer hold. `ended` is
        /// still to come.
        case lingering(OperationID)
        /// The time of a `wake` command has come. Early or superfluous calls do no harm.
        case time
        /// Somebody wants an operation, a group or (`.root`) everything to stop, but for hooks. After its end: ignored.
        case cancel(OperationID)
        /// Somebody wants everything to stop, hooks included.
        case abort
        /// How many operations may run at once from now on; lowering it stops nothing.
        case width(Int)
        /// The answer to `decide`.
        case decided(OperationID, Decision)
        /// The answer to `expand`: further members of a group.
        indirect case expanded(OperationID, OperationGraph)
        /// Nothing is to start until `resume`; what runs goes on, and clocks of groups stand still. A cancel of
        /// everything resumes; after one, this is ignored.
        case suspend
        /// The end of `suspend`.
        case resume
        /// An open group takes no more members.
        case close(OperationID)
        /// Further members of a group that is open or running. Members of one that has ended or is stopped are
        /// cancelled.
        indirect case added(OperationID, OperationGraph)
        /// Something that has not begun needs something else too.
        case link(dependent: OperationID, on: OperationID, EdgeKind)
        /// Something that has not started no longer needs something else.
        case unlink(dependent: OperationID, prerequisite: OperationID)
    }

    /// What a condition says.
    package enum Decision: Sendable, Hashable {
        case run
        /// It is false.
        case skip
        /// It cannot be told.
        case fail
    }

    /// What is to be done outside.
    package enum Command: Sendable, Hashable {
        /// Begin an attempt, counted from 1, of the work of an operation; answer with `ended` when it is over.
        case start(OperationID, attempt: Int)
        /// Make a started operation end soon. Its `ended` is still awaited: slots and locks stay taken until then.
        case stop(OperationID, OperationCause)
        /// Send `time` at this time, measured on the clock that `handle` is called with; replaces earlier ones.
        case wake(at: Duration)
        /// A group begins a round, counted from 0.
        case groupStarted(OperationID, round: Int)
        /// A group is being cancelled or has timed out; comes before the commands for its members.
        case groupStopping(OperationID, OperationCause)
        /// All needs of something conditional have ended; answer with `decided`.
        case decide(OperationID)
        /// An expandable group has started; answer with `expanded`, or with `ended` and a failure.
        case expand(OperationID)
        /// Everything in a group has ended, with this outcome; answer with `ended` and its own, which may make a
        /// failure of a success and nothing else.
        case conclude(OperationID, OperationOutcome)
        /// The answer to an `expand` or `conclude` does not matter any more, because the group is being stopped. It is
        /// still awaited: give it soon.
        case withdraw(OperationID)
        /// An attempt of an operation or a round of a group, the number of which is `ended`, is over, and another one
        /// begins not before so long a time.
        case retrying(OperationID, ended: Int, delay: Duration)
        /// The operation or group is over, for good, or, for members of a group that is tried again, for this round.
        /// For `.root` it is the last command of all.
        case finished(OperationID, OperationOutcome, OperationCause)
        case suspended
        case resumed
        /// Nothing runs, nothing is due and nothing was asked, but not everything has ended: what waits for what, from
        /// `.root` on. Everything is ended by what follows.
        case stalled([Wait])
        /// Only with `tellsLocks`, like the following: units of a lock were taken.
        case acquired(LockID, by: OperationID)
        case released(LockID, by: OperationID)
        /// Something ready could not start for want of a lock, or, where there is none, for want of a slot.
        case waiting(OperationID, on: LockID?)
        /// All that something needs has ended, and only slots and locks stand between it and its start.
        case ready(OperationID)
    }

    enum Phase: UInt8, Sendable {
        case blocked, deciding, ready, executing, stopping, backingOff, finished

        /// Whether an answer or a time leads on from here, and nothing else is needed.
        var isAwaited: Bool { self == .deciding || self == .backingOff }
    }

    struct State: Sendable {
        var phase = Phase.blocked
        /// Of a finished row; between attempts that of the last one.
        var outcome = OperationOutcome.success
        /// Of a stopping operation: why; otherwise what the outcome is put down to.
        var cause = OperationCause.itself
        /// Prerequisites that have not ended.
        var pendingNeeds: UInt32 = 0
    }

    var graph: OperationGraph
    var dependents = Adjacency()
    var needs = Adjacency()
    /// Whether `acquired`, `released`, `waiting` and `ready` are told.
    package var tellsLocks = false
    var width: Int
    var running = 0
    var states: [State] = []
    var groups: [GroupState] = []
    var ready = ReadyQueue()
    /// Groups that are ready and wait for no turn. They start when all ends so far have been told, so that a new round counts what it still
    /// has to wait for correctly.
    var readyGroups = ReadyQueue()
    var locks = LockTable()
    /// Rows that are being decided, expanded or concluded, or that wait for another attempt: something will come of them.
    var awaited = 0
    /// Groups that take `added` members, and external operations that have not ended: what goes on from outside.
    var openGroups = 0
    var unfinishedExternals = 0
    /// Rows that have ended, and those of them that the last `removeEnded` kept.
    var finishedCount = 0
    var finishedCountKept = 0
    let holderRule: HolderRule
    let groupsWaitForTheirTurn: Bool
    var holders = HolderTable()
    /// Attempts and rounds of what may be tried again and has started.
    var progress: [OperationID: RetryProgress] = [:]
    var jitter: JitterGenerator
    /// Of rows that are not run: the failure, timeout or cancel that ruled them out.
    var roots: [OperationID: OperationID] = [:]
    /// How hooks ended, by the group whose hooks they are.
    var hookEnds: [OperationID: FirstEnds] = [:]
    /// What could be asked or started but for the suspension.
    var held: [OperationID] = []
    /// Whether everything was asked to stop; then nothing suspends any more.
    var isCancelled = false
    var isAborted = false
    var clocks = Clocks()
    /// Deadlines and back-offs of operations, and back-offs of groups: time that goes on in a suspension.
    var deadlines = DeadlineQueue()
    /// Limits of groups, on a clock that stands still in a suspension.
    var groupDeadlines = DeadlineQueue()
    var announcedWake: Duration?
    /// The earliest time at which `time` is wanted; nil if none is, or after the end of `.root`.
    package internal(set) var nextDeadline: Duration?
    /// Ended operations whose dependents and groups have not been told yet. A worklist, because chains are long.
    var ended: [OperationID] = []
    var commands: [Command] = []

    /// `width` is how many operations may run at once, at least 1; `seed` makes what back-offs leave to chance.
    /// O(rows + edges).
    ///
    /// A group starts as soon as all it needs has ended. If `groupsWaitForTheirTurn`, it starts where an operation in its
    /// place would: when there is room for one, and nothing that is ready comes before it. It takes no slot in any case.
    package init(
        _ graph: consuming OperationGraph, width: Int, seed: UInt64 = 0, groupsWaitForTheirTurn: Bool = false
    ) {
        self.init(
            graph, width: width, seed: seed, groupsWaitForTheirTurn: groupsWaitForTheirTurn,
            holderRule: .takesEverything)
    }

    init(
        _ graph: consuming OperationGraph, width: Int, seed: UInt64 = 0, groupsWaitForTheirTurn: Bool = false,
        holderRule: HolderRule
    ) {
        precondition(width >= 1, "a scheduler of width \(width) would never start anything")
        self.graph = graph
        self.width = width
        self.holderRule = holderRule
        self.groupsWaitForTheirTurn = groupsWaitForTheirTurn
        jitter = JitterGenerator(seed: seed)
        let table = self.graph.table
        // The edges stand in `needs` and `dependents` from now on.
        self.graph.table.edges = []
        addState(of: table)
    }

    /// The outcome of an operation or group; nil before its end.
    package func outcome(of id: OperationID) -> OperationOutcome? {
        states[id.row].phase == .finished ? states[id.row].outcome : nil
    }

    /// What the end of an operation or group is put down to; nil before its end.
    package func cause(of id: OperationID) -> OperationCause? {
        states[id.row].phase == .finished ? states[id.row].cause : nil
    }

    /// Whether only slots and locks stand between something and its start.
    package func isReady(_ id: OperationID) -> Bool { states[id.row].phase == .ready }

    /// Whether everything is over.
    package var isFinished: Bool { states[0].phase == .finished }

    /// The number of rows, those that were added since the beginning included.
    package var count: Int { states.count }

    /// Takes one event at a time that never goes backwards, measured from any fixed point. After the end of `.root`
    /// nothing happens any more.
    package mutating func handle(_ event: Event, at time: Duration) -> [Command] {
        var commands: [Command] = []
        handle(event, at: time, into: &commands)
        return commands
    }

    /// The same, with the commands appended to a buffer of the caller's.
    package mutating func handle(_ event: Event, at time: Duration, into buffer: inout [Command]) {
        clocks.advance(to: time)
        guard !isFinished else { return }
        swap(&commands, &buffer)
        apply(event)
        goOn()
        swap(&commands, &buffer)
    }

    /// Adds one operation to a group that is open or running, as `added` does, for a fraction of what that costs. Returns
    /// its id. Not to be called after the end of `.root`.
    package mutating func add(
        _ options: OperationGraph.Options, to group: OperationID, needs: [(OperationID, EdgeKind)] = [],
        at time: Duration, into buffer: inout [Command]
    ) -> OperationID {
        precondition(!isFinished, "an operation came after the end of everything")
        clocks.advance(to: time)
        let id = OperationID(count)
        swap(&commands, &buffer)
        add(options, to: group, needs: needs)
        goOn()
        swap(&commands, &buffer)
        return id
    }

    /// Everything that follows from what has just changed.
    private mutating func goOn() {
        settle()
        if isStalled { endAsStalled() }
        announceWake()
    }

    private mutating func apply(_ event: Event) {
        switch event {
        case .begin:
            precondition(states[0].phase == .blocked, "begin comes once, first")
            move(.root, to: .ready)
            startGroup(.root)
        case .ended(let id, let outcome, let mayRetry):
            if isGroup(id) {
                answer(id, outcome, mayRetry)
            } else if has(id, .isExternal) {
                if states[id.row].phase != .finished { finish(id, outcome, .itself) }
            } else {
                end(id, as: outcome, mayRetry)
            }
        case .delayed(let id): delay(id)
        case .launched(let id): launch(id)
        case .lingering(let id): linger(id)
        case .time: expireWhatIsDue()
        case .cancel(let id): cancel(id)
        case .abort: abort()
        case .width(let new):
            precondition(new >= 1, "a scheduler of width \(new) would never start anything")
            width = new
        case .decided(let id, let decision): decide(id, decision)
        case .expanded(let id, let expansion): expand(id, expansion)
        case .suspend: suspend()
        case .resume: resume()
        case .close(let id): close(id)
        case .added(let id, let expansion): add(expansion, to: id)
        case .link(let dependent, let prerequisite, let kind): link(dependent, on: prerequisite, kind)
        case .unlink(let dependent, let prerequisite): unlink(dependent, from: prerequisite)
        }
    }

    /// Makes the state of rows that are new in the graph.
    mutating func addState(of table: RowTable) {
        var table = table
        addLocks(of: &table)
        if graph.table.limitsMembers {
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
        groups.append(contentsOf: graph.table.groups[groups.count...].map(GroupState.init))
    }

    /// The same for one operation.
    mutating func addState(of id: OperationID, _ asked: [LockRequest], _ prerequisites: [(OperationID, EdgeKind)]) {
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
            // What has ended for good has nothing to tell any more.
            if !hasEnded || mayBeReset(prerequisite) { dependents.append(id, kind, to: prerequisite) }
        }
        states.append(state)
    }

    /// Notes what the new rows ask for; groups that hold mutexes wait for more than they name.
    private mutating func addLocks(of table: inout RowTable) {
        switch holderRule {
        case .takesEverything:
            let (requests, edges) = holders.add(table, to: graph)
            for (id, requests) in requests { locks.add(id, requests, of: graph) }
            // Adding nothing would copy all edges all the same.
            if !edges.isEmpty { table.edges += edges }
        case .takesItsOwn:
            for (id, requests) in table.locks {
                locks.add(id, requests.map(HolderTable.Request.init(inWholeRun:)), of: graph)
            }
        }
    }

    /// What a group that names mutexes takes when it starts.
    enum HolderRule: Sendable {
        /// What it and anything inside it names, once what anything inside it needs from outside has ended.
        case takesEverything
        /// What it names itself, and its members wait for the rest while it holds. Runs can stall by that: only for the
        /// test that shows it.
        case takesItsOwn
    }

    /// Every change of a phase, so that it is known whether something is still to come.
    mutating func move(_ id: OperationID, to phase: Phase) {
        if states[id.row].phase.isAwaited { awaited -= 1 }
        if phase.isAwaited { awaited += 1 }
        if phase == .finished { finishedCount += 1 }
        states[id.row].phase = phase
    }
}
