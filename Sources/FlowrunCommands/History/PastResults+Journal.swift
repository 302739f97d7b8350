internal import RunEvents
internal import RunJournal
internal import WorkflowExecution
internal import WorkflowModel

extension PastResults {
    /// What the journal of a run says of its steps. Nil if the journal is gone meanwhile.
    init?(_ past: PastRun) {
        guard let journal = past.journal() else { return nil }
        var steps: [String: Step] = [:]
        while journal.next({ Self.note($0, in: &steps) }) {}
        self.init(run: past.run, origin: past.header.origin, steps: steps) { Self.standardOutput(of: $0, in: past) }
    }

    private static func note(_ event: RunEvent, in steps: inout [String: Step]) {
        switch event.kind {
        case .stepStarted(let step): steps[step.step] = Step(outcome: nil, definition: nil)
        case .stepFinished(let step):
            // What never had a process runs for the first time.
            guard step.attempt > 0 else { return }
            steps[step.step] = Self.step(step.outcome, step.definition, step.outputs)
        case .stepRestored(let step): steps[step.step] = Self.step(.success, step.definition, step.outputs)
        case .groupRetry(let group, _, _):
            // Nothing of this round counts any more.
            for id in steps.keys where id.hasPrefix("\(group).") {
                steps[id] = Step(outcome: nil, definition: nil)
            }
        default: break
        }
    }

    private static func step(_ outcome: StepOutcome, _ definition: String?, _ outputs: [LoggedValue]) -> Step {
        let values = outputs.compactMap { output in
            (try? Value(json: output.json)).map { Value.Field(name: output.name, value: $0) }
        }
        return Step(outcome: outcome, definition: values.count == outputs.count ? definition : nil, outputs: values)
    }

    /// Reads the journal once more: few steps have somebody who asks.
    private static func standardOutput(of step: String, in past: PastRun) -> [UInt8]? {
        guard let journal = past.journal() else { return nil }
        var output: [UInt8]?
        var missing = 0
        while journal.next({ event in
            switch event.kind {
            case .stepStarted(let started) where started.step == step:
                output = []
                missing = journal.missingOutput
            case .stepRestored(let restored) where restored.step == step: output = restored.standardOutput
            case .stepOutput(let piece) where piece.step == step && piece.stream == .stdout:
                output?.append(contentsOf: piece.bytes)
                if journal.missingOutput > missing { output = nil }
            default: break
            }
        }) {}
        return output
    }
}
