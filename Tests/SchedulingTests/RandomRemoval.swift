@testable import Scheduling

/// Removes ended rows from a scheduler at random moments, and speaks with it for somebody who knows nothing of that and
/// goes by the ids that rows had at first.
struct RandomRemoval {
    private(set) var removedCount = 0
    private var random: SplitMix
    /// By present row.
    private var original: [OperationID]
    private var present: [OperationID: OperationID]

    init(from scheduler: OperationScheduler, using random: SplitMix) {
        self.random = random
        original = (0..<scheduler.count).map { OperationID(row: $0) }
        present = Dictionary(uniqueKeysWithValues: original.map { ($0, $0) })
    }

    /// All rows that there ever were.
    var count: Int { original.count + removedCount }

    mutating func handle(
        _ event: OperationScheduler.Event, at time: Duration, by scheduler: inout OperationScheduler
    ) -> [OperationScheduler.Command] {
        guard let event = translated(event) else { return [] }
        let commands = scheduler.handle(event, at: time)
        note(scheduler.count)
        let translated = commands.map(translated)
        if random.chance(3) { remove(from: &scheduler) }
        return translated
    }

    mutating func add(
        _ options: OperationGraph.Options, to group: OperationID, needs: [OperationID],
        by scheduler: inout OperationScheduler
    ) -> [OperationScheduler.Command] {
        var commands: [OperationScheduler.Command] = []
        let needs = needs.map { (present[$0]!, DependencyKind.ok) }
        _ = scheduler.add(options, to: present[group]!, needs: needs, at: .zero, into: &commands)
        note(scheduler.count)
        return commands.map(translated)
    }

    func isThere(_ id: OperationID) -> Bool { present[id] != nil }

    /// Rows that joined have the next ids.
    private mutating func note(_ rows: Int) {
        for row in original.count..<rows {
            let id = OperationID(row: count)
            original.append(id)
            present[id] = OperationID(row: row)
        }
    }

    mutating func remove(from scheduler: inout OperationScheduler) {
        let renumbering = scheduler.removeEnded()
        var left: [OperationID] = []
        for (row, id) in original.enumerated() {
            present[id] = renumbering[OperationID(row: row)]
            if present[id] == nil { removedCount += 1 } else { left.append(id) }
        }
        original = left
    }

    /// Nil where it is about a row that was removed, which nothing concerns any more.
    private func translated(_ event: OperationScheduler.Event) -> OperationScheduler.Event? {
        switch event {
        case .begin, .time, .abort, .width, .withheld, .suspend, .resume, .errand, .errandGoesOn, .errandEnded: event
        case .ended(let id, let outcome, let mayRetry): present[id].map { .ended($0, outcome, mayRetry: mayRetry) }
        case .delayed(let id): present[id].map { .delayed($0) }
        case .launched(let id): present[id].map { .launched($0) }
        case .takenBack(let id): present[id].map { .takenBack($0) }
        case .lingering(let id): present[id].map { .lingering($0) }
        case .cancel(let id): present[id].map { .cancel($0) }
        case .lastAttempt(let id): present[id].map { .lastAttempt($0) }
        case .decided(let id, let decision): present[id].map { .decided($0, decision) }
        case .close(let id): present[id].map { .close($0) }
        case .expanded(let id, let graph): present[id].map { .expanded($0, translated(graph)) }
        case .added(let id, let graph): present[id].map { .added($0, translated(graph)) }
        case .link(let dependent, let prerequisite, let kind, let reason):
            present[dependent].flatMap { dependent in
                present[prerequisite].map { .link(dependent: dependent, on: $0, kind, reason) }
            }
        case .unlink(let dependent, let prerequisite, let reason):
            present[dependent].flatMap { dependent in
                present[prerequisite].map { .unlink(dependent: dependent, prerequisite: $0, reason) }
            }
        }
    }

    private func translated(_ command: OperationScheduler.Command) -> OperationScheduler.Command {
        switch command {
        case .wake, .suspended, .resumed, .startErrand: command
        case .start(let id, let attempt): .start(original[id.row], attempt: attempt)
        case .stop(let id, let cause): .stop(original[id.row], translated(cause))
        case .groupStarted(let id, let round): .groupStarted(original[id.row], round: round)
        case .groupStopping(let id, let cause): .groupStopping(original[id.row], translated(cause))
        case .decide(let id): .decide(original[id.row])
        case .expand(let id): .expand(original[id.row])
        case .groupResumed(let id): .groupResumed(original[id.row])
        case .weigh(let id, let outcome): .weigh(original[id.row], outcome)
        case .conclude(let id, let outcome): .conclude(original[id.row], outcome)
        case .withdraw(let id): .withdraw(original[id.row])
        case .retrying(let id, let ended, let delay): .retrying(original[id.row], ended: ended, delay: delay)
        case .finished(let id, let outcome, let cause): .finished(original[id.row], outcome, translated(cause))
        case .stalled: .stalled([])
        case .acquired(let lock, let id): .acquired(lock, by: original[id.row])
        case .released(let lock, let id): .released(lock, by: original[id.row])
        case .waiting(let id, let lock): .waiting(original[id.row], on: lock)
        case .ready(let id): .ready(original[id.row])
        }
    }

    private func translated(_ cause: OperationCause) -> OperationCause {
        switch cause {
        case .itself, .request, .stall, .condition: cause
        case .dependency(let id): .dependency(original[id.row])
        case .member(let id): .member(original[id.row])
        case .failFast(let id): .failFast(original[id.row])
        case .deadline(let id): .deadline(original[id.row])
        case .retryDeadline(let id): .retryDeadline(original[id.row])
        }
    }

    /// Rows that join have the ids that follow, and need rows that are still there.
    private func translated(_ graph: OperationGraph) -> OperationGraph {
        let (old, new) = (graph.table, OperationGraph(joiningAt: original.count))
        var table = new.table
        func translated(_ id: OperationID) -> OperationID {
            id.row < old.firstRow ? present[id]! : OperationID(row: id.row - old.firstRow + original.count)
        }
        for var row in old.rows {
            if row.parent.row >= old.firstRow { row.parent = translated(row.parent) }
            row.subtreeEnd = UInt32(Int(row.subtreeEnd) - old.firstRow + original.count)
            table.rows.append(row)
        }
        for var group in old.groups {
            group.id = translated(group.id)
            table.groups.append(group)
        }
        table.edges = old.edges.map {
            RowTable.Edge(
                dependent: translated($0.dependent), prerequisite: translated($0.prerequisite), kind: $0.kind,
                reason: $0.reason)
        }
        func translated<Value>(_ values: [OperationID: Value]) -> [OperationID: Value] {
            Dictionary(uniqueKeysWithValues: values.map { (translated($0), $1) })
        }
        table.timeouts = translated(old.timeouts)
        table.retries = translated(old.retries)
        table.locks = translated(old.locks)
        table.hooks = translated(old.hooks).mapValues {
            RowTable.Hooks(onFailure: $0.onFailure.map(translated), finally: $0.finally.map(translated))
        }
        var result = new
        result.table = table
        return result
    }
}
