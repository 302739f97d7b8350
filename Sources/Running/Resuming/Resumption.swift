package import Planning
package import RunLog

/// Decides which steps of a resumed run are restored from earlier results, and why the others run again.
///
/// A step is restored if it succeeded, its definition, which includes its needs, is the same, nothing has undone it,
/// and everything that it needs is unchanged since the step was last checked. To compare needs, each row that has
/// ended has a set: the runs in which it, and everything upstream of it, was the same as now.
///
/// This is a value that is given decisions and ends and asks for nothing, so a run and a dry run get the same
/// answers.
package struct Resumption {
    package let past: PastResults
    /// The names of steps and groups that are to run again, with everything that depends on them.
    private let again: [String]
    /// As in `TreeCopies`.
    private let copies: [PlanIndex: TreeCopies.Start]
    private let undone: IDMarks
    /// By step that is decided and has not ended.
    private var courses: [PlanIndex: Course] = [:]
    /// By row that has ended: the runs in which it and everything upstream of it were the same as now.
    private var same: [PlanIndex: RunSet] = [:]
    /// By group that has not ended: the same for its members that have.
    private var sameInside: [PlanIndex: RunSet] = [:]
    /// By group that has started: the same for all needs of it and of the enclosing groups.
    private var sameAround: [PlanIndex: RunSet] = [:]

    package enum Decision {
        /// nil for a step that runs for the first time.
        case run(RerunReason?)
        case restore(PastResults.Step)
    }

    private enum Course {
        case taken(PastResults.Step)
        case runs
        /// It runs because a failure was tolerated; if it ends the same way again, nothing has changed for its
        /// dependents.
        case runsAlike(PastResults.Step)
    }

    package init(_ past: PastResults, again: [String], copies: [PlanIndex: TreeCopies.Start], in plan: Plan) {
        self.past = past
        self.again = again
        self.copies = copies
        undone = past.undoneIDs(in: plan.workflow)
    }

    /// Decides about a step that starts, and records the decision. Everything that it waits for has ended.
    /// `definition` is as in `PastResults.Step`.
    package mutating func decide(_ row: PlanIndex, definition: String?, round: Int?, in plan: Plan) -> Decision {
        guard !plan.isInHook(row) else { return .run(nil) }
        guard let known = past.steps[plan.nodes[row].id], known.ran != nil, round ?? 0 == 0 else {
            courses[row] = .runs
            return .run(nil)
        }
        guard let reason = reason(for: row, known, definition, in: plan) else {
            courses[row] = .taken(known)
            return .restore(known)
        }
        let isAlike =
            reason == .outcome && known.isTolerated && known.definition != nil && known.definition == definition
        courses[row] = isAlike ? .runsAlike(known) : .runs
        return .run(reason)
    }

    /// Records that a step runs although its result was to be restored.
    package mutating func runsAfterAll(_ row: PlanIndex) { courses[row] = .runs }

    /// Records the outcome of a step or group, after everything inside it.
    package mutating func noteEnd(of row: PlanIndex, _ outcome: StepOutcome, in plan: Plan) {
        guard row != .root, !plan.isInHook(row) else { return }
        var runs = plan.isStep(row) ? ownRuns(of: row, outcome, in: plan) : sameInside.removeValue(forKey: row) ?? all
        sameAround[row] = nil
        meet(&runs, needsOf: row, in: plan)
        same[row] = runs
        let parent = plan.parent(of: row)
        runs.formIntersection(sameInside[parent] ?? all)
        sameInside[parent] = runs
    }

    private var all: RunSet { RunSet(from: 0, count: past.runCount) }

    private mutating func ownRuns(of row: PlanIndex, _ outcome: StepOutcome, in plan: Plan) -> RunSet {
        switch courses.removeValue(forKey: row) {
        case .taken(let known): return known.runs(of: past.runCount)
        case .runsAlike(let known): return known.outcome == outcome ? known.runs(of: past.runCount) : .none
        case .runs: return .none
        case nil:
            guard !outcome.isFailure else { return .none }
            let absences = past.steps[plan.nodes[row].id]?.absences ?? []
            return RunSet(absences.lazy.filter { $0.outcome == outcome }.map(\.run), count: past.runCount)
        }
    }

    /// Returns the reason why a step runs again; nil if it can be restored.
    private mutating func reason(
        for row: PlanIndex, _ known: PastResults.Step, _ definition: String?, in plan: Plan
    ) -> RerunReason? {
        guard let outcome = known.outcome else { return .unfinished }
        if plan.isMeant(row, by: again) { return .asked }
        if isUndone(known, plan.nodes[row].id) { return .undone }
        guard outcome == .success else { return .outcome }
        if !runs(around: row, in: plan)[known.checked] { return .upstream }
        guard let definition, let before = known.definition else { return .result }
        guard definition == before else { return .definition }
        guard !copies.isEmpty, plan.rowAndAround(row).contains(where: { copies[$0] == .new }) else { return nil }
        return .tree
    }

    /// Returns true if a hook has undone a step, and false for one that runs again in any case.
    private func isUndone(_ known: PastResults.Step, _ id: String) -> Bool {
        guard known.outcome == .success || known.isTolerated, let mark = undone.last(of: id) else { return false }
        return mark.moment > known.moment
    }

    /// Returns the runs in which all needs of a row and of the enclosing groups were the same. Computed once a group.
    private mutating func runs(around row: PlanIndex, in plan: Plan) -> RunSet {
        var unknown = [row]
        while let next = unknown.last.map(plan.parent), next != .root, sameAround[next] == nil { unknown.append(next) }
        var runs = unknown.last.map(plan.parent).flatMap { sameAround[$0] } ?? all
        while let next = unknown.popLast() {
            meet(&runs, needsOf: next, in: plan)
            if next != row { sameAround[next] = runs }
        }
        return runs
    }

    private func meet(_ runs: inout RunSet, needsOf row: PlanIndex, in plan: Plan) {
        for edge in plan.edges(of: row) { runs.formIntersection(same[edge.target] ?? .none) }
    }
}

extension Resumption {
    /// Hooks that make the same steps run again.
    package struct UndoingHooks {
        /// The last one first.
        package let hooks: [String]
        /// In the order of the plan; then those that only the run can find to exist.
        package fileprivate(set) var steps: [String]
    }

    /// Returns the hooks that make steps run again, as far as known before anything starts, without the dependents of
    /// those steps. O(rows) if a hook has started.
    package func undoingHooks(in plan: Plan) -> [UndoingHooks] {
        guard !undone.isEmpty else { return [] }
        var hooks: [UndoingHooks] = []
        var places: [[String]: Int] = [:]
        func note(_ id: String) {
            guard let known = past.steps[id], isUndone(known, id) else { return }
            let undoing = undone.hooks(of: id, after: known.moment)
            guard let place = places[undoing] else {
                places[undoing] = hooks.count
                return hooks.append(UndoingHooks(hooks: undoing, steps: [id]))
            }
            hooks[place].steps.append(id)
        }
        for row in plan.rows where plan.isStep(row) && !plan.isMeant(row, by: again) && !plan.isInHook(row) {
            note(plan.nodes[row].id)
        }
        let late = plan.fanOutsOfRun.map { "\(plan.nodes[$0].id)[" }
        guard !late.isEmpty else { return hooks }
        past.steps.keys.filter { id in late.contains { id.hasPrefix($0) } }.sorted().forEach(note)
        return hooks
    }
}

extension PastResults.Step {
    /// Returns the runs, out of `count`, in which its result was the same as now.
    fileprivate func runs(of count: Int) -> RunSet {
        var runs = RunSet(from: ran ?? count, count: count)
        for absence in absences { runs[absence.run] = false }
        return runs
    }
}

/// A set of runs in a chain of resumed runs, by their numbers from 0.
struct RunSet: Equatable {
    /// The first 64 runs; longer chains are rare.
    private var first: UInt64 = 0
    private var rest: [UInt64] = []

    static let none = RunSet()

    /// Makes the set of the runs from one number on, out of `count`.
    init(from start: Int, count: Int) {
        first = Self.word(0, from: start, count: count)
        if count > 64 { rest = (1...(count - 1) / 64).map { Self.word($0, from: start, count: count) } }
    }

    init(_ runs: some Sequence<Int>, count: Int) {
        self.init(from: count, count: count)
        for run in runs { self[run] = true }
    }

    private init() {}

    private static func word(_ index: Int, from start: Int, count: Int) -> UInt64 {
        let (low, high) = (max(0, start - index * 64), min(64, count - index * 64))
        return low < high ? (~0 << UInt64(low)) & (~0 >> UInt64(64 - high)) : 0
    }

    subscript(run: Int) -> Bool {
        get {
            if run < 64 { return first & 1 << UInt64(run) != 0 }
            return run / 64 <= rest.count && rest[run / 64 - 1] & 1 << UInt64(run % 64) != 0
        }
        set {
            let bit: UInt64 = 1 << UInt64(run % 64)
            if run < 64 {
                first = newValue ? first | bit : first & ~bit
            } else if run / 64 <= rest.count {
                rest[run / 64 - 1] = newValue ? rest[run / 64 - 1] | bit : rest[run / 64 - 1] & ~bit
            }
        }
    }

    mutating func formIntersection(_ other: RunSet) {
        first &= other.first
        guard !rest.isEmpty else { return }
        if other.rest.isEmpty { rest = [] } else { for index in rest.indices { rest[index] &= other.rest[index] } }
    }
}
