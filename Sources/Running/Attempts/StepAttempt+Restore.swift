internal import Planning
internal import RunLog

extension StepAttempt {
    /// Takes over what the run that this one resumes has left, if that is still what it would come to. Returns whether
    /// it did; if not, tells why.
    func restore() -> Bool {
        guard number == 1, runner.resumption != nil else { return false }
        switch runner.resumption!.decide(row, definition: definition, round: round, in: runner.plan) {
        case .run(let reason):
            if let reason { record(.stepRerun(step: step, reason: reason)) }
            return false
        case .restore(let past):
            if keptOutput != nil, runner.keepsStandardOutput(of: row) {
                let output = runner.resumption!.past.standardOutput(of: step)
                guard case .known(let bytes) = output else {
                    runner.resumption?.runsAfterAll(row)
                    record(.stepRerun(step: step, reason: output == .changed ? .damage : .result))
                    return false
                }
                keptOutput = KeptOutput(bytes)
            }
            outputs = past.outputs
            isRestored = true
            end(isSuccess: true)
            return true
        }
    }
}
