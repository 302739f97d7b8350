internal import Basics
internal import RunLog

/// One run that has a journal in a state directory.
struct PastRun: Sendable {
    enum State: Sendable {
        case live
        /// It was killed before it came to its end.
        case interrupted
        case ended(JournalEnd)

        /// nil before the run's own end.
        var end: JournalEnd? { if case .ended(let end) = self { end } else { nil } }

        /// In one word: the outcome, `running` or `interrupted`.
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
    /// Whether a process held its journal when this value was made: it lives, or is about to end.
    let isHeld: Bool
    private let folder: StateDirectory

    /// nil if the run has no journal, or one that does not even begin as one. Throws where it cannot be read.
    init?(_ run: String, in directory: StateDirectory) throws(SystemError) {
        guard let folder = directory.runFolder(run), let reader = try JournalReader(in: folder.descriptor),
            reader.header.run == run
        else { return nil }
        self.folder = folder
        header = reader.header
        isHeld = reader.isLive
    }

    var run: String { header.run }

    /// A journal whose end cannot be read counts as one that has none.
    var state: State { (try? readState()) ?? stateWithoutEnd }

    /// Reads the end of the journal, and so comes after the look at who holds it: a run that ends meanwhile has ended.
    func readState() throws(SystemError) -> State {
        try JournalEnd(in: folder.descriptor).map(State.ended) ?? stateWithoutEnd
    }

    private var stateWithoutEnd: State { isHeld ? .live : .interrupted }

    /// The run that it resumes, as long as what that one has left still counts: this one was stopped before it had come to
    /// all of it, or was asked for a part only.
    var base: String? {
        if header.targets.isEmpty, let end = state.end, end.counts[.cancelled] == 0 { return nil }
        return header.resumes
    }

    /// Whether it began before another one. The clock decides only between runs of a version that did not count them.
    func began(before other: PastRun) -> Bool {
        (header.number, header.time, run) < (other.header.number, other.header.time, other.run)
    }

    /// Whether it can be the last run of those who ask for one with these targets: it is over, and no step of another run
    /// has started it.
    func isLast(of targets: [String]) -> Bool {
        header.parent == nil && Set(header.targets) == Set(targets) && !isLive
    }

    var isLive: Bool { if case .live = state { true } else { false } }

    /// Its journal from the start; nil if that is gone meanwhile.
    func journal() throws(SystemError) -> JournalReader? { try JournalReader(in: folder.descriptor) }

    /// The same for a command that is about this run.
    func openJournal() throws(CommandError) -> JournalReader {
        let journal: JournalReader?
        do throws(SystemError) { journal = try self.journal() } catch { throw unreadable(error) }
        guard let journal else { throw .failed("the journal of the run `\(run)` is gone") }
        return journal
    }

    /// Reads a piece of a step's output; nil if it has changed or is gone.
    func output(_ piece: OutputPiece) -> [UInt8]? { piece.bytes(in: folder.descriptor) }

    /// Where its journal was changed.
    func words(of damage: JournalDamage) -> String {
        "the journal of the run `\(run)` is damaged at byte \(damage.offset) (line \(damage.line) of "
            + "`\(folder.path)/\(JournalWriter.fileName)`)"
    }

    func unreadable(_ error: SystemError) -> CommandError { Self.unreadable(run, error) }

    static func unreadable(_ run: String, _ error: SystemError) -> CommandError {
        .unable("cannot read the journal of the run `\(run)`: \(error.words)")
    }

    /// How long its steps took, those that succeeded, in the order of their ends.
    func readDurations(_ note: (_ step: String, Duration) -> Void) {
        JournalDurations.read(in: folder.descriptor, note)
    }

    /// Cuts its journal back to the last whole record.
    func recover() throws(SystemError) { try JournalRecovery.recover(in: folder.descriptor) }

    /// How many bytes its folder takes.
    var size: Int { folder.size() }
}
