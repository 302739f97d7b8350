import FlowrunTestSupport

@testable import Scheduling

/// Checks the end of every row of a finished run against the tables of the article `Conditions`.
struct DecisionJudge {
    private var scheduler: OperationScheduler
    private let rows: [OperationID]
    /// The body of each group.
    private let members: [OperationID: [OperationID]]
    private static let endsOfStops = Set(
        DecisionTable.stops.rows.flatMap { row in
            DecisionTable.stops.columns.map { DecisionTable.stops[row, $0] }
        })

    init(_ scheduler: OperationScheduler) {
        self.scheduler = scheduler
        // Members of earlier rounds that were dropped no longer count.
        var rows: [OperationID] = []
        var members: [OperationID: [OperationID]] = [:]
        var groups = [OperationID.root]
        while let group = groups.popLast() {
            self.scheduler.forEachMember(of: group) { scheduler, member in
                rows.append(member)
                if !scheduler.has(member, .isHook) { members[group, default: []].append(member) }
                if scheduler.isGroup(member) { groups.append(member) }
            }
        }
        self.rows = rows
        self.members = members
    }

    /// The first row that has not ended as the tables say.
    func problem() -> String? {
        for id in rows where !has(id, .isExternal) {
            if let problem = problem(of: id) { return "\(id) ends as \(state(of: id).outcome): \(problem)" }
        }
        return nil
    }

    private func problem(of id: OperationID) -> String? {
        let (outcome, cause) = (state(of: id).outcome, state(of: id).cause)
        switch cause {
        case .stall: return nil
        case .request, .failFast: return endsAsStopped(id)
        case .deadline(let limited), .retryDeadline(let limited):
            return limited == id ? hasRun(id) : endsAsStopped(id)
        case .itself, .member:
            return isGroup(id) && outcome == .failure && cause == .itself ? nil : hasRun(id)
        case .condition where has(id, .isHook): return nil
        case .condition where outcome == .failure:
            return expect("runs", of: id, whereTrue(id))
        // Its own needs may include the row that has ruled the group out.
        case .dependency where isShared(id): return nil
        case .dependency(let need) where dependsItself(id, on: need):
            return expect(Self.word(outcome), of: id, whereFalse(id))
        case .condition, .dependency:
            return isShared(id) ? nil : judgedOrSkipped(id)
        }
    }

    /// A false condition of its own, alone or together with those of its siblings.
    private func judgedOrSkipped(_ id: OperationID) -> String? {
        let (group, outcome) = (scheduler.parent(of: id), state(of: id).outcome)
        guard has(group, .judgesMembers) else { return expect(Self.word(outcome), of: id, whereFalse(id)) }
        let falseCopy = "a copy where it is false"
        if outcome == .skipped, Self.word(outcome) == DecisionTable.copies["true for some", falseCopy],
            members(of: group).contains(where: { hasRun($0) == nil && state(of: $0).cause != .request })
        {
            return nil
        }
        guard DecisionTable.copies["false for all", falseCopy] == "as above" else { return "it is no such copy" }
        return expect(Self.word(outcome), of: group, whereFalse(group))
    }

    /// True if it ended as, and because, an enclosing group did.
    private func isShared(_ id: OperationID) -> Bool {
        var next = id
        while next != .root {
            next = scheduler.parent(of: next)
            let around = state(of: next)
            guard around.phase == .finished, around.cause == state(of: id).cause else { continue }
            // The members of a group that fails by its own condition are not run.
            return around.outcome == state(of: id).outcome || around.outcome == .failure
        }
        return false
    }

    private func hasRun(_ id: OperationID) -> String? {
        // The members decide about a group.
        isGroup(id) && ![.success, .failure, .timeout].contains(state(of: id).outcome)
            ? nil : expect("runs", of: id, whereTrue(id))
    }

    private func endsAsStopped(_ id: OperationID) -> String? {
        Self.endsOfStops.contains(Self.word(state(of: id).outcome)) ? nil : "no stop makes that of it"
    }

    private func expect(_ word: String, of id: OperationID, _ column: String) -> String? {
        guard let row = rowByNeeds(of: id) else { return nil }
        let says = DecisionTable.conditions[row, column]
        return says == word ? nil : "by its needs, \(row), and with \(column), it is \(says)"
    }

    /// The row of the table for all needs together; nil if one of them may have ended in another way when it was looked
    /// at, because it has been tried again since.
    private func rowByNeeds(of id: OperationID) -> String? {
        var found: [(kind: String, verdict: String)] = []
        for need in scheduler.needs.all(of: id) where need.reason == .dependency {
            if mayHaveChanged(need.other, since: id) { return nil }
            let kind = Self.word(need.kind)
            found.append((kind, DecisionTable.needs[end(of: need.other), kind]))
        }
        for member in membersBefore(id) {
            found.append(("plain", DecisionTable.needs[end(of: member), "plain"]))
        }
        return DecisionTable.strictest(found)
    }

    private func membersBefore(_ id: OperationID) -> [OperationID] {
        let group = scheduler.parent(of: id)
        guard has(group, .isSequence), !has(id, .isHook) else { return [] }
        return members(of: group).filter { $0 < id && !dependsByEdge(id, on: $0) }
    }

    private func mayHaveChanged(_ need: OperationID, since id: OperationID) -> Bool {
        var next = need
        while next != .root {
            next = scheduler.parent(of: next)
            if has(next, .hasRetry), !scheduler.graph.isInside(id, next) { return true }
        }
        return false
    }

    private func members(of group: OperationID) -> [OperationID] { members[group] ?? [] }

    private func dependsItself(_ id: OperationID, on need: OperationID) -> Bool {
        dependsByEdge(id, on: need) || membersBefore(id).contains(need)
    }

    private func dependsByEdge(_ id: OperationID, on need: OperationID) -> Bool {
        scheduler.needs.leads(from: id, to: need, .dependency)
    }

    private func whereTrue(_ id: OperationID) -> String {
        has(id, .waitsForAll)
            ? "with a status function, true" : has(id, .isConditional) ? "if true" : "no if"
    }

    private func whereFalse(_ id: OperationID) -> String {
        has(id, .waitsForAll) ? "with a status function, false" : "if false"
    }

    private func end(of id: OperationID) -> String {
        Self.end(state(of: id).outcome, isTolerated: has(id, .toleratesFailure))
    }

    /// The words of the table for an end.
    static func end(_ outcome: OperationOutcome, isTolerated: Bool) -> String {
        switch outcome {
        case .failure, .timeout: (isTolerated ? "tolerated " : "") + word(outcome)
        // The cause does not matter.
        case .notRun: "not-run after a failure"
        case .success, .skipped, .cancelled: word(outcome)
        }
    }

    private static func word(_ outcome: OperationOutcome) -> String { outcome == .notRun ? "not-run" : "\(outcome)" }
    static func word(_ kind: DependencyKind) -> String { kind == .ok ? "plain" : "\(kind)" }

    private func state(of id: OperationID) -> OperationScheduler.State { scheduler.states[id.row] }
    private func has(_ id: OperationID, _ flag: RowTable.Flags) -> Bool { scheduler.has(id, flag) }
    private func isGroup(_ id: OperationID) -> Bool { scheduler.isGroup(id) }
}
