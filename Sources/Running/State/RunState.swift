internal import Planning
internal import Processes
internal import RunLog
internal import Scheduling
internal import Syntax
internal import Workflow

/// How far a run has come: the plan, which grows while the run goes on, and the outcome of every row.
///
/// Its methods take what the scheduler decides and answer with the event to record. A value: nothing else of a run
/// knows an outcome, a cause or a round. A row takes one byte; only one that has more to say than its outcome, or is a
/// group that runs, has an entry in one of the side tables.
struct RunState {
    var plan: Plan
    let options: RunOptions
    /// Whether any group may be tried again.
    let hasRounds: Bool
    /// By row; nil before the end.
    var outcomes: [OperationOutcome?]
    var notes: [PlanIndex: RowNote] = [:]
    var groups: [PlanIndex: GroupProgress] = [:]
    /// The first row that the run has added.
    let firstAdded: PlanIndex
    /// By the id of an added copy that is a new row in each round around it: its next round.
    var nextRounds: [String: Int] = [:]
    /// How many steps have ended, by outcome, and fan-outs before their copies were known.
    var counts = OutcomeCounts()
    /// The fan-outs that count like a step, because they ended before their copies were known.
    var countedFanOuts: Set<PlanIndex> = []
    var failures: [(row: PlanIndex, failure: RunFinished.Failure)] = []
    var toleratedRows: [PlanIndex] = []

    init(_ plan: Plan, options: RunOptions) {
        self.plan = plan
        self.options = options
        hasRounds = plan.workflow.nodes.contains { $0.isGroup && $0.settings?.retry != nil }
        outcomes = Array(repeating: nil, count: plan.nodes.count)
        firstAdded = PlanIndex(plan.nodes.count)
    }

    // MARK: Reading

    /// nil before the end.
    func outcome(of row: PlanIndex) -> OperationOutcome? { outcomes[row] }

    func result(of row: PlanIndex) -> RowResult { notes.isEmpty ? RowResult() : notes[row]?.result ?? RowResult() }

    /// Why a row did not succeed, or how its work has failed; nil otherwise.
    func cause(of row: PlanIndex) -> Cause? { notes[row]?.cause }

    /// Of a row that was not run: the row that ruled it out; nil elsewhere, and where `drain` did.
    func blamed(for row: PlanIndex) -> PlanIndex? { notes[row]?.blamed }

    /// Who asked for the end of a row; nil if nobody did.
    func request(for row: PlanIndex) -> String? { notes[row]?.request }

    /// Whether somebody asked for the end of a row, or of a group around it short of the run; a hook goes on when its
    /// group is stopped.
    func hasRequest(around row: PlanIndex) -> Bool {
        var next = row
        while next != .root {
            if request(for: next) != nil { return true }
            guard plan.nodes[next].hook == nil else { return false }
            next = plan.parent(of: next)
        }
        return false
    }

    /// How a group was stopped as a whole; nil if it was not.
    func stop(of group: PlanIndex) -> OperationOutcome? { groups[group]?.stop }

    /// The current round of a group, from 0; nil before its start and after its end.
    func runningRound(of group: PlanIndex) -> Int? { groups[group].flatMap { $0.start == nil ? nil : $0.round ?? 0 } }

    /// Whether something in a group has not run though nothing in the group failed: it was not chosen, or drained. What
    /// is manual counts as there: whoever reads it knows that it may be missing. O(rows inside).
    func isIncomplete(_ group: PlanIndex) -> Bool {
        groups[group]?.isDrained == true
            || ([group] + plan.rows(inside: group)).contains { row in
                plan.nodes[row].role == .group
                    && plan.leftOut(of: row).contains { plan.workflow.settings(of: $0)?.isManual != true }
            }
    }
}
