internal import AsyncOperations
internal import RunEvents
internal import WorkflowModel
internal import WorkflowPlanning

/// Keeps count of how everything ended, for `group.finished` and `run.finished`.
struct RunLedger {
    private struct Lists {
        var errors: [String] = []
        var cancelled: [String] = []
        var notRun: [String] = []
    }

    private(set) var counts: OutcomeCounts = [:]
    private(set) var errors: [RunFinished.Failure] = []
    private(set) var tolerated: [String] = []
    private let plan: Plan
    private var lists: [Int: Lists] = [0: Lists()]

    init(plan: Plan) { self.plan = plan }

    var cancelled: [String] { lists[0]?.cancelled ?? [] }
    var notRun: [String] { lists[0]?.notRun ?? [] }

    /// Whether a failure of this row stays inside something that continues on errors.
    func isTolerated(_ row: Int) -> Bool {
        var next = row
        while next != 0 {
            if tolerates(next) { return true }
            next = Int(plan.nodes[next].parent)
        }
        return false
    }

    /// Notes the end of a step. `failure` is made only for one that counts.
    mutating func noteStep(_ row: Int, _ outcome: StepOutcome, failure: () -> RunFinished.Failure) {
        counts[outcome] += 1
        let id = plan.nodes[row].id
        switch outcome {
        case .success, .skipped: return
        case .failure, .timeout: noteFailure(row, failure)
        case .cancelled: forEachGroup(around: row) { $0.cancelled.append(id) }
        case .notRun: forEachGroup(around: row) { $0.notRun.append(id) }
        }
    }

    /// Notes a failure or timeout of a step, or the timeout of a group or the run.
    mutating func noteFailure(_ row: Int, _ failure: () -> RunFinished.Failure) {
        let id = plan.nodes[row].id
        if isTolerated(row) { tolerated.append(id) } else { errors.append(failure()) }
        guard plan.nodes[row].role == .step, !tolerates(row) else { return }
        // Each group up to the first that tolerates it counts it as an error of its own.
        var next = row
        repeat {
            next = Int(plan.nodes[next].parent)
            lists[next, default: Lists()].errors.append(id)
        } while next != 0 && !tolerates(next)
    }

    /// What the members of a group came to, at any depth.
    mutating func close(_ row: Int) -> (errors: [String], cancelled: [String], notRun: [String]) {
        let list = lists.removeValue(forKey: row) ?? Lists()
        return (list.errors, list.cancelled, list.notRun)
    }

    private func tolerates(_ row: Int) -> Bool {
        guard plan.nodes[row].role != .fanOut else { return false }
        return plan.workflow.settings(of: plan.nodes[row].definition)?.continueOnError ?? false
    }

    private mutating func forEachGroup(around row: Int, _ body: (inout Lists) -> Void) {
        var next = row
        repeat {
            next = Int(plan.nodes[next].parent)
            body(&lists[next, default: Lists()])
        } while next != 0
    }
}
