internal import Basics
internal import RunEvents
internal import RunJournal
internal import WorkflowExecution
internal import WorkflowModel

extension PastResults {
    /// What the journals of runs say of their steps, of which each resumes the one behind it. The runs in `others`, the
    /// last one first, count only for what their hooks have undone. Nil if the first run is gone meanwhile. Throws where
    /// a journal cannot be read: what it says might be lost, and would be done once more.
    ///
    /// If a journal was changed, nothing of its run and of those before it counts: a lost record may have undone it.
    /// `note` gets the last such run.
    init?(
        _ chain: [PastRun], beside others: [PastRun] = [],
        noting note: (PastRun, JournalDamage) -> Void = { _, _ in }
    ) throws(SystemError) {
        guard let last = chain.first, try last.journal() != nil else { return nil }
        var record = PastRecord()
        var damage: (PastRun, JournalDamage)?
        for (past, isOther) in Self.inOrder(chain, others) {
            guard let journal = try past.journal() else { continue }
            if !isOther { record.beginRun() }
            while journal.next({ if isOther { record.noteHook($0.kind) } else { record.note($0.kind) } }) {}
            if let failure = journal.failure { throw failure }
            if let place = journal.damage {
                record = PastRecord()
                damage = (past, place)
            }
        }
        record.end()
        if let damage { note(damage.0, damage.1) }
        self.init(run: last.run, origin: last.header.origin, record) { step in
            // The last run that names it; few steps have somebody who asks.
            for past in chain {
                if let output = Self.standardOutput(of: step, in: past) { return output }
            }
            return .unknown
        }
    }

    /// The runs as they began.
    private static func inOrder(_ chain: [PastRun], _ others: [PastRun]) -> [(run: PastRun, isOther: Bool)] {
        var order: [(run: PastRun, isOther: Bool)] = []
        var rest = others.reversed()[...]
        for past in chain.reversed() {
            while let other = rest.first, other.began(before: past) { order.append((rest.removeFirst(), true)) }
            order.append((past, false))
        }
        return order + rest.map { ($0, true) }
    }

    /// Reads the journal once more. Nil if it does not name the step.
    private static func standardOutput(of step: String, in past: PastRun) -> StandardOutput? {
        guard let journal = try? past.journal() else { return nil }
        var output: StandardOutput?
        var (missing, changed) = (0, 0)
        while journal.next({ event in
            defer { (missing, changed) = (journal.missingOutput, journal.changedOutput) }
            switch event.kind {
            case .stepStarted(let started) where started.step == step: output = .known([])
            case .stepRestored(let restored) where restored.step == step:
                output = restored.standardOutput.map(StandardOutput.known) ?? .unknown
            case .stepOutput(let piece) where piece.step == step:
                guard piece.stream != .stderr, case .known(var bytes) = output else { break }
                // The two went together, since nobody read standard output in that run; or a part was not kept.
                output = journal.changedOutput > changed ? .changed : .unknown
                guard piece.stream == .stdout, journal.missingOutput == missing else { break }
                bytes.append(contentsOf: piece.bytes)
                output = .known(bytes)
            default: break
            }
        }) {}
        return output.map { journal.failure == nil && journal.damage == nil ? $0 : .unknown }
    }
}
