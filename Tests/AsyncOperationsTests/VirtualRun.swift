@testable import AsyncOperations

/// Runs a graph through the scheduler in virtual time: operations last as long as they are told to, hours cost nothing.
struct VirtualRun {
    struct Behaviour {
        var duration = Duration.seconds(1)
        var outcome = OperationOutcome.success
        /// How long it takes to end after a stop; it may have ended by itself before.
        var stopDuration = Duration.zero
    }

    struct Entry {
        let time: Duration
        let command: OperationScheduler.Command
    }

    /// Every command with the time at which it came.
    private(set) var log: [Entry] = []
    /// The most operations that ran at once.
    private(set) var peak = 0
    /// The commands that an event made, for checks between events.
    private(set) var scheduler: OperationScheduler
    let graph: OperationGraph

    private var pending: [(time: Duration, order: Int, event: OperationScheduler.Event)] = []
    private var running: Set<OperationID> = []
    private var nextOrder = 0
    private let behaviour: (OperationID) -> Behaviour

    init(
        _ graph: OperationGraph, width: Int = 100, events: [(Duration, OperationScheduler.Event)] = [],
        behaviour: @escaping (OperationID) -> Behaviour = { _ in Behaviour() }
    ) {
        self.graph = graph
        self.behaviour = behaviour
        scheduler = OperationScheduler(graph, width: width)
        for (time, event) in events { push(event, at: time) }
        handle(.begin, at: .zero)
        while !scheduler.isFinished, let index = pending.indices.min(by: { isEarlier($0, $1) }) {
            let next = pending.remove(at: index)
            if case .ended(let id, _, _) = next.event {
                guard running.remove(id) != nil else { continue }
            }
            handle(next.event, at: next.time)
        }
    }

    var end: Duration { log.last?.time ?? .zero }

    func outcome(_ id: OperationID) -> OperationOutcome? { scheduler.outcome(of: id) }
    func cause(_ id: OperationID) -> OperationCause? { scheduler.cause(of: id) }

    /// The operations in the order of their starts.
    var starts: [OperationID] {
        log.compactMap { if case .start(let id, _) = $0.command { id } else { nil } }
    }

    func position(where matches: (OperationScheduler.Command) -> Bool) -> Int? {
        log.firstIndex { matches($0.command) }
    }

    func finish(_ id: OperationID) -> Int? {
        position { if case .finished(id, _, _) = $0 { true } else { false } }
    }

    func start(_ id: OperationID) -> Int? {
        position { $0 == .start(id, attempt: 1) || $0 == .groupStarted(id, round: 0) }
    }

    func time(of position: Int?) -> Duration? { position.map { log[$0].time } }

    private func isEarlier(_ left: Int, _ right: Int) -> Bool {
        (pending[left].time, pending[left].order) < (pending[right].time, pending[right].order)
    }

    private mutating func push(_ event: OperationScheduler.Event, at time: Duration) {
        pending.append((time, nextOrder, event))
        nextOrder += 1
    }

    private mutating func handle(_ event: OperationScheduler.Event, at time: Duration) {
        for command in scheduler.handle(event, at: time) {
            log.append(Entry(time: time, command: command))
            switch command {
            case .start(let id, _):
                running.insert(id)
                peak = max(peak, running.count)
                push(.ended(id, behaviour(id).outcome, mayRetry: true), at: time + behaviour(id).duration)
            case .stop(let id, _):
                push(.ended(id, .failure, mayRetry: true), at: time + behaviour(id).stopDuration)
            case .wake(let wake):
                push(.time, at: wake)
            default:
                break
            }
        }
    }
}
