internal import Basics
internal import RunEvents
internal import RunJournal
internal import WorkflowExecution
internal import WorkflowModel

extension PastResults {
    /// What the journals of runs say of their steps, of which each resumes the one behind it. Nil if the first one is gone
    /// meanwhile. Throws where a journal cannot be read: what it says might be lost, and would be done once more.
    init?(_ chain: [PastRun]) throws(SystemError) {
        guard let last = chain.first, try last.journal() != nil else { return nil }
        var steps: [String: Step] = [:]
        for (number, past) in chain.reversed().enumerated() {
            guard let journal = try past.journal() else { continue }
            while journal.next({ Self.note($0, ofRun: number, in: &steps) }) {}
            if let failure = journal.failure { throw failure }
        }
        self.init(run: last.run, origin: last.header.origin, steps: steps) { step in
            // The last run that names it; few steps have somebody who asks.
            for past in chain {
                if let output = Self.standardOutput(of: step, in: past) { return output }
            }
            return nil
        }
    }

    private static func note(_ event: RunEvent, ofRun number: Int, in steps: inout [String: Step]) {
        switch event.kind {
        case .stepStarted(let step):
            steps[step.step] = Step(outcome: nil, definition: nil, ran: number, checked: number)
        case .stepFinished(let step):
            // What never had a process is as it was.
            guard step.attempt > 0 else { return }
            steps[step.step] = Self.step(
                step.outcome, step.definition, step.outputs, ran: number, checked: number)
        case .stepRestored(let step):
            steps[step.step] = Self.step(
                .success, step.definition, step.outputs, ran: steps[step.step]?.ran ?? 0, checked: number)
        case .groupRetry(let group, _, _):
            // Nothing of this round counts any more.
            for id in steps.keys where id.hasPrefix("\(group).") {
                steps[id] = Step(outcome: nil, definition: nil, ran: number, checked: number)
            }
        default: break
        }
    }

    private static func step(
        _ outcome: StepOutcome, _ definition: String?, _ outputs: [LoggedValue], ran: Int, checked: Int
    ) -> Step {
        let values = outputs.compactMap { output in
            (try? Value(json: output.json)).map { Value.Field(name: output.name, value: $0) }
        }
        return Step(
            outcome: outcome, definition: values.count == outputs.count ? definition : nil, outputs: values, ran: ran,
            checked: checked)
    }

    /// Reads the journal once more. Nil if it does not name the step, nil in it if the output is not known.
    private static func standardOutput(of step: String, in past: PastRun) -> [UInt8]?? {
        guard let journal = try? past.journal() else { return nil }
        var isNamed = false
        var output: [UInt8]?
        var missing = 0
        while journal.next({ event in
            defer { missing = journal.missingOutput }
            switch event.kind {
            case .stepStarted(let started) where started.step == step:
                isNamed = true
                output = []
            case .stepRestored(let restored) where restored.step == step:
                isNamed = true
                output = restored.standardOutput
            case .stepOutput(let piece) where piece.step == step:
                switch piece.stream {
                case .stdout where journal.missingOutput == missing: output?.append(contentsOf: piece.bytes)
                // The two went together, since nobody read standard output in that run; or a part was not kept.
                case .output, .stdout: output = nil
                case .stderr: break
                }
            default: break
            }
        }) {}
        return isNamed ? .some(journal.failure == nil ? output : nil) : nil
    }
}
