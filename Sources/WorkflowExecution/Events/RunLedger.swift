internal import OperationScheduling
internal import ProcessExecution
internal import RunEvents
internal import WorkflowModel
internal import WorkflowPlanning

/// Keeps count of how everything ended, for `group.finished` and `run.finished`.
@EventLoopActor
final class RunLedger {
    private struct Lists {
        var errors: [Int] = []
        var cancelled: [Int] = []
        var notRun: [Int] = []

        mutating func removeAll(where matches: (Int) -> Bool) {
            errors.removeAll(where: matches)
            cancelled.removeAll(where: matches)
            notRun.removeAll(where: matches)
        }
    }

    private(set) var counts: OutcomeCounts = [:]
    private var failures: [(row: Int, failure: RunFinished.Failure)] = []
    private var toleratedRows: [Int] = []
    private let book: RunBook
    private var lists: [Int: Lists] = [0: Lists()]

    init(_ book: RunBook) { self.book = book }

    var errors: [RunFinished.Failure] { failures.map(\.failure) }
    var tolerated: [String] { toleratedRows.map(book.id) }
    var cancelled: [String] { (lists[0]?.cancelled ?? []).map(book.id) }
    var notRun: [String] { (lists[0]?.notRun ?? []).map(book.id) }

    /// Whether a failure of this row stays inside something that continues on errors.
    func isTolerated(_ row: Int) -> Bool {
        var next = row
        while next != 0 {
            if book.tolerates(next) { return true }
            next = book.parent(of: next)
        }
        return false
    }

    /// Notes the end of a step. `failure` is made only for one that counts.
    func noteStep(_ row: Int, _ outcome: StepOutcome, failure: () -> RunFinished.Failure) {
        counts[outcome] += 1
        switch outcome {
        case .success, .skipped: return
        case .failure, .timeout: noteFailure(row, failure)
        case .cancelled: forEachGroup(around: row) { $0.cancelled.append(row) }
        case .notRun: forEachGroup(around: row) { $0.notRun.append(row) }
        }
    }

    /// Notes a failure or timeout of a step, or of a group or the run that has one of its own.
    func noteFailure(_ row: Int, _ failure: () -> RunFinished.Failure) {
        if isTolerated(row) { toleratedRows.append(row) } else { failures.append((row, failure())) }
        guard book.plan.nodes[row].role == .step, !book.tolerates(row) else { return }
        // Each group up to the first that tolerates it counts it as an error of its own.
        var next = row
        repeat {
            next = book.parent(of: next)
            lists[next, default: Lists()].errors.append(row)
        } while next != 0 && !book.tolerates(next)
    }

    /// The first step inside a group that failed or timed out; nil where none did.
    func firstError(in group: Int) -> Int? { lists[group]?.errors.first }

    /// What the members of a group came to, at any depth.
    func close(_ row: Int) -> (errors: [String], cancelled: [String], notRun: [String]) {
        let list = lists.removeValue(forKey: row) ?? Lists()
        return (list.errors.map(book.id), list.cancelled.map(book.id), list.notRun.map(book.id))
    }

    /// Takes back what the members of a group came to, because all of them run once more. `outcomes` are theirs.
    func takeBack(_ group: Int, outcomes: [StepOutcome]) {
        for outcome in outcomes { counts[outcome] -= 1 }
        let isInside: (Int) -> Bool = { [book] in book.isInside($0, group) }
        failures.removeAll { isInside($0.row) || $0.row == group }
        toleratedRows.removeAll { isInside($0) || $0 == group }
        lists[group] = nil
        var next = group
        while next != 0 {
            next = book.parent(of: next)
            lists[next]?.removeAll(where: isInside)
        }
    }

    private func forEachGroup(around row: Int, _ body: (inout Lists) -> Void) {
        var next = row
        repeat {
            next = book.parent(of: next)
            body(&lists[next, default: Lists()])
        } while next != 0
    }
}
