/// Decides what starts, what stops and how everything ends. A pure value: it knows no clock, no task and no process,
/// so the same code runs live, in virtual time and under an explorer.
///
/// Feed it events in the order in which they happen, and carry out its commands in the order in which they come. Every
/// operation and group gets exactly one `finished` command: a group after all its members, and before the `start` of
/// anything that depends on it.
///
/// State lives in dense arrays with a row for each operation, so one that waits costs memory and nothing else. Handling
/// an event is O(log n) plus what it changes: the dependents of what ended, the members of a group that is stopped.
package struct OperationScheduler: Sendable {
    /// What happened outside.
    package enum Event: Sendable {
        /// Once, first; only `suspend`, `resume` and `width` may come before it.
        case begin
        /// The work of a started operation has ended: with `success`, `failure`, `skipped`, `timeout` for a limit
        /// inside the work, or `cancelled` if the work itself was asked to stop. The answer of a stopped operation does
        /// not matter. `mayRetry` says whether a failure or timeout is worth another attempt.
        ///
        /// Also the answer to `weigh` and `conclude`, with `mayRetry` about another round; the answer to an `expand`
        /// that failed; and, with any outcome, the end of an external operation, ignored after its end.
        case ended(OperationID, OperationOutcome, mayRetry: Bool)
        /// The work of a started operation cannot begin yet. The limit of its attempt starts with `launched`.
        case delayed(OperationID)
        /// The work that was `delayed` has begun.
        case launched(OperationID)
        /// The work has ended and only its clean-up goes on, so its time limits no longer hold. `ended` is still to
        /// come.
        case lingering(OperationID)
        /// The time of a `wake` command has come. An early or unneeded one is harmless.
        case time
        /// A request to stop an operation, a group or (`.root`) everything, except hooks. Ignored after its end;
        /// before, it holds in all rounds of what is around it.
        case cancel(OperationID)
        /// No attempt or round follows the current one, whatever it comes to. Comes before its `ended`.
        case lastAttempt(OperationID)
        /// A request to stop everything, hooks included.
        case abort
        /// Changes how many operations may run at once. Lowering it stops nothing.
        case width(Int)
        /// The answer to `decide`.
        case decided(OperationID, Decision)
        /// The answer to `expand`: more members of the group.
        indirect case expanded(OperationID, OperationGraph)
        /// An errand, which is work outside of the graph, wants a slot of the width; the answer is `startErrand`.
        case errand(Errand)
        /// An errand that ran in the slot of an operation goes on after it, and takes a slot of its own at once.
        case errandGoesOn(Errand)
        /// An errand has ended, or no longer wants a slot.
        case errandEnded(Errand)
        /// Starts nothing until `resume`. What runs goes on, and time limits of groups stand still. A cancel of
        /// everything resumes; later suspensions are ignored.
        case suspend
        /// The end of `suspend`.
        case resume
        /// So many units of a lock cannot be had here for now, because others outside share it: none until told. With
        /// `keepsReleases`, those that are released here until the next such event cannot be had either.
        case withheld(LockID, Int, keepsReleases: Bool)
        /// A started operation has not begun and is not to for now. It gives back what it holds and waits for its turn
        /// again; the attempt does not count. Ignored if it is being stopped.
        case takenBack(OperationID)
        /// An open group takes no more members.
        case close(OperationID)
        /// More members of a group that is open or running. If it has ended or is being stopped, they are cancelled.
        indirect case added(OperationID, OperationGraph)
        /// Adds a dependency to something that has not begun, or changes the kind of one.
        case link(dependent: OperationID, on: OperationID, DependencyKind, EdgeReason = .dependency)
        /// Removes a dependency from something that has not started. What is around it no longer waits for its sake
        /// either.
        case unlink(dependent: OperationID, prerequisite: OperationID, EdgeReason = .dependency)
    }

    /// The value of a condition.
    package enum Decision: Sendable, Hashable {
        case run
        /// It is false.
        case skip
        /// It cannot be evaluated.
        case fail
    }

    /// What is to be done outside.
    package enum Command: Sendable, Hashable {
        /// Begin an attempt of an operation's work, counted from 1. Answer with `ended` when it has ended.
        case start(OperationID, attempt: Int)
        /// Make a started operation end soon. It keeps its slots and locks until its `ended`.
        case stop(OperationID, OperationCause)
        /// Send `time` at this time, on the clock that `handle` is called with. Replaces earlier ones.
        case wake(at: Duration)
        /// A group begins a round, counted from 0.
        case groupStarted(OperationID, round: Int)
        /// A group is being cancelled or has timed out. Comes before the commands for its members.
        case groupStopping(OperationID, OperationCause)
        /// All needs of something conditional have ended; answer with `decided`.
        case decide(OperationID)
        /// An expandable group has started; answer with `expanded`, or with `ended` and a failure.
        case expand(OperationID)
        /// The body of a group that has a hook for failures and may be tried again has ended with this outcome. Answer
        /// with `ended`, whose `mayRetry` says whether that is worth another round; the hook waits for the last one.
        case weigh(OperationID, OperationOutcome)
        /// Everything in a group has ended, with this outcome. Answer with `ended` and the final one, which may turn a
        /// success into a failure and change nothing else.
        case conclude(OperationID, OperationOutcome)
        /// The answer to an `expand`, `weigh` or `conclude` no longer matters, because the group is being stopped. It is still
        /// awaited; give it soon.
        case withdraw(OperationID)
        /// An attempt of an operation, or a round of a group, has ended; `ended` is its number. The next begins after
        /// `delay`, or later.
        case retrying(OperationID, ended: Int, delay: Duration)
        /// A group that waited for another round, which has been called off, goes on to its hook for failures.
        case groupResumed(OperationID)
        /// An operation or group has ended for good, or, inside a group that is tried again, for this round. For
        /// `.root`, the last command of all.
        case finished(OperationID, OperationOutcome, OperationCause)
        case suspended
        case resumed
        /// An errand has its slot. Answer with `errandEnded` when it has ended.
        case startErrand(Errand)
        /// Nothing runs, nothing is due and no answer is awaited, but not everything has ended. Says what waits for
        /// what, from `.root` on. The commands that follow end everything.
        case stalled([Wait])
        /// Units of a lock were taken. This and the following commands come only with `tellsLocks`.
        case acquired(LockID, by: OperationID)
        case released(LockID, by: OperationID)
        /// Something ready could not start because a lock is taken; nil: because there is no slot.
        case waiting(OperationID, on: LockID?)
        /// Everything that it depends on has ended; it waits for slots and locks only.
        case ready(OperationID)
    }

    enum Phase: UInt8, Sendable {
        case blocked, deciding
        /// Its condition is false, and the conditions that are judged with it are not all known yet.
        case rejected
        case ready, executing, stopping, backingOff, finished

        /// Whether an answer or a point in time is enough to go on from here.
        var isAwaited: Bool { self == .deciding || self == .backingOff }
    }

    struct State: Sendable {
        var phase = Phase.blocked
        /// Whether it was asked to stop by its own id. That holds in all rounds of what is around it.
        var isCancelled = false
        /// The outcome of a finished row; between attempts, that of the last one.
        var outcome = OperationOutcome.success
        /// Why it is being stopped, or the cause of its outcome.
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
    /// Operations and errands that hold a slot.
    var running = 0
    var errands = Errands()
    var states: [State] = []
    var groups: [GroupState] = []
    var ready = ReadyQueue()
    /// Groups that are ready and do not wait for their turn. They start after all ends so far have been told, so that a
    /// new round correctly counts what it still has to wait for.
    var readyGroups = ReadyQueue()
    var locks = LockTable()
    /// How many rows are being decided, expanded or concluded, or wait for another attempt: something will happen.
    var awaited = 0
    /// How many groups take `added` members, and how many external operations have not ended: something may happen.
    var openGroups = 0
    var unfinishedExternals = 0
    /// How many rows have ended since the last `removeEnded`.
    package internal(set) var endedCount = 0
    let holderRule: HolderRule
    let knowsAllNeeds: Bool
    let groupsWaitForTheirTurn: Bool
    var holders = HolderTable()
    /// Attempts and rounds of what may be tried again and has started.
    var progress: [OperationID: RetryProgress] = [:]
    var jitter: JitterGenerator
    /// For rows that are not run: the failure, timeout or cancel that ruled them out.
    var roots: [OperationID: OperationID] = [:]
    /// By the group that judges its members together; none before the first of them is known.
    var juries: [OperationID: Jury] = [:]
    /// By the group whose members run in sequence.
    var sequences: [OperationID: SequenceMemory] = [:]
    /// How hooks ended, by the group whose hooks they are.
    var hookEnds: [OperationID: FirstEnds] = [:]
    /// Rows whose conditions wait for the end of a suspension.
    var held: [OperationID] = []
    /// Whether everything was asked to stop; suspensions are then ignored.
    var isCancelled = false
    var isAborted = false
    var clocks = Clocks()
    /// Deadlines and back-offs of operations, and back-offs of groups, on a clock that goes on during a suspension.
    var deadlines = DeadlineQueue()
    /// Time limits of groups, on a clock that stands still during a suspension.
    var groupDeadlines = DeadlineQueue()
    var announcedWake: Duration?
    /// The earliest time at which a `time` event is needed; nil if none is, or after the end of `.root`.
    package internal(set) var nextDeadline: Duration?
    /// Rows whose end has not yet been told to dependents and groups. A worklist, because chains may be long.
    var ended: [OperationID] = []
    var commands: [Command] = []

    /// `width` is how many operations may run at once, at least 1; `seed` decides the jitter of back-offs.
    /// O(rows + edges).
    ///
    /// A group starts as soon as everything it depends on has ended. With `groupsWaitForTheirTurn`, it starts when an
    /// operation in its place would: when there is room for one, and nothing that is ready comes before it. It never
    /// takes a slot.
    ///
    /// A group that takes a mutex or one of a few places must not hold up what its members depend on. If
    /// `knowsAllNeeds`, it starts after that as far as it has to, which follows from the edges of the graph. Where
    /// edges may come later, or lead through other schedulers, the caller links such groups itself.
    package init(
        _ graph: consuming OperationGraph, width: Int, seed: UInt64 = 0, groupsWaitForTheirTurn: Bool = false,
        knowsAllNeeds: Bool = true
    ) {
        self.init(
            graph, width: width, seed: seed, groupsWaitForTheirTurn: groupsWaitForTheirTurn,
            knowsAllNeeds: knowsAllNeeds, holderRule: .takesEverything)
    }

    init(
        _ graph: consuming OperationGraph, width: Int, seed: UInt64 = 0, groupsWaitForTheirTurn: Bool = false,
        knowsAllNeeds: Bool = true, holderRule: HolderRule
    ) {
        precondition(width >= 1, "a scheduler of width \(width) would never start anything")
        self.graph = graph
        self.width = width
        self.holderRule = holderRule
        self.knowsAllNeeds = knowsAllNeeds
        self.groupsWaitForTheirTurn = groupsWaitForTheirTurn
        jitter = JitterGenerator(seed: seed)
        self.graph.table.closeAll()
        let table = self.graph.table
        // From now on, `needs` and `dependents` hold the edges.
        self.graph.table.edges = []
        addState(of: table)
    }

    /// The outcome of an operation or group; nil before its end.
    package func outcome(of id: OperationID) -> OperationOutcome? {
        states[id.row].phase == .finished ? states[id.row].outcome : nil
    }

    /// The cause of the outcome of an operation or group; nil before its end.
    package func cause(of id: OperationID) -> OperationCause? {
        states[id.row].phase == .finished ? states[id.row].cause : nil
    }

    /// Whether something waits for slots and locks only.
    package func isReady(_ id: OperationID) -> Bool { states[id.row].phase == .ready }

    /// Whether everything has ended.
    @inline(__always)
    package var isFinished: Bool { states[0].phase == .finished }

    /// The number of rows, including those added since the beginning.
    package var count: Int { states.count }

    /// Handles an event and returns the commands that follow. `time` is measured from any fixed point and never goes
    /// back. After the end of `.root`, nothing happens.
    package mutating func handle(_ event: Event, at time: Duration) -> [Command] {
        var commands: [Command] = []
        handle(event, at: time, into: &commands)
        return commands
    }

    /// The same, with the commands appended to the caller's buffer.
    package mutating func handle(_ event: Event, at time: Duration, into buffer: inout [Command]) {
        clocks.advance(to: time)
        guard !isFinished else { return }
        swap(&commands, &buffer)
        apply(event)
        goOn()
        swap(&commands, &buffer)
    }

    /// Handles events that come at one moment: nothing starts before all of them have been taken in.
    package mutating func handle(_ events: [Event], at time: Duration, into buffer: inout [Command]) {
        clocks.advance(to: time)
        guard !isFinished else { return }
        swap(&commands, &buffer)
        for event in events { apply(event) }
        goOn()
        swap(&commands, &buffer)
    }

    /// Adds one operation to a group that is open or running, as `added` does, for a fraction of what that costs.
    /// Returns its id. Not to be called after the end of `.root`.
    package mutating func add(
        _ options: OperationGraph.Options, to group: OperationID, needs: [(OperationID, DependencyKind)] = [],
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

    /// Does everything that follows from a change.
    private mutating func goOn() {
        settle()
        if isStalled { endAsStalled() }
        announceWake()
    }

    private mutating func apply(_ event: Event) {
        switch event {
        case .begin:
            precondition(states[0].phase == .blocked, "begin comes once, first")
            begin()
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
        case .lastAttempt(let id): progress[id]?.isOver = true
        case .abort: abort()
        case .width(let new):
            precondition(new >= 1, "a scheduler of width \(new) would never start anything")
            width = new
        case .decided(let id, let decision): decide(id, decision)
        case .expanded(let id, let expansion): expand(id, expansion)
        case .errand(let errand): errands.waiting.append(errand)
        case .errandGoesOn(let errand): occupy(errand)
        case .errandEnded(let errand): end(errand)
        case .suspend: suspend()
        case .resume: resume()
        case .withheld(let lock, let units, let keepsReleases): withhold(units, of: lock, keepsReleases)
        case .takenBack(let id): takeBack(id)
        case .close(let id): close(id)
        case .added(let id, let expansion): add(expansion, to: id)
        case .link(let dependent, let prerequisite, let kind, let reason):
            link(dependent, on: prerequisite, kind, reason)
        case .unlink(let dependent, let prerequisite, let reason): unlink(dependent, from: prerequisite, reason)
        }
    }

    /// Makes the state of rows that are new in the graph.
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

    /// The same for one operation.
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
            // What has ended for good has nothing to tell.
            if !hasEnded || mayBeReset(prerequisite) { dependents.append(id, kind, to: prerequisite) }
        }
        states.append(state)
    }

    /// Notes the locks of new rows. Groups that hold mutexes wait for more than they name.
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

    /// Which locks a group that names mutexes takes when it starts.
    enum HolderRule: Sendable {
        /// Those that it or anything inside it names, once everything outside that something inside depends on has
        /// ended.
        case takesEverything
        /// Those that it names itself, while its members wait for the others. Runs can stall by that; only for the test
        /// that shows it.
        case takesItsOwn
    }

    /// Makes every change of a phase, so that the counts of awaited and finished rows are right.
    mutating func move(_ id: OperationID, to phase: Phase) {
        if states[id.row].phase.isAwaited { awaited -= 1 }
        if phase.isAwaited { awaited += 1 }
        if phase == .finished { endedCount += 1 }
        states[id.row].phase = phase
    }
}
