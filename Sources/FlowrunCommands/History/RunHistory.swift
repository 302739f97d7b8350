internal import Basics
internal import RunControl
internal import RunJournal

/// The runs of which a state directory has a journal.
struct RunHistory {
    /// How many runs of one workflow are kept, as long as all of them together are not too large.
    static let runsKept = 20
    /// Old runs are looked for only at every so many-th run.
    private static let sweepInterval = 16
    /// How much all runs together may take, in bytes, the one that has just ended not counted.
    private static let sizeKept = 1 << 30
    /// A run with so much output looks for old runs in any case.
    private static let largeOutput = 16 << 20

    private let directory: StateDirectory

    init(in directory: StateDirectory) { self.directory = directory }

    /// The ids of all runs, by the second of their starts.
    var ids: [String] { directory.runs() }

    /// Those of one workflow by its name in the directory, or with nil all, the last one first. Throws where a journal
    /// cannot be read, even if it may be that of another workflow.
    func runs(of workflow: String?) throws(CommandError) -> [PastRun] {
        var runs: [PastRun] = []
        for id in ids {
            guard let run = try run(id), workflow == nil || run.header.workflow == workflow else { continue }
            runs.append(run)
        }
        return runs.sorted { ($1.header.time, $1.run) < ($0.header.time, $0.run) }
    }

    func run(_ id: String) throws(CommandError) -> PastRun? {
        do throws(SystemError) { return try PastRun(id, in: directory) } catch { throw PastRun.unreadable(id, error) }
    }

    /// A run and those before it whose results still count, the last one first.
    func chain(of past: PastRun) throws(CommandError) -> [PastRun] {
        var chain = [past]
        while let id = chain.last?.base, let base = try run(id), base.header.workflow == past.header.workflow,
            !chain.contains(where: { $0.run == base.run })
        {
            chain.append(base)
        }
        return chain
    }

    /// Removes runs that are too many of their workflow, or too large together, the oldest first; never a live one, and
    /// never what a resume of any workflow would begin with. `outputSize` is what the run that asks has written beside
    /// its journal.
    func removeOldRuns(outputSize: Int) {
        let count = directory.runCount
        let isDue = count > Self.runsKept && count % Self.sweepInterval == 0
        guard isDue || outputSize >= Self.largeOutput else { return }
        var counts: [String?: Int] = [:]
        var size = 0
        // The last run of each workflow stays, with what it rests on.
        var needed: Set<String> = []
        for run in (try? runs(of: nil)) ?? [] {
            counts[run.header.workflow, default: 0] += 1
            let count = counts[run.header.workflow, default: 0]
            let isNeeded = count == 1 || needed.contains(run.run)
            if isNeeded, let base = run.base { needed.insert(base) }
            if run.isHeld { continue }
            let isOver = !isNeeded && (count > Self.runsKept || size > Self.sizeKept)
            if isOver { directory.removeRun(run.run, reusing: JournalWriter.fileName) } else { size += run.size }
        }
    }
}
