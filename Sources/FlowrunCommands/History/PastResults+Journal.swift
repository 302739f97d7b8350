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
        var record = PastRecord()
        for past in chain.reversed() {
            guard let journal = try past.journal() else { continue }
            record.beginRun()
            while journal.next({ record.note($0.kind) }) {}
            if let failure = journal.failure { throw failure }
        }
        record.end()
        self.init(run: last.run, origin: last.header.origin, record) { step in
            // The last run that names it; few steps have somebody who asks.
            for past in chain {
                if let output = Self.standardOutput(of: step, in: past) { return output }
            }
            return nil
        }
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
