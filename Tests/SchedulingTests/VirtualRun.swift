@testable import Scheduling

/// Runs a graph through the scheduler in virtual time: operations last as long as they are told to, hours cost nothing.
struct VirtualRun {
    struct Behaviour {
        var duration = Duration.seconds(1)
        var outcome = OperationOutcome.success
        /// How long it takes to end after a stop; it may have ended by itself before.
        var stopDuration = Duration.zero
        var mayRetry = true
    }

    /// What is answered to the scheduler's questions, each at once.
    struct Answers {
        var decide: (OperationID) -> OperationScheduler.Decision = { _ in .run }
        /// Given the group and the row at which the expansion begins; nil where it cannot be told.
        var expand: (OperationID, Int) -> OperationGraph? = { _, firstRow in
            OperationGraph(joiningAt: firstRow)
        }
        var conclude: (OperationID, OperationOutcome) -> (OperationOutcome, Bool) = { ($1, true) }
    }

    struct Entry {
        let time: Duration
        let command: OperationScheduler.Command
    }

    /// Rows that a group was expanded by, and how many commands had come before.
    struct Expanded {
        let position: Int
        let group: OperationID
        let rows: Range<Int>
    }

    private struct Pending {
        let time: Duration
        let order: Int
        let event: OperationScheduler.Event
        /// For an `ended`: which start it belongs to.
        let start: Int?
    }

    /// Every command with the time at which it came.
    private(set) var log: [Entry] = []
    private(set) var expansions: [Expanded] = []
    /// How many commands had come when everything was aborted.
    private(set) var abortPosition: Int?
    /// Of the graph and of all expansions.
    private(set) var edges: [RowTable.Edge]
    /// The most operations that ran at once.
    private(set) var peak = 0
    private(set) var scheduler: OperationScheduler
    /// How many rows were removed; only with `removal`.
    var removedCount: Int { removal?.removedCount ?? 0 }
    /// The first thing that a look between two events found wrong.
    private(set) var problem: String?

    private var pending: [Pending] = []
    /// The number of the start of each running operation.
    private var running: [OperationID: Int] = [:]
    private var attempts: [OperationID: Int] = [:]
    private var nextOrder = 0
    private var removal: RandomRemoval?
    private let behaviour: (OperationID, Int) -> Behaviour
    private let answers: Answers
    private let inspect: (OperationScheduler) -> String?

    /// Ends when the graph has ended, or when nothing is left that could happen. `inspect` looks at the scheduler after
    /// each event. Events for time zero come before the beginning only if they are `suspend`. With `removal`, ended
    /// rows are removed at some moments; everything here still goes by the ids that rows had at first, but for
    /// `scheduler`.
    init(
        _ graph: OperationGraph, width: Int = 100, groupsWaitForTheirTurn: Bool = false, tellsLocks: Bool = false,
        events: [(Duration, OperationScheduler.Event)] = [], answers: Answers = Answers(),
        removal: SplitMix? = nil, inspect: @escaping (OperationScheduler) -> String? = { _ in nil },
        attempts behaviour: @escaping (OperationID, Int) -> Behaviour
    ) {
        self.behaviour = behaviour
        self.answers = answers
        self.inspect = inspect
        edges = graph.table.edges
        scheduler = OperationScheduler(graph, width: width, groupsWaitForTheirTurn: groupsWaitForTheirTurn)
        scheduler.tellsLocks = tellsLocks
        self.removal = removal.map { RandomRemoval(from: scheduler, using: $0) }
        for (time, event) in events { push(event, at: time) }
        if case .suspend = events.first?.1, events.first?.0 == .zero { handle(pending.removeFirst().event, at: .zero) }
        handle(.begin, at: .zero)
        while problem == nil, !scheduler.isFinished, let index = pending.indices.min(by: { isEarlier($0, $1) }) {
            let next = pending.remove(at: index)
            if case .ended(let id, _, _) = next.event, let start = next.start {
                guard running[id] == start else { continue }
                running[id] = nil
            }
            handle(next.event, at: next.time)
        }
    }

    /// The same for operations that do in each attempt what they do in the first.
    init(
        _ graph: OperationGraph, width: Int = 100, groupsWaitForTheirTurn: Bool = false, tellsLocks: Bool = false,
        events: [(Duration, OperationScheduler.Event)] = [], answers: Answers = Answers(),
        behaviour: @escaping (OperationID) -> Behaviour = { _ in Behaviour() }
    ) {
        self.init(
            graph, width: width, groupsWaitForTheirTurn: groupsWaitForTheirTurn, tellsLocks: tellsLocks,
            events: events, answers: answers
        ) { id, _ in behaviour(id) }
    }

    var end: Duration { log.last?.time ?? .zero }
    var commands: [OperationScheduler.Command] { log.map(\.command) }

    func outcome(_ id: OperationID) -> OperationOutcome? { scheduler.outcome(of: id) }
    func cause(_ id: OperationID) -> OperationCause? { scheduler.cause(of: id) }

    /// The operations in the order of their starts.
    var starts: [OperationID] {
        log.compactMap { if case .start(let id, _) = $0.command { id } else { nil } }
    }

    func position(where matches: (OperationScheduler.Command) -> Bool) -> Int? {
        log.firstIndex { matches($0.command) }
    }

    func count(where matches: (OperationScheduler.Command) -> Bool) -> Int {
        log.count { matches($0.command) }
    }

    func finish(_ id: OperationID) -> Int? {
        position { if case .finished(id, _, _) = $0 { true } else { false } }
    }

    func start(_ id: OperationID, attempt: Int = 1) -> Int? {
        position { $0 == .start(id, attempt: attempt) || $0 == .groupStarted(id, round: attempt - 1) }
    }

    func time(of position: Int?) -> Duration? { position.map { log[$0].time } }

    private func isEarlier(_ left: Int, _ right: Int) -> Bool {
        (pending[left].time, pending[left].order) < (pending[right].time, pending[right].order)
    }

    private mutating func push(_ event: OperationScheduler.Event, at time: Duration, start: Int? = nil) {
        pending.append(Pending(time: time, order: nextOrder, event: event, start: start))
        nextOrder += 1
    }

    private mutating func handle(_ event: OperationScheduler.Event, at time: Duration) {
        var events = [event]
        while !events.isEmpty {
            let event = events.removeFirst()
            if case .abort = event { abortPosition = abortPosition ?? log.count }
            for command in removal?.handle(event, at: time, by: &scheduler) ?? scheduler.handle(event, at: time) {
                log.append(Entry(time: time, command: command))
                if let answer = carryOut(command, at: time) { events.append(answer) }
            }
            problem = problem ?? inspect(scheduler)
        }
    }

    private mutating func carryOut(
        _ command: OperationScheduler.Command, at time: Duration
    ) -> OperationScheduler.Event? {
        switch command {
        case .start(let id, _):
            attempts[id, default: 0] += 1
            let behaviour = behaviour(id, attempts[id] ?? 1)
            running[id] = nextOrder
            peak = max(peak, running.count)
            push(
                .ended(id, behaviour.outcome, mayRetry: behaviour.mayRetry), at: time + behaviour.duration,
                start: nextOrder)
        case .stop(let id, _):
            let behaviour = behaviour(id, attempts[id] ?? 1)
            push(.ended(id, .failure, mayRetry: true), at: time + behaviour.stopDuration, start: running[id])
        case .wake(let wake):
            push(.time, at: wake)
        case .decide(let id):
            return .decided(id, answers.decide(id))
        case .expand(let id):
            // Several questions may be asked before the first is answered.
            let count = removal?.count ?? scheduler.count
            let firstRow = expansions.last.map { max($0.rows.upperBound, count) } ?? count
            guard let expansion = answers.expand(id, firstRow) else { return .ended(id, .failure, mayRetry: true) }
            edges += expansion.table.edges
            expansions.append(Expanded(position: log.count, group: id, rows: expansion.rows))
            return .expanded(id, expansion)
        case .weigh(let id, let outcome):
            return .ended(id, outcome, mayRetry: answers.conclude(id, outcome).1)
        case .conclude(let id, let outcome):
            let (outcome, mayRetry) = answers.conclude(id, outcome)
            return .ended(id, outcome, mayRetry: mayRetry)
        case .groupStarted, .groupResumed, .groupStopping, .withdraw, .finished, .retrying, .suspended, .resumed,
            .stalled,
            .acquired, .released, .waiting, .ready, .startErrand:
            break
        }
        return nil
    }
}
