internal import Basics
internal import RunControl
internal import RunJournal
internal import WorkflowExecution

/// What a run that resumes begins with.
struct ResumedRun {
    /// nil if everything runs.
    let results: PastResults?
    /// What is to be told of it; nil for nothing.
    let note: String?

    /// What is told where there is none.
    static let nothing = "there is no run to resume: everything runs"

    private init(_ results: PastResults?, note: String?) {
        self.results = results
        self.note = note
    }
}

/// Who resumes, and what.
struct ResumeRequest {
    /// The run that is to be resumed; nil for the last one of the same targets.
    let run: String?
    let targets: [String]
    /// The workflow's name in the state directory; nil for standard input.
    let workflow: String?
    /// The run that was the last one to have the workflow's lock; nil where that is not known.
    let lastHolder: String?
    /// What the digests of this run are made with; nil where there is no key.
    let key: [UInt8]?
}

extension ResumedRun {
    /// The run that is to be resumed; nil if there is none. Throws where the one that is named cannot be.
    static func find(_ request: ResumeRequest, in history: RunHistory) throws(CommandError) -> PastRun? {
        guard let id = request.run else {
            return try history.runs(of: request.workflow).first { $0.isLast(of: request.targets) }
        }
        guard let run = try history.run(id), run.header.workflow == request.workflow else {
            throw .failed("\(history.place) has no journal of a run `\(id)` of this file; `flowrun runs` lists them")
        }
        if run.isLive { throw CommandError(.inUse, ["the run `\(id)` is still alive"]) }
        return run
    }

    /// What a run that was found has left. Reads its journal and those of the runs that it has resumed itself.
    init(_ past: PastRun?, _ request: ResumeRequest, in history: RunHistory) throws(CommandError) {
        if request.run == nil, let last = request.lastHolder, history.isUnknowable(last) {
            self.init(nil, note: "the journal of the last run `\(last)` is damaged at its beginning: everything runs")
            return
        }
        guard let past else {
            self.init(nil, note: try Self.absence(request, in: history))
            return
        }
        if let known = past.header.key, known != request.key.map({ CRC32C.digits(of: $0) }) {
            self.init(
                nil,
                note: "the key with which the run `\(past.run)` was recorded is damaged or gone: everything runs")
            return
        }
        let chain = try history.chain(of: past)
        var results: PastResults?
        var damage: String?
        var isWhole = true
        do throws(SystemError) {
            results = try PastResults(chain) { run, place in
                isWhole = run.run != past.run
                damage = run.words(of: place) + (isWhole ? ": what only it knows of runs again" : ": everything runs")
            }
        } catch {
            throw past.unreadable(error)
        }
        // Nothing rests on a run of which nothing counts, and so it is told of once.
        if !isWhole { results = nil }
        let omission = try Self.omission(before: past, request, in: history)
        self.init(results, note: damage ?? omission)
    }

    private static func absence(_ request: ResumeRequest, in history: RunHistory) throws(CommandError) -> String {
        let other = try history.runs(of: request.workflow).first { $0.header.parent == nil && !$0.isLive }
        guard let other else { return nothing }
        return "there is no run of the same targets to resume, and everything runs; --resume=\(other.run) takes over "
            + "from the last one of others"
    }

    /// What the last run would have told, had it left a journal.
    private static func omission(
        before past: PastRun, _ request: ResumeRequest, in history: RunHistory
    ) throws(CommandError) -> String? {
        guard request.run == nil, let last = request.lastHolder, try history.run(last) == nil else { return nil }
        return "the last run `\(last)` left no journal; this resumes `\(past.run)`, from before it"
    }
}
