internal import Planning
internal import Processes
internal import RunLog
internal import Syntax
internal import Workflow

// Failures and timeouts, and what they count for.
extension RunState {
    /// The members of a group that have failed or timed out by themselves, without those tolerated there.
    func rootFailures(in group: PlanIndex) -> [RootFailure] { groups[group]?.errors ?? [] }

    var errors: [RunFinished.Failure] { failures.map(\.failure) }
    var tolerated: [String] { toleratedRows.map { plan.nodes[$0].id } }

    /// Whether a failure of this row stays inside something that continues on errors.
    func isTolerated(_ row: PlanIndex) -> Bool {
        var next = row
        while next != .root {
            if plan.toleratesFailure(of: next) { return true }
            next = plan.parent(of: next)
        }
        return false
    }

    /// Nothing can happen any more: the run is lost, whatever the outcomes of its steps.
    mutating func runIsLost(_ message: String) {
        noteFailure(.root, failure(of: .root, .cancelled, Cause(kind: .lost, message: message, subject: .run)))
    }

    func failure(
        of row: PlanIndex, _ outcome: StepOutcome, _ cause: Cause, _ attempt: AttemptEnd? = nil
    ) -> RunFinished.Failure {
        let isStep = plan.isStep(row)
        return RunFinished.Failure { failure in
            failure.step = isStep ? plan.nodes[row].id : nil
            failure.group = isStep || row == .root ? nil : plan.nodes[row].id
            failure.outcome = outcome
            failure.cause = cause
            failure.file = isStep ? plan.file(of: row) : cause.file ?? plan.workflow.file.name
            failure.line = isStep ? plan.line(of: row) : cause.line
            failure.status = (attempt?.ending?.status).map(ExitStatus.init)
            failure.command = outcome == .failure ? attempt?.command.map(masked) : nil
            failure.outputTail = (attempt?.tail ?? notes[row]?.tail)?.lines ?? []
            failure.script = attempt?.ending == nil ? nil : script(of: row)
            failure.outputBytes = attempt?.outputBytes ?? 0
        }
    }

    private func masked(_ command: FailedCommand) -> FailedCommand {
        FailedCommand(text: options.secrets.masked(command.text), file: command.file, line: command.line)
    }

    private func script(of row: PlanIndex) -> String? {
        guard case .script(let script) = plan.body(of: row) else { return nil }
        return options.secrets.masked(script.text(in: plan.workflow.file))
    }

    /// Notes a failure or timeout of a step, or of a group or the run that has one of its own.
    mutating func noteFailure(_ row: PlanIndex, _ failure: RunFinished.Failure) {
        if isTolerated(row) { toleratedRows.append(row) } else { failures.append((row, failure)) }
        guard row != .root, !plan.toleratesFailure(of: row) else { return }
        var next = row
        repeat {
            next = plan.parent(of: next)
            groups[next, default: GroupProgress()].errors.append(
                RootFailure(row: row, isTimeout: failure.outcome == .timeout))
        } while next != .root && !plan.toleratesFailure(of: next)
    }
}
