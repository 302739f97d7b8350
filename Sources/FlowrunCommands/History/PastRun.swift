internal import Basics
internal import RunLog

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

    /// True if it can be the last run for these targets: it is over, and was not started by a step of another run.
    func isLast(of targets: [String]) -> Bool {
        header.parent == nil && Set(header.targets) == Set(targets) && !isLive
    }

    var isLive: Bool { if case .live = state { true } else { false } }

    /// Opens its journal at the start; nil if that is gone meanwhile.
    func journal() throws(SystemError) -> JournalReader? { try JournalReader(in: folder.descriptor) }

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

    func unreadable(_ error: SystemError) -> CommandError { Self.unreadable(run, error) }

    static func unreadable(_ run: String, _ error: SystemError) -> CommandError {
        .unable("cannot read the journal of the run `\(run)`: \(error.words)")
    }

    /// Reports the durations of the steps that succeeded, in the order of their ends.
    func readDurations(_ note: (_ step: String, Duration) -> Void) {
        JournalDurations.read(in: folder.descriptor, note)
    }

    /// Truncates its journal to the last whole record.
    func recover() throws(SystemError) { try JournalRecovery.recover(in: folder.descriptor) }

    /// The size of its folder in bytes.
    var size: Int { folder.size() }
}
