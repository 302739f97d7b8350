internal import RunEvents
internal import WorkflowPlanning

/// Which steps of a resumed run take over what the run before has left, and why the others run again.
///
/// A step is taken over if it succeeded, its definition is still the same, and nothing that it needs has run since. Its
/// outputs need no look of their own: what reads them has them in its definition.
struct Resumption {
    let past: PastResults
    /// The names of steps and groups that are to run again, with all that is behind them.
    private let again: [String]
    /// Of rows that have been decided about, and of groups around them, the run in which something in them ran last, as
    /// in `PastResults.Step`; hooks do not count.
    private var lastRun: [PlanIndex: Int] = [:]
    /// The same of a row that has ended and of everything before it.
    private var lastRunBefore: [PlanIndex: Int] = [:]
    /// The number of the run that resumes.
    private static let thisRun = Int.max

    enum Decision {
        /// nil if nothing is known of it: it runs for the first time.
        case run(RerunReason?)
        case restore(PastResults.Step)
    }

    init(_ past: PastResults, again: [String]) {
        self.past = past
        self.again = again
    }

    /// Decides about a step that starts, and notes it. `definition` as in `PastResults.Step`.
    mutating func decide(_ row: PlanIndex, definition: String?, round: Int?, in plan: Plan) -> Decision {
        guard !plan.isInHook(row) else { return .run(nil) }
        let known = past.steps[plan.nodes[row].id]
        guard let reason = reason(for: row, known, definition, round, in: plan) else {
            guard let known else { return .run(nil) }
            note(row, in: plan, ran: known.ran)
            return .restore(known)
        }
        noteRun(row, in: plan)
        return .run(known == nil || round ?? 0 > 0 ? nil : reason)
    }

    /// Notes that a step runs.
    mutating func noteRun(_ row: PlanIndex, in plan: Plan) { note(row, in: plan, ran: Self.thisRun) }

    private mutating func note(_ row: PlanIndex, in plan: Plan, ran: Int) {
        var next = row
        while next != .root, lastRun[next] ?? -1 < ran {
            lastRun[next] = ran
            // In a later round of a group it has ended once already.
            lastRunBefore[next] = nil
            next = plan.parent(of: next)
        }
    }

    /// nil if it can be taken over.
    private mutating func reason(
        for row: PlanIndex, _ known: PastResults.Step?, _ definition: String?, _ round: Int?, in plan: Plan
    ) -> RerunReason? {
        guard let known, let outcome = known.outcome, round ?? 0 == 0 else { return .unfinished }
        guard outcome == .success else { return .outcome }
        if plan.isMeant(row, by: again) { return .asked }
        if lastRun(ofNeedsOf: row, in: plan) > known.checked { return .upstream }
        guard let definition, let before = known.definition else { return .result }
        return definition == before ? nil : .definition
    }

    /// When something last ran that the step or a group around it needs, through all that has no process of its own.
    private mutating func lastRun(ofNeedsOf row: PlanIndex, in plan: Plan) -> Int {
        var needs: [PlanIndex] = []
        var next = row
        while next != .root {
            needs += plan.edges(of: next).map(\.target)
            next = plan.parent(of: next)
        }
        lookBehind(needs, in: plan)
        return needs.reduce(0) { max($0, lastRunBefore[$1] ?? 0) }
    }

    /// Fills `lastRunBefore` for rows that have ended. Each row is looked at once, however many ask.
    private mutating func lookBehind(_ rows: [PlanIndex], in plan: Plan) {
        var open = rows
        while let row = open.last {
            let needs = lastRunBefore[row] == nil ? plan.edges(of: row).map(\.target) : []
            let unknown = needs.filter { lastRunBefore[$0] == nil }
            guard unknown.isEmpty else {
                open += unknown
                continue
            }
            open.removeLast()
            if lastRunBefore[row] == nil {
                lastRunBefore[row] = needs.reduce(lastRun[row] ?? 0) { max($0, lastRunBefore[$1] ?? 0) }
            }
        }
    }
}
