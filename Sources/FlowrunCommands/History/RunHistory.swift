internal import Basics
internal import RunLog
internal import Running

/// The runs that have a journal in a state directory.
struct RunHistory {
    /// The number of runs kept per workflow, unless all runs together are too large.
    static let runsKept = 20
    /// Prunes once every `sweepInterval` runs.
    private static let sweepInterval = 16
    /// The most bytes that all runs together may take, not counting live ones and the one that has just ended.
    private static let sizeKept = 1 << 30
    /// A run with this much output always prunes, in bytes.
    private static let largeOutput = 16 << 20

    private let directory: StateDirectory

    init(in directory: StateDirectory) { self.directory = directory }

    /// The state directory as messages name it.
    var place: String { "`\(directory.path)`" }

    /// Returns all runs, the last one first. Throws if a journal cannot be read.
    func runs() throws(CommandError) -> [PastRun] { try runs { _ in true } }

    /// Returns the runs of one workflow by its name in the directory, nil for standard input. Throws if any journal
    /// cannot be read, because it may be that of this workflow.
    func runs(of workflow: String?) throws(CommandError) -> [PastRun] { try runs { $0.header.workflow == workflow } }

    private func runs(where isWanted: (PastRun) -> Bool) throws(CommandError) -> [PastRun] {
        var runs: [PastRun] = []
        for id in directory.runs() { if let run = try run(id), isWanted(run) { runs.append(run) } }
        return runs.sorted { $1.began(before: $0) }
    }

    /// The largest number of a run, as far as journals can be read.
    var lastNumber: Int {
        directory.runs().reduce(0) { last, id in max(last, (try? run(id))?.header.number ?? 0) }
    }

    /// The reason why a run that had the lock of its workflow is not among the runs.
    enum Absence {
        /// It kept no journal, as with `--no-journal`.
        case unrecorded
        /// It is alive and has not written to its journal yet.
        case starting
        /// It was killed before its journal began, and so before its first step.
        case cutShort
        case damaged

        /// The words in messages about the run.
        var words: String {
            switch self {
            case .unrecorded: "left no journal, as with --no-journal"
            case .starting: "is about to begin its journal"
            case .cutShort: "was killed before its first step"
            case .damaged: "has a journal that is damaged at its beginning"
            }
        }
    }

    /// Returns nil if the journal of the run can be read. Throws if reading fails.
    func absence(of holder: RunLock.Holder) throws(CommandError) -> Absence? {
        if try run(holder.run) != nil { return nil }
        let found = fault(ofJournal: holder.run) ?? (holder.keepsJournal ? .cutShort : .unrecorded)
        return found == .cutShort && !holder.hasEnded && holder.isAlive ? .starting : found
    }

    /// Returns the reason why a named run cannot be read; nil if the state directory does not know it. `lastHolder`
    /// is the holder that this process has replaced in its lock.
    func absence(of id: String, lastHolder: RunLock.Holder? = nil) throws(CommandError) -> Absence? {
        guard RunID.isValid(id) else { return nil }
        if let lastHolder, lastHolder.run == id { return try absence(of: lastHolder) }
        if let entry = RunLock.entries(in: directory).first(where: { $0.holder.run == id }) {
            return try absence(of: entry.holder)
        }
        return fault(ofJournal: id)
    }

    /// Returns nil if there is no journal.
    private func fault(ofJournal id: String) -> Absence? {
        guard let folder = directory.runFolder(id), folder.lastChange(of: JournalWriter.fileName) != .zero else {
            return nil
        }
        return JournalReader.isCutShort(in: folder.descriptor) ? .cutShort : .damaged
    }

    func run(_ id: String) throws(CommandError) -> PastRun? {
        do throws(SystemError) { return try PastRun(id, in: directory) } catch { throw PastRun.unreadable(id, error) }
    }

    /// Returns a run and the earlier runs whose results still count, the last one first.
    private func chain(of past: PastRun) throws(CommandError) -> [PastRun] {
        var chain = [past]
        while let id = chain.last?.base, let base = try run(id), base.header.workflow == past.header.workflow,
            !chain.contains(where: { $0.run == base.run })
        {
            chain.append(base)
        }
        return chain
    }

    /// Reads the results of steps from the journals of a run and of the chain of runs that it has resumed. Runs beside
    /// the chain count only for what their hooks have undone. Returns nil if the journal of the run is gone. Throws if
    /// a journal cannot be read: its results might be lost, and their steps run again.
    ///
    /// If a journal was changed, or could not be written when a hook started, its run and all earlier ones do not
    /// count, because a lost record may have undone their results. `note` receives the last such run, and the place
    /// of a change.
    ///
    /// `outputReads` as in `PastRecord`. Reads each journal once.
    func results(
        of last: PastRun, outputReads: Set<String>, noting note: (PastRun, JournalDamage?) -> Void
    ) throws(CommandError) -> PastResults? {
        let chain = try chain(of: last)
        let others = try runs(beside: chain)
        do throws(SystemError) {
            guard try last.journal() != nil else { return nil }
            var record = PastRecord(outputReads: outputReads)
            var damage: (PastRun, JournalDamage?)?
            for (past, isOther) in Self.inOrder(chain, others) {
                guard let journal = try past.journal() else { continue }
                record.beginRun(past.run, isOther: isOther)
                while journal.next({ event in
                    if isOther { return record.noteHook(event.kind) }
                    guard case .stepOutput(let output) = event.kind else { return record.note(event.kind) }
                    let loss: PastResults.StandardOutput? = journal.lastLoss.map {
                        $0 == .changed ? .changed : .unknown
                    }
                    let read = journal.lastPiece.map { piece in { @Sendable in past.output(piece) } }
                    record.note(output, read: read, loss: loss)
                }) {}
                if let failure = journal.failure { throw failure }
                if journal.damage != nil || journal.lacksHooks {
                    record = PastRecord(outputReads: outputReads)
                    damage = (past, journal.damage)
                }
            }
            record.end()
            if let damage { note(damage.0, damage.1) }
            return PastResults(run: last.run, origin: last.header.origin, record)
        } catch {
            throw last.unreadable(error)
        }
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

    /// Returns the runs of the same file since the first run of a chain that are not in the chain, the last one
    /// first. None for standard input, which is another file each time.
    private func runs(beside chain: [PastRun]) throws(CommandError) -> [PastRun] {
        guard let first = chain.last, let workflow = first.header.workflow else { return [] }
        let ids = Set(chain.map(\.run))
        return try runs(of: workflow).filter { first.began(before: $0) && !ids.contains($0.run) }
    }

    /// Removes the oldest runs if a workflow has too many, or if all are too large together. Never removes a live
    /// run, one with which a resume of the whole workflow would begin, or one of the last runs of a part, nor one
    /// whose hooks may have undone results of these. `outputSize` is the size of the files that the calling run has
    /// written beside its journal.
    func removeOldRuns(outputSize: Int) {
        let count = directory.runCount
        let isDue = count > Self.runsKept && count % Self.sweepInterval == 0
        guard isDue || outputSize >= Self.largeOutput else { return }
        var counts: [String?: Int] = [:]
        var targets: [String?: Set<Set<String>>] = [:]
        var size = 0
        // Keeps each run with which a resume may begin, and those on which it builds.
        var needed: Set<String> = []
        // By workflow, the first of these.
        var first: [String?: PastRun] = [:]
        var over: [Int] = []
        let runs = (try? runs()) ?? []
        for (index, run) in runs.enumerated() {
            let (workflow, chosen) = (run.header.workflow, Set(run.header.targets))
            counts[workflow, default: 0] += 1
            let count = counts[workflow, default: 0]
            let isLast = run.header.parent == nil && targets[workflow, default: []].insert(chosen).inserted
            let isNeeded = needed.contains(run.run) || isLast && (chosen.isEmpty || count <= Self.runsKept)
            if isNeeded {
                first[workflow] = run
                if let base = run.base { needed.insert(base) }
            }
            if run.isHeld { continue }
            let isOver = !isNeeded && (count > Self.runsKept || size > Self.sizeKept)
            if isOver { over.append(index) } else { size += run.size }
        }
        var starts = HookStarts()
        for index in over {
            let run = runs[index]
            let isAfterNeeded = first[run.header.workflow].map { $0.began(before: run) } ?? false
            if isAfterNeeded, starts.areLast(in: run, since: runs[..<index]) { continue }
            directory.removeRun(run.run, reusing: JournalWriter.fileName)
        }
        TreeCopyFolders.existing(in: directory)?.removeOld()
    }

    /// The starts of hooks in runs, each journal read once.
    private struct HookStarts {
        private var known: [String: Set<JournalHooks.Start>?] = [:]

        /// Returns true if hooks of a run have started that have not started in the same way in any of the later
        /// runs, the last one first, or if that is unknown.
        mutating func areLast(in run: PastRun, since later: ArraySlice<PastRun>) -> Bool {
            guard var starts = self[run] else { return true }
            for next in later.reversed() where !starts.isEmpty && next.header.workflow == run.header.workflow {
                starts.subtract(self[next] ?? [])
            }
            return !starts.isEmpty
        }

        private subscript(_ run: PastRun) -> Set<JournalHooks.Start>? {
            mutating get {
                if let known = known[run.run] { return known }
                let starts = run.hookStarts()
                known.updateValue(starts, forKey: run.run)
                return starts
            }
        }
    }
}
