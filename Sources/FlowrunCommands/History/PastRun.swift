internal import Basics
internal import RunControl
internal import RunEvents
internal import RunJournal

/// One run that has a journal in a state directory.
struct PastRun: Sendable {
    /// The word for a run that was killed before its end.
    static let interrupted = "interrupted"

    enum State: Sendable {
        case live
        /// It was killed before it came to its end.
        case interrupted
        case ended(JournalEnd)
    }

    let header: JournalHeader
    let state: State
    /// When its journal changed last, on the clock of the file system.
    let lastChange: Duration
    private let folder: StateDirectory

    /// nil if the run has no journal, or one that does not even begin as one.
    init?(_ run: String, in directory: StateDirectory) {
        guard let folder = directory.runFolder(run), let reader = JournalReader(in: folder.descriptor),
            reader.header.run == run
        else { return nil }
        self.folder = folder
        header = reader.header
        // In this order: a run that ends meanwhile has ended.
        let isLive = reader.isLive
        state = JournalEnd(in: folder.descriptor).map(State.ended) ?? (isLive ? .live : .interrupted)
        lastChange = folder.lastChange(of: JournalWriter.fileName)
    }

    var run: String { header.run }

    var isLive: Bool { if case .live = state { true } else { false } }

    /// In one word: the outcome, `running` or `interrupted`.
    var word: String {
        switch state {
        case .live: "running"
        case .interrupted: Self.interrupted
        case .ended(let end): end.outcome.rawValue
        }
    }

    /// Its journal from the start; nil if that is gone meanwhile.
    func journal() -> JournalReader? { JournalReader(in: folder.descriptor) }

    /// Cuts its journal back to the last whole record.
    func recover() throws(SystemError) { try JournalRecovery.recover(in: folder.descriptor) }

    /// How many bytes its folder takes.
    var size: Int { folder.size() }
}
