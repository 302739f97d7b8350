internal import Basics
internal import RunLog
internal import Running

/// One run that has a journal in a state directory.
struct PastRun: Sendable {
    enum State: Sendable {
        case live
        /// It was killed before its end.
        case interrupted
        case ended(JournalEnd)

        /// nil before the run's own end.
        var end: JournalEnd? { if case .ended(let end) = self { end } else { nil } }

        /// The state in one word: the outcome, `running` or `interrupted`.
        var word: String {
            switch self {
            case .live: "running"
            case .interrupted: "interrupted"
            case .ended(let end): end.outcome.rawValue
            }
        }

        var isInterrupted: Bool { if case .interrupted = self { true } else { false } }
    }

    let header: JournalHeader
    /// True if a process held its journal when this value was made: the run is alive, or is about to end.
    let isHeld: Bool
    private let folder: StateDirectory

    /// Returns nil if the run has no journal, or one that does not begin with a header. Throws if it cannot be read.
    init?(_ run: String, in directory: StateDirectory) throws(SystemError) {
        guard let folder = directory.runFolder(run), let reader = try JournalReader(in: folder.descriptor),
            reader.header.run == run
        else { return nil }
        self.folder = folder
        header = reader.header
        isHeld = reader.isLive
    }

    var run: String { header.run }

    /// The state; a journal whose end cannot be read counts as one without an end.
    var state: State { (try? readState()) ?? stateWithoutEnd }

    /// Reads the end of the journal. `isHeld` was read before, so a run that ends in between counts as ended.
    func readState() throws(SystemError) -> State {
        try JournalEnd(in: folder.descriptor).map(State.ended) ?? stateWithoutEnd
    }

    private var stateWithoutEnd: State { isHeld ? .live : .interrupted }

    /// The run that it resumes, if results of that run still count: this run did not cover all steps, because it was
    /// stopped early or had targets.
    var base: String? {
        if header.targets.isEmpty, let end = state.end, end.counts[.cancelled] == 0 { return nil }
        return header.resumes
    }

    /// True if it began before `other`. The clock decides only between runs of a version that did not number them.
    func began(before other: PastRun) -> Bool {
        (header.number, header.time, run) < (other.header.number, other.header.time, other.run)
    }

    /// True if it can be the last run for these targets: it is over, and was not started by a step of another run, or
    /// was if `isNested`.
    func isLast(of targets: [String], isNested: Bool = false) -> Bool {
        (header.parent != nil) == isNested && Set(header.targets) == Set(targets) && !isLive
    }

    var isLive: Bool { if case .live = state { true } else { false } }

    /// Opens its journal at the start; nil if that is gone meanwhile, or its folder that of another run.
    func journal() throws(SystemError) -> JournalReader? {
        guard let reader = try JournalReader(in: folder.descriptor), reader.header.run == run else { return nil }
        return reader
    }

    /// Opens the journal for a command that is about this run.
    func openJournal() throws(CommandError) -> JournalReader {
        let journal: JournalReader?
        do throws(SystemError) { journal = try self.journal() } catch { throw unreadable(error) }
        guard let journal else { throw .failed("the journal of the run `\(run)` is gone") }
        return journal
    }

    /// Reads a piece of a step's output; nil if it has changed or is gone.
    func output(_ piece: OutputPiece) -> [UInt8]? { piece.bytes(in: folder.descriptor) }

    /// Describes the place at which its journal was changed.
    func words(of damage: JournalDamage) -> String {
        "the journal of the run `\(run)` is damaged at byte \(damage.offset) (line \(damage.line) of "
            + "`\(folder.path)/\(JournalWriter.fileName)`)"
    }

    /// Describes a journal that could not be written any more when a hook started.
    var wordsOfLostHooks: String {
        "the journal of the run `\(run)` could not be written when a hook started, which may have undone results"
    }

    func unreadable(_ error: SystemError) -> CommandError { Self.unreadable(run, error) }

    static func unreadable(_ run: String, _ error: SystemError) -> CommandError {
        .unable("cannot read the journal of the run `\(run)`: \(error.words)")
    }

    /// Reports the durations of the steps that succeeded, in the order of their ends.
    func readDurations(_ note: (_ step: String, Duration) -> Void) {
        JournalDurations.read(in: folder.descriptor, note)
    }

    /// Returns the starts of its hooks; nil if the journal does not have all, was changed or cannot be read.
    func hookStarts() -> Set<JournalHooks.Start>? { JournalHooks.read(in: folder.descriptor) }

    /// Truncates its journal to the last whole record.
    func recover() throws(SystemError) { try JournalRecovery.recover(in: folder.descriptor) }

    /// The size of its folder in bytes.
    var size: Int { folder.size() }
}

/// The results with which a resuming run begins.
struct ResumedRun {
    /// nil if everything runs.
    let results: PastResults?
    /// The message for the user; nil for none.
    let note: String?

    /// The message if there is no run to resume.
    static let nothing = "there is no run to resume: everything runs"

    private init(_ results: PastResults?, note: String?) {
        self.results = results
        self.note = note
    }
}

/// The workflow that is resumed, and the targets of the new run.
struct ResumeRequest {
    /// The id of the run to resume; nil for the last one with the same targets.
    let run: String?
    let targets: [String]
    /// The workflow's name in the state directory; nil for standard input.
    let workflow: String?
    /// The last run that had the workflow's lock; nil if unknown.
    let lastHolder: RunLock.Holder?
    /// The key of this run's digests; nil if there is none.
    let key: [UInt8]?
    /// As in `PastRecord`.
    let outputReads: Set<String>
}

extension ResumedRun {
    /// Returns the run to resume; nil if there is none. Throws if the named run cannot be resumed.
    static func find(_ request: ResumeRequest, in history: RunHistory) throws(CommandError) -> PastRun? {
        guard let id = request.run else {
            return try history.runs(of: request.workflow).first { $0.isLast(of: request.targets) }
        }
        let run = try history.run(id)
        if run == nil, let absence = try history.absence(of: id, lastHolder: request.lastHolder) {
            throw .failed("the run `\(id)` \(absence.words); `flowrun runs` lists those that can be resumed")
        }
        guard let run, run.header.workflow == request.workflow else {
            throw .failed("\(history.place) has no journal of a run `\(id)` of this file; `flowrun runs` lists them")
        }
        if run.isLive { throw CommandError(.inUse, ["the run `\(id)` is still alive"]) }
        return run
    }

    /// Reads the journal of the run to resume, and those of the chain of runs that it has resumed.
    init(_ past: PastRun?, _ request: ResumeRequest, in history: RunHistory) throws(CommandError) {
        let absence = try request.lastHolder.flatMap { last throws(CommandError) in try history.absence(of: last) }
        if request.run == nil, case .damaged? = absence, let last = request.lastHolder {
            self.init(
                nil, note: "the journal of the last run `\(last.run)` is damaged at its beginning: everything runs")
            return
        }
        guard let past else {
            self.init(nil, note: try Self.noRun(request, in: history))
            return
        }
        if let known = past.header.key, known != request.key.map({ CRC32C.digits(of: $0) }) {
            self.init(
                nil,
                note: "the key with which the run `\(past.run)` was recorded is damaged or gone: everything runs")
            return
        }
        var damage: String?
        var isWhole = true
        let results = try history.results(of: past, outputReads: request.outputReads) { run, place in
            isWhole = run.run != past.run
            damage =
                (place.map(run.words) ?? run.wordsOfLostHooks)
                + (isWhole ? ": what only it and earlier runs know of runs again" : ": everything runs")
        }
        // Nothing of the damaged run is restored, so the message names it only once.
        self.init(isWhole ? results : nil, note: damage ?? Self.omission(absence, before: past, request))
    }

    private static func noRun(_ request: ResumeRequest, in history: RunHistory) throws(CommandError) -> String {
        let other = try history.runs(of: request.workflow).first { $0.header.parent == nil && !$0.isLive }
        guard let other else { return nothing }
        return "there is no run of the same targets to resume, and everything runs; --resume=\(other.run) takes over "
            + "from the last one of others"
    }

    /// Returns the message if the last run has left no journal.
    private static func omission(
        _ absence: RunHistory.Absence?, before past: PastRun, _ request: ResumeRequest
    ) -> String? {
        guard request.run == nil, let last = request.lastHolder, case .unrecorded? = absence else { return nil }
        return "the last run `\(last.run)` left no journal; this resumes `\(past.run)`, from before it"
    }
}
