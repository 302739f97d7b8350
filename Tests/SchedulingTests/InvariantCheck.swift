import FlowrunTestSupport

@testable import Scheduling

/// Reads the command log of a run like the log of a real one and holds it against the invariants of the event
/// log, round by round where groups are tried again.
struct InvariantCheck {
    /// What is known of a row in its present round.
    private struct Row {
        var attempts = 0
        var hasStarted = false
        var isInProgress = false
        var wasAsked = false
        var stop: OperationCause?
        /// Of a group, in its last round.
        var wasStopped = false
        var outcome: OperationOutcome?
        var cause = OperationCause.itself
        var startTime = Duration.zero
    }

    let run: VirtualRun
    let scenario: Scenario
    private let table: RowTable
    private var rows: [Row]
    private var members: [[Int]]
    private var needs: [[RowTable.Edge]]
    /// What the limit of each group counts.
    private var active: [Int]
    private let widest: Int
    /// Of a group's earlier round.
    private var dropped: Set<Int> = []
    /// Of expansions to come.
    private var unborn: Set<Int>
    private var nextExpansion = 0
    private var held: [LockID: [OperationID: Int]] = [:]
    private var running = 0
    private var isSuspended = false
    private var isAborted = false

    init(_ run: VirtualRun, _ scenario: Scenario) {
        self.run = run
        self.scenario = scenario
        table = run.scheduler.graph.table
        rows = Array(repeating: Row(), count: table.rows.count)
        members = Array(repeating: [], count: rows.count)
        for row in rows.indices.dropFirst() { members[table.rows[row].parent.row].append(row) }
        needs = Array(repeating: [], count: rows.count)
        for edge in run.edges { needs[edge.dependent.row].append(edge) }
        active = Array(repeating: 0, count: table.groups.count)
        widest = scenario.events.reduce(scenario.width) {
            if case .width(let width) = $1.1 { max($0, width) } else { $0 }
        }
        unborn = Set(scenario.graph.count..<table.rows.count)
    }

    mutating func firstBroken() -> String? {
        if let problem = run.problem { return problem }
        guard run.scheduler.isFinished else { return "it hangs" }
        for (position, entry) in run.log.enumerated() {
            for expansion in run.expansions[nextExpansion...].prefix(while: { $0.position <= position }) {
                unborn.subtract(expansion.rows)
                nextExpansion += 1
            }
            isAborted = run.abortPosition.map { position >= $0 } ?? false
            if let broken = note(entry.command, at: position, entry.time) {
                return "\(broken), at \(entry.time) by \(entry.command)"
            }
        }
        let isAlive = rows.indices.filter { !dropped.contains($0) }
        if let row = isAlive.first(where: { rows[$0].outcome == nil }) { return "I2: #\(row) never finished" }
        guard case .finished(.root, _, _) = run.log.last?.command else { return "I1: the root is not last" }
        return leftovers() ?? (run.removedCount == 0 ? DecisionJudge(run.scheduler).problem() : nil)
    }

    private func leftovers() -> String? {
        var scheduler = run.scheduler
        if scheduler.running != 0 { return "slots are left taken" }
        if !scheduler.locks.isAllFree { return "I7: locks are left taken" }
        if scheduler.deadlines.earliest() != nil || scheduler.groupDeadlines.earliest() != nil {
            return "K2: a timer is left"
        }
        return nil
    }

    private mutating func note(
        _ command: OperationScheduler.Command, at position: Int, _ time: Duration
    ) -> String? {
        switch command {
        case .start(let id, let attempt):
            if attempt != rows[id.row].attempts + 1 { return "I4: \(id) begins attempt \(attempt)" }
            if attempt > table.retries[id]?.attempts ?? 1 { return "L1: \(id) has no attempt \(attempt)" }
            if let broken = begin(id, time) { return broken }
            running += 1
            return running > widest ? "I6: \(running) run" : count(id, 1)
        case .groupStarted(let id, let round):
            if round != rows[id.row].attempts { return "I4: \(id) begins round \(round)" }
            if round >= table.retries[id]?.attempts ?? 1 { return "L1: \(id) has no round \(round)" }
            if round > 0 { reset(id, before: position) }
            rows[id.row].wasStopped = false
            return begin(id, time) ?? count(id, 1)
        case .groupResumed(let id):
            guard rows[id.row].attempts > 0, !rows[id.row].isInProgress else { return "\(id) resumes without a wait" }
            rows[id.row].isInProgress = true
            return lacks(id) ?? count(id, 1)
        case .stop(let id, let cause):
            if rows[id.row].stop != nil { return "\(id) is stopped twice" }
            if !rows[id.row].isInProgress { return "\(id) is stopped while not running" }
            rows[id.row].stop = cause
        case .groupStopping(let id, let cause):
            if rows[id.row].stop != nil, !isAborted { return "\(id) is stopped twice" }
            rows[id.row].stop = cause
            rows[id.row].wasStopped = true
        case .retrying(let id, let ended, _):
            if let hook = table.hooks[id]?.onFailure, rows[hook.row].hasStarted {
                return "\(id) is retried after its hook for failures"
            }
            if isGroup(id), let member = unfinished(in: id, isForGood: false) {
                return "I5: \(id) is retried before the end of \(member)"
            }
            if ended != rows[id.row].attempts - (isGroup(id) ? 1 : 0) { return "I4: \(id) ends attempt \(ended)" }
            rows[id.row].stop = nil
            return end(id, time)
        case .finished(let id, let outcome, let cause):
            rows[id.row].cause = cause
            return finish(id, outcome, time)
        case .decide(let id):
            if isSuspended { return "G4: asked while suspended" }
            if rows[id.row].wasAsked { return "G3: asked twice" }
            rows[id.row].wasAsked = true
            return unmetNeed(of: id).map { "G3: asked before the end of \($0)" }
        case .expand:
            if isSuspended { return "J2: expanded while suspended" }
        case .suspended:
            if isSuspended { return "J6: suspended twice" }
            isSuspended = true
        case .resumed:
            if !isSuspended { return "J6: resumed twice" }
            isSuspended = false
        case .acquired(let lock, let id):
            return acquire(lock, id)
        case .released(let lock, let id):
            if held[lock]?.removeValue(forKey: id) == nil { return "I7: released without having been taken" }
        case .stalled(let waits):
            return "it stalls: \(waits)"
        case .wake, .weigh, .conclude, .withdraw, .waiting, .ready, .startErrand:
            break
        }
        return nil
    }

    // MARK: Starts

    private mutating func begin(_ id: OperationID, _ time: Duration) -> String? {
        let row = rows[id.row]
        if dropped.contains(id.row) { return "\(id) was dropped" }
        if row.outcome != nil { return "I2: \(id) starts after its end" }
        if row.isInProgress { return "I2: \(id) starts twice" }
        if isSuspended, id != .root { return "I8: \(id) starts while suspended" }
        if isAborted { return "I8: \(id) starts after an abort" }
        if let need = unmetNeed(of: id) { return "I3: \(id) starts before the end of \(need)" }
        if let need = wrongNeed(of: id) { return "I3: \(id) starts in spite of \(need)" }
        if flags(id).contains(.isConditional), !row.wasAsked { return "G1: \(id) starts without having been asked" }
        if id != .root, !rows[parent(id).row].isInProgress { return "\(id) starts while its group does not run" }
        if let ancestor = stoppedAncestor(of: id) { return "I8: \(id) starts after the stop of \(ancestor)" }
        if let broken = lacks(id) { return broken }
        rows[id.row].attempts += 1
        rows[id.row].hasStarted = true
        rows[id.row].isInProgress = true
        rows[id.row].startTime = time
        return nil
    }

    // MARK: Locks

    /// Units of a pool add up; who have a mutex are inside each other.
    private mutating func acquire(_ lock: LockID, _ id: OperationID) -> String? {
        held[lock, default: [:]][id] = table.locks[id]?.first { $0.lock == lock }?.units ?? 1
        let graph = run.scheduler.graph
        guard graph.isMutex(lock) else {
            let taken = held[lock, default: [:]].values.reduce(0, +)
            return taken > graph.capacity(of: lock) ? "I7: \(lock) is over its capacity" : nil
        }
        let rival = held[lock, default: [:]].keys.first { $0 != id && !isInside($0.row, id) && !isInside(id.row, $0) }
        return rival.map { "I7: \(id) takes \(lock), which \($0) has" }
    }

    /// What a row that starts has to have, and a group that names mutexes has to have behind it.
    private func lacks(_ id: OperationID) -> String? {
        for request in table.locks[id] ?? [] where held[request.lock]?[id] != request.units {
            if !isCovered(request.lock, for: id) { return "I7: \(id) starts without \(request.lock)" }
        }
        guard isGroup(id), table.locks[id] != nil else { return nil }
        for (member, requests) in table.locks where isInside(member.row, id) && !dropped.contains(member.row) {
            for request in requests where run.scheduler.graph.isMutex(request.lock) && held[request.lock]?[id] == nil {
                if !isCovered(request.lock, for: id) {
                    return "I7: \(id) starts without \(request.lock), which its member \(member) names"
                }
            }
        }
        for edge in run.edges where rows[edge.prerequisite.row].outcome == nil {
            if isInside(edge.dependent.row, id), !isInside(edge.prerequisite.row, id),
                !dropped.contains(edge.dependent.row)
            {
                return "I7: \(id) starts before \(edge.prerequisite), which its member \(edge.dependent) needs"
            }
        }
        return nil
    }

    /// Whether a group around the row names the lock itself.
    private func isCovered(_ lock: LockID, for id: OperationID) -> Bool {
        var next = id
        while next != .root {
            next = parent(next)
            if table.locks[next]?.contains(where: { $0.lock == lock }) == true { return true }
        }
        return false
    }

    private func unmetNeed(of id: OperationID) -> OperationID? {
        needs[id.row].first { rows[$0.prerequisite.row].outcome == nil }?.prerequisite
            ?? membersBefore(id).first { rows[$0].outcome == nil }.map { OperationID($0) }
    }

    /// For a row in a sequence.
    private func membersBefore(_ id: OperationID) -> [Int] {
        guard flags(parent(id)).contains(.isSequence), !flags(id).contains(.isHook) else { return [] }
        return members[parent(id).row].filter { $0 < id.row }
    }

    private func wrongNeed(of id: OperationID) -> OperationID? {
        let isLeftToCondition = flags(id).contains(.waitsForAll)
        return needs[id.row].first { edge in
            guard edge.reason == .dependency, let outcome = rows[edge.prerequisite.row].outcome else { return false }
            guard edge.kind != .ok || !isLeftToCondition else { return false }
            let isTolerated = flags(edge.prerequisite).contains(.toleratesFailure)
            let end = DecisionJudge.end(outcome, isTolerated: isTolerated)
            return DecisionTable.needs[end, DecisionJudge.word(edge.kind)] != "met"
        }?.prerequisite
    }

    /// A stop reaches everything inside but hooks and what is in them.
    private func stoppedAncestor(of id: OperationID) -> OperationID? {
        var next = id
        while next != .root, !flags(next).contains(.isHook) {
            next = parent(next)
            if rows[next.row].stop != nil { return next }
        }
        return nil
    }

    /// Counts a start or an end in all limits around it; tells of a limit that is exceeded.
    private mutating func count(_ id: OperationID, _ change: Int) -> String? {
        var next = id
        while next != .root {
            let isMember = next == id && !flags(id).contains(.isHook)
            next = parent(next)
            let index = Int(table.rows[next.row].group)
            switch table.groups[index].limit {
            case .operations(let limit) where !isGroup(id):
                active[index] += change
                if active[index] > limit { return "I6: \(active[index]) run in \(next)" }
            case .members(let limit) where isMember:
                active[index] += change
                if active[index] > limit { return "I6: \(active[index]) members of \(next) are in progress" }
            case .unlimited, .operations, .members:
                break
            }
        }
        return nil
    }

    // MARK: Ends

    private mutating func end(_ id: OperationID, _ time: Duration) -> String? {
        if rows[id.row].isInProgress, !isGroup(id) {
            running -= 1
            let isExact = !scenario.events.contains {
                switch $0.1 {
                case .lingering: true
                default: false
                }
            }
            if isExact, let timeout = table.timeouts[id], time - rows[id.row].startTime > timeout + .seconds(3) {
                return "K1: \(id) ran on after its timeout"
            }
        }
        if rows[id.row].isInProgress { _ = count(id, -1) }
        rows[id.row].isInProgress = false
        for lock in held.keys where held[lock]?[id] != nil { return "H7: \(id) ended and holds \(lock)" }
        return nil
    }

    private mutating func finish(_ id: OperationID, _ outcome: OperationOutcome, _ time: Duration) -> String? {
        if rows[id.row].outcome != nil { return "I2: \(id) finishes twice" }
        if outcome == .success || outcome == .timeout, !rows[id.row].hasStarted, !flags(id).contains(.isExternal) {
            return "\(id) ends with \(outcome) without a start"
        }
        if isGroup(id) {
            if let member = unfinished(in: id) { return "I5: \(id) ends before its member \(member)" }
            if let broken = wrongOutcome(of: id, outcome) { return broken }
        }
        let broken = end(id, time)
        rows[id.row].outcome = outcome
        return broken
    }

    /// D17, and what hooks are there for.
    private func wrongOutcome(of id: OperationID, _ outcome: OperationOutcome) -> String? {
        guard rows[id.row].isInProgress else {
            guard rows[id.row].attempts > 0 else { return nil }
            // Between two rounds, the last one decides.
            return outcome == .failure || outcome == .timeout ? nil : "\(id) ends as \(outcome) between two rounds"
        }
        let members = members[id.row].filter { !dropped.contains($0) && !unborn.contains($0) }
        let counted = members.filter { !table.rows[$0].flags.contains(.toleratesFailure) }
        let hasFailed = counted.contains { rows[$0].outcome == .failure }
        if hasFailed, outcome != .failure { return "D17: \(id) ends with \(outcome) in spite of a failure" }
        let isHarmed =
            counted.contains { rows[$0].outcome == .timeout } || members.contains { rows[$0].outcome == .cancelled }
        if isHarmed, outcome == .success { return "D17: \(id) succeeds in spite of its members" }
        let ruledOut = members.filter { rows[$0].outcome == .notRun }
        if outcome == .success, ruledOut.contains(where: { isRuledOut($0, besides: id) == true }) {
            return "D17: \(id) succeeds though something outside, or a cancel, ruled a member out"
        }
        let hasNoCopies = !members.contains { !flags(OperationID($0)).contains(.isHook) }
        let isEmptyFanOut = hasNoCopies && flags(id).contains(.judgesMembers)
        if outcome == .notRun, !isEmptyFanOut, !ruledOut.contains(where: { isRuledOut($0, besides: id) != false }) {
            return "D17: \(id) is not run, and nothing outside and no cancel ruled a member out"
        }
        let hasFailedBody = counted.contains {
            !table.rows[$0].flags.contains(.isHook) && [.failure, .timeout].contains(rows[$0].outcome)
        }
        let hooks = [table.hooks[id]?.finally, hasFailedBody ? table.hooks[id]?.onFailure : nil]
        guard let hook = hooks.compactMap({ $0 }).first(where: { !rows[$0.row].hasStarted }) else { return nil }
        let wasCancelled = scenario.events.contains {
            switch $0.1 {
            case .abort: true
            case .cancel(let target): target == hook
            default: false
            }
        }
        let own = [table.hooks[id]?.onFailure, table.hooks[id]?.finally].compactMap(\.self)
        let hasBegun = rows.indices.contains { row in
            isInside(row, id) && !dropped.contains(row) && !isGroup(row) && rows[row].hasStarted
                && !own.contains { isInside(row, $0) }
        }
        if !hasBegun, rows[id.row].wasStopped, !hasFailed, outcome != .failure,
            let hook = table.hooks[id]?.finally, rows[hook.row].hasStarted
        {
            return "\(id) has run its hook \(hook) though nothing had begun"
        }
        // Drained before anything in a later round has begun, it ends as the round before did.
        let isHeld = rows[id.row].attempts > 1 && !hasFailedBody && (outcome == .failure || outcome == .timeout)
        let hasNothingToDo = !hasBegun && (rows[id.row].wasStopped || stoppedAncestor(of: id) != nil || isHeld)
        return wasCancelled || hasNothingToDo ? nil : "\(id) ends without its hook \(hook)"
    }

    /// Nil where a cause on the way has been put back for another round.
    private func isRuledOut(_ row: Int, besides group: OperationID) -> Bool? {
        var next = OperationID(row)
        while rows[next.row].outcome == .notRun, let cause = rows[next.row].cause.row { next = cause }
        guard let outcome = rows[next.row].outcome else { return nil }
        let isExternal = flags(next).contains(.isExternal)
        if outcome == .cancelled, isExternal || rows[next.row].cause == .request { return true }
        if isExternal, outcome == .notRun { return true }
        return !isInside(next.row, group)
    }

    /// The hook for failures waits for the last round.
    private func unfinished(in id: OperationID, isForGood: Bool = true) -> OperationID? {
        // Of what is further down, the groups in between have told.
        members[id.row].first {
            rows[$0].outcome == nil && !dropped.contains($0) && !unborn.contains($0)
                && (isForGood || table.hooks[id]?.onFailure?.row != $0)
        }.map { OperationID($0) }
    }

    /// Everything inside is as it was before the first round, but for what the expansions of earlier ones brought.
    private mutating func reset(_ id: OperationID, before position: Int) {
        for expansion in run.expansions
        where expansion.position <= position && (expansion.group == id || isInside(expansion.group.row, id)) {
            dropped.formUnion(expansion.rows)
        }
        for row in rows.indices where row != id.row && isInside(row, id) && !dropped.contains(row) {
            // What runs elsewhere ends once.
            if flags(OperationID(row)).contains(.isExternal) { continue }
            rows[row] = Row()
        }
    }

    // MARK: Rows

    private func isGroup(_ id: OperationID) -> Bool { isGroup(id.row) }
    private func isGroup(_ row: Int) -> Bool { table.rows[row].isGroup }
    private func flags(_ id: OperationID) -> RowTable.Flags { table.rows[id.row].flags }
    private func parent(_ id: OperationID) -> OperationID { table.rows[id.row].parent }

    private func isInside(_ row: Int, _ group: OperationID) -> Bool {
        var next = OperationID(row)
        while next != .root {
            next = parent(next)
            if next == group { return true }
        }
        return false
    }
}
