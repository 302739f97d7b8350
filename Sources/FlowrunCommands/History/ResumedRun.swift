internal import Basics
internal import RunLog
internal import Running

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
                run.words(of: place)
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

/// The steps that a run would restore, as far as known before it starts.
struct ExpectedResume {
    /// nil if there is none to resume.
    let run: String?
    /// The warnings that such a run would show.
    let notes: [String]
    /// By id.
    let steps: [String: ResumeForecast]
}
