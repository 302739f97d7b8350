internal import OperationScheduling
internal import ProcessExecution
internal import RunEvents
internal import WorkflowModel
internal import WorkflowPlanning

/// What has become of everything that has ended, as expressions read it.
///
/// Outcomes are one byte a row; only what somebody may read later takes more.
@EventLoopActor
final class RunResults {
    /// What a step or group hands on beside its outcome.
    struct Details {
        /// Of a step's last attempt; nil where no process ended.
        var status: ExitStatus?
        var outputs: [Value.Field] = []
        /// Kept only where an expression names it; nil elsewhere.
        var standardOutput: [UInt8]?

        /// Whether nothing is there that a plain success would not have.
        var isPlain: Bool { status == .exited(0) && outputs.isEmpty && standardOutput == nil }
    }

    private var outcomes: [OperationOutcome?]
    private var details: [Int: Details] = [:]

    init(count: Int) {
        outcomes = Array(repeating: nil, count: count)
    }

    /// nil before the end.
    func outcome(of row: Int) -> OperationOutcome? {
        row < outcomes.count ? outcomes[row] : nil
    }

    func details(of row: Int) -> Details { details[row] ?? Details() }

    func note(_ row: Int, _ outcome: OperationOutcome) {
        if row >= outcomes.count {
            outcomes.append(contentsOf: repeatElement(nil, count: row + 1 - outcomes.count))
        }
        outcomes[row] = outcome
    }

    func note(_ row: Int, _ new: Details) { details[row] = new }

    /// Forgets what a round of a group came to, because there will be another.
    func forget(_ row: Int) {
        if row < outcomes.count { outcomes[row] = nil }
        details[row] = nil
    }
}
