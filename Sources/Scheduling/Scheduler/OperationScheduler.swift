/// Decides what starts, what stops and what outcome everything has. A pure value: it knows no clock, task or process,
/// so the same code runs live, in virtual time and under an explorer.
///
/// Pass events in the order in which they happen, and carry out the returned commands in order. Every operation and
/// group gets exactly one `finished` command: a group after all its members, and before the `start` of any dependent.
///
/// State is in dense arrays with one row per operation, so a waiting operation costs only memory. Handling an event
/// is O(log n) plus its effects: the dependents of an operation that ended, the members of a group that is stopped.
package struct OperationScheduler: Sendable {
    /// An event outside the scheduler.
    package enum Event: Sendable {
        /// Starts the run. Sent once; only `suspend`, `resume` and `width` may precede it.
        case begin
        /// The work of a started operation has ended: with `success`, `failure`, `skipped`, `timeout` for a limit
        /// inside the work, or `cancelled` if the work itself was asked to stop. For a stopped operation, the outcome
        /// is ignored. `mayRetry` says whether a failure or timeout is worth another attempt.
        ///
        /// Also the answer to `weigh` and `conclude`, with `mayRetry` about another round; the answer to an `expand`
        /// that failed; and, with any outcome, the end of an external operation, where a repeated one is ignored.
        case ended(OperationID, OperationOutcome, mayRetry: Bool)
        /// The work of a started operation cannot begin yet. The time limit of its attempt starts with `launched`.
        case delayed(OperationID)
        /// The work that was `delayed` has begun.
        case launched(OperationID)
        /// The work has ended and only its clean-up goes on, so its time limits no longer apply. `ended` is still to
        /// come.
        case lingering(OperationID)
        /// The time of a `wake` command has come. An early or superfluous event is harmless.
        case time
        /// A request to stop an operation, a group or (`.root`) everything, except hooks. Ignored after its end;
        /// otherwise it applies to all rounds of the enclosing groups.
        case cancel(OperationID)
        /// No attempt or round follows the current one, whatever its outcome. Sent before its `ended`.
        case lastAttempt(OperationID)
        /// A request to stop everything, hooks included.
        case abort
        /// Changes the number of operations that may run at once. Lowering it stops nothing.
        case width(Int)
        /// The answer to `decide`.
        case decided(OperationID, Decision)
        /// The answer to `expand`: more members of the group.
        indirect case expanded(OperationID, OperationGraph)
        /// An errand, which is work outside the graph, requests a slot of the width; the answer is `startErrand`.
        case errand(Errand)
        /// An errand that ran in the slot of an operation goes on after it and takes a slot of its own at once.
        case errandGoesOn(Errand)
        /// An errand has ended, or no longer needs a slot.
        case errandEnded(Errand)
        /// Starts nothing until `resume`. Running work goes on, and the time limits of groups pause. A cancel of
        /// everything resumes; later suspensions are ignored.
        case suspend
        /// Ends a suspension.
        case resume
        /// Withholds this many units of a lock, because others outside share it; initially none. With
        /// `keepsReleases`, units that are released here until the next such event are withheld too.
        case withheld(LockID, Int, keepsReleases: Bool)
        /// A started operation has not begun and must not for now. It releases its slots and locks and waits for its
        /// turn again; the attempt does not count. Ignored if it is being stopped.
        case takenBack(OperationID)
        /// An open group accepts no more members.
        case close(OperationID)
        /// More members of an open or running group. If it has ended or is being stopped, they are cancelled.
        indirect case added(OperationID, OperationGraph)
        /// Adds a dependency to something that has not begun, or changes the kind of an existing one.
        case link(dependent: OperationID, on: OperationID, DependencyKind, EdgeReason = .dependency)
        /// Removes a dependency from something that has not started, and from the enclosing groups that waited
        /// because of it.
        case unlink(dependent: OperationID, prerequisite: OperationID, EdgeReason = .dependency)
    }

    /// The value of a condition.
    package enum Decision: Sendable, Hashable {
        case run
        /// The condition is false.
        case skip
        /// The condition cannot be evaluated.
        case fail
    }

    /// An action for the caller to carry out.
    package enum Command: Sendable, Hashable {
        /// Begin an attempt of an operation's work; attempts count from 1. Answer with `ended` when it has ended.
        case start(OperationID, attempt: Int)
        /// Make a started operation end soon. It keeps its slots and locks until its `ended`.
        case stop(OperationID, OperationCause)
        /// Send `time` at this time, on the clock that `handle` is called with. Replaces earlier `wake` commands.
        case wake(at: Duration)
        /// A group begins a round; rounds count from 0.
        case groupStarted(OperationID, round: Int)
        /// A group is being cancelled or has timed out. Precedes the commands for its members.
        case groupStopping(OperationID, OperationCause)
        /// All needs of a conditional operation or group have ended; answer with `decided`.
        case decide(OperationID)
        /// An expandable group has started; answer with `expanded`, or with `ended` and a failure.
        case expand(OperationID)
        /// The body of a group that has an `onFailure` hook and may be tried again has ended with this outcome.
        /// Answer with `ended`, whose `mayRetry` says whether it is worth another round; the hook waits for the last
        /// one.
        case weigh(OperationID, OperationOutcome)
        /// Everything in a group has ended, with this outcome. Answer with `ended` and the final outcome, which may
        /// turn a success into a failure but change nothing else.
        case conclude(OperationID, OperationOutcome)
        /// The answer to an `expand`, `weigh` or `conclude` no longer matters, because the group is being stopped. It
        /// is still awaited, so give it soon.
        case withdraw(OperationID)
        /// An attempt of an operation, or a round of a group, has ended; `ended` is its number. The next begins after
        /// `delay` or later.
        case retrying(OperationID, ended: Int, delay: Duration)
        /// Another round of a group was called off; the group goes on to its `onFailure` hook.
        case groupResumed(OperationID)
        /// An operation or group has ended: for good or, inside a group that is tried again, for this round. For
        /// `.root`, this is the last command of all.
        case finished(OperationID, OperationOutcome, OperationCause)
        case suspended
        case resumed
        /// An errand got its slot. Answer with `errandEnded` when it has ended.
        case startErrand(Errand)
        /// Nothing runs, nothing is due and no answer is awaited, but not everything has ended. Contains the chain of
        /// waits from `.root` on. The commands that follow end everything.
        case stalled([Wait])
        /// Units of a lock were taken. This and the following commands are sent only with `tellsLocks`.
        case acquired(LockID, by: OperationID)
        case released(LockID, by: OperationID)
        /// A ready row could not start because a lock is taken; nil if there is no slot.
        case waiting(OperationID, on: LockID?)
        /// All dependencies have ended; the row waits only for slots and locks.
        case ready(OperationID)
    }

    enum Phase: UInt8, Sendable {
        case blocked, deciding
        /// Its condition is false, and the conditions that are judged with it are not all known yet.
        case rejected
        case ready, executing, stopping, backingOff, finished

        /// True if the row goes on after an answer or at a point in time.
        var isAwaited: Bool { self == .deciding || self == .backingOff }
    }

    struct State: Sendable {
        var phase = Phase.blocked
        /// True if it was stopped by its own id. This applies to all rounds of the enclosing groups.
        var isCancelled = false
        /// The outcome of a finished row; between attempts, that of the last attempt.
        var outcome = OperationOutcome.success
        /// The reason for its stop, or the cause of its outcome.
        var cause = OperationCause.itself
        /// The number of prerequisites that have not ended.
        var pendingNeeds: UInt32 = 0
    }

    var graph: OperationGraph
    var dependents = Adjacency()
    var needs = Adjacency()
    /// True if the commands `acquired`, `released`, `waiting` and `ready` are sent.
    package var tellsLocks = false
    var width: Int
    /// The number of operations and errands that hold a slot.
    package internal(set) var running = 0
    var errands = Errands()
    var states: [State] = []
    var groups: [GroupState] = []
    var ready = ReadyQueue()
    /// Groups that are ready and do not wait for their turn. They start after all ends so far have been reported, so
    /// that a new round counts correctly what it still has to wait for.
    var readyGroups = ReadyQueue()
    var locks = LockTable()
    /// The number of rows whose decision, expansion or conclusion is awaited, or that wait for another attempt:
    /// something will happen.
    var awaited = 0
    /// The numbers of groups that accept `added` members and of external operations that have not ended: something
    /// may happen.
    var openGroups = 0
    var unfinishedExternals = 0
    /// The number of rows that have ended since the last `removeEnded`.
    package internal(set) var endedCount = 0
    let holderRule: HolderRule
    let knowsAllNeeds: Bool
    let groupsWaitForTheirTurn: Bool
    var holders = HolderTable()
    /// The progress of everything that may be tried again and has started.
    var progress: [OperationID: RetryProgress] = [:]
    var jitter: JitterGenerator
    /// For rows that were not run: the failure, timeout or cancel that ruled them out.
    var roots: [OperationID: OperationID] = [:]
    /// By the group that judges its members together; no entry until a member's condition is known or a member has
    /// ended.
    var juries: [OperationID: Jury] = [:]
    /// By the group whose members run in sequence.
    var sequences: [OperationID: SequenceMemory] = [:]
    /// The ends of hooks, by the group that has them.
    var hookEnds: [OperationID: FirstEnds] = [:]
    /// Rows whose conditions wait for the end of a suspension.
    var held: [OperationID] = []
    /// True once everything was asked to stop; suspensions are then ignored.
    var isCancelled = false
    var isAborted = false
    var clocks = Clocks()
    /// Deadlines and back-offs of operations, and back-offs of groups, on a clock that continues during a suspension.
    var deadlines = DeadlineQueue()
    /// Time limits of groups, on a clock that stops during a suspension.
    var groupDeadlines = DeadlineQueue()
    var announcedWake: Duration?
    /// The earliest time at which a `time` event is needed; nil if none is needed, and after the end of `.root`.
    package internal(set) var nextDeadline: Duration?
    /// Rows whose end has not been reported to dependents and groups. A worklist, because chains may be long.
    var ended: [OperationID] = []
    var commands: [Command] = []

    /// Creates a scheduler that runs up to `width` operations at once, at least 1; `seed` determines the jitter of
    /// back-offs. O(rows + edges).
    ///
    /// A group starts as soon as all its dependencies have ended. With `groupsWaitForTheirTurn`, it starts when an
    /// operation in its position would: when there is room for one and no ready row precedes it. It never takes a
    /// slot.
    ///
    /// A group that takes a mutex or one of a few places must not hold up what its members depend on. If
    /// `knowsAllNeeds`, it starts after those dependencies as far as it has to, which follows from the edges of the
    /// graph. Where edges may come later, or lead through other schedulers, the caller must link such groups itself.
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

    /// True if a row waits only for slots and locks.
    package func isReady(_ id: OperationID) -> Bool { states[id.row].phase == .ready }

    /// True if everything has ended.
    @inline(__always)
    package var isFinished: Bool { states[0].phase == .finished }

    /// The number of rows, including those added since the beginning.
    package var count: Int { states.count }

    /// Handles an event and returns the resulting commands. `time` is measured from any fixed point and must not go
    /// back. After the end of `.root`, does nothing.
    package mutating func handle(_ event: Event, at time: Duration) -> [Command] {
        var commands: [Command] = []
        handle(event, at: time, into: &commands)
        return commands
    }

    /// Handles an event and appends the commands to the caller's buffer.
    package mutating func handle(_ event: Event, at time: Duration, into buffer: inout [Command]) {
        clocks.advance(to: time)
        guard !isFinished else { return }
        swap(&commands, &buffer)
        apply(event)
        goOn()
        swap(&commands, &buffer)
    }

    /// Handles simultaneous events: nothing starts before all of them have been applied.
    package mutating func handle(_ events: [Event], at time: Duration, into buffer: inout [Command]) {
        clocks.advance(to: time)
        guard !isFinished else { return }
        swap(&commands, &buffer)
        for event in events { apply(event) }
        goOn()
        swap(&commands, &buffer)
    }

    /// Adds one operation to an open or running group, like `added` but much cheaper, and returns its id. Must not be
    /// called after the end of `.root`.
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

    /// Carries out everything that follows from a change.
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

    /// The locks that a group that names mutexes takes when it starts.
    enum HolderRule: Sendable {
        /// The locks that it or anything inside it names, once everything outside on which something inside depends
        /// has ended.
        case takesEverything
        /// The locks that it names itself, while its members wait for the others. Runs can stall that way; only for
        /// the test that demonstrates it.
        case takesItsOwn
    }

    /// Makes every change of a phase, so that the counts of awaited and ended rows are right.
    mutating func move(_ id: OperationID, to phase: Phase) {
        if states[id.row].phase.isAwaited { awaited -= 1 }
        if phase.isAwaited { awaited += 1 }
        if phase == .finished { endedCount += 1 }
        states[id.row].phase = phase
    }
}

// Suspensions: nothing starts, and running work goes on.

extension OperationScheduler {
    mutating func suspend() {
        guard !clocks.isSuspended, !isCancelled else { return }
        clocks.suspend()
        commands.append(.suspended)
    }

    mutating func resume() {
        guard clocks.isSuspended else { return }
        clocks.resume()
        commands.append(.resumed)
        announcedWake = nil
        let waiting = held
        held = []
        for id in waiting { consider(id) }
    }
}
