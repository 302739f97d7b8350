internal import Basics
internal import RunLog
internal import Running
internal import Workflow

extension PastResults {
    /// What the journals of runs say of their steps, of which each resumes the one behind it. The runs in `others`, the
    /// last one first, count only for what their hooks have undone. Nil if the first run is gone meanwhile. Throws where
    /// a journal cannot be read: what it says might be lost, and would be done once more.
    ///
    /// If a journal was changed, nothing of its run and of those before it counts: a lost record may have undone it.
    /// `note` gets the last such run.
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
}
