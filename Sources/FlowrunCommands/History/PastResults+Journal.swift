internal import Basics
internal import RunLog
internal import Running
internal import Workflow

extension PastResults {
    /// Reads the results of steps from the journals of a chain of runs, each of which resumes the next one. The runs
    /// in `others`, the last one first, count only for what their hooks have undone. Returns nil if the journal of
    /// the first run is gone. Throws if a journal cannot be read: its results might be lost, and their steps run
    /// again.
    ///
    /// If a journal was changed, its run and all earlier ones do not count, because a lost record may have undone
    /// their results. `note` receives the last such run.
    ///
    /// `outputReads` as in `PastRecord`. Reads each journal once.
    init?(
        _ chain: [PastRun], beside others: [PastRun] = [], outputReads: Set<String>,
        noting note: (PastRun, JournalDamage) -> Void = { _, _ in }
    ) throws(SystemError) {
        guard let last = chain.first, try last.journal() != nil else { return nil }
        var record = PastRecord(outputReads: outputReads)
        var damage: (PastRun, JournalDamage)?
        for (past, isOther) in Self.inOrder(chain, others) {
            guard let journal = try past.journal() else { continue }
            if !isOther { record.beginRun() }
            while journal.next({ event in
                if isOther { return record.noteHook(event.kind) }
                guard case .stepOutput(let output) = event.kind else { return record.note(event.kind) }
                let loss: StandardOutput? = journal.lastLoss.map { $0 == .changed ? .changed : .unknown }
                if let piece = journal.lastPiece {
                    record.note(output, read: { past.output(piece) }, loss: loss)
                } else {
                    record.note(output, read: nil, loss: loss)
                }
            }) {}
            if let failure = journal.failure { throw failure }
            if let place = journal.damage {
                record = PastRecord(outputReads: outputReads)
                damage = (past, place)
            }
        }
        record.end()
        if let damage { note(damage.0, damage.1) }
        self.init(run: last.run, origin: last.header.origin, record)
    }

    /// Returns all runs in the order of their starts.
    private static func inOrder(_ chain: [PastRun], _ others: [PastRun]) -> [(run: PastRun, isOther: Bool)] {
        var order: [(run: PastRun, isOther: Bool)] = []
        var rest = others.reversed()[...]
        for past in chain.reversed() {
            while let other = rest.first, other.began(before: past) { order.append((rest.removeFirst(), true)) }
            order.append((past, false))
        }
        return order + rest.map { ($0, true) }
    }
}
