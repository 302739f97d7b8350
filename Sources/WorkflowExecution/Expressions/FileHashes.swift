internal import DequeModule
internal import ProcessExecution
internal import WorkflowPlanning

/// What expressions know of the hashes of files, and the way to those that they do not know yet.
///
/// Reading files may take long, so an evaluation that asks for a hash ends without a value; the hash is made beside the
/// event loop, one at a time, and the evaluation begins once more. A hash counts for that one evaluation, because files
/// change; only those that ask for the same files before the reading begins share it.
@EventLoopActor
final class FileHashes {
    /// An evaluation that waits for a hash.
    private struct Evaluation {
        let job: Job
        var known: [[String]: FileHash.Answer]
        let resume: @EventLoopActor () -> Void
    }

    private final class Job {
        let task: HashTask
        /// Those that have come to wait for it, some of which may be forgotten.
        var rows: [PlanIndex] = []
        /// How many of them are not.
        var waitingCount = 0

        init(_ task: HashTask) { self.task = task }
    }

    private let hasher: any FileHasher
    private let folder: String
    /// At most one for each row.
    private var evaluations: [PlanIndex: Evaluation] = [:]
    private var current: Job?
    /// What has not begun, oldest first; some may be given up.
    private var queue: Deque<Job> = []
    /// The same by patterns, without what is given up.
    private var queued: [[String]: Job] = [:]
    /// What the evaluation that goes on now knows, and the first patterns whose hash it lacks.
    private var known: [[String]: FileHash.Answer] = [:]
    private var missing: [String]?

    init(_ hasher: any FileHasher, in folder: String) {
        self.hasher = hasher
        self.folder = folder
    }

    /// Whether the evaluation that goes on now lacks a hash.
    var isMissing: Bool { missing != nil }

    /// What `body` evaluates for a row. nil if it has to begin once more: then the caller calls `hash(for:then:)` at
    /// once, and what `body` did does not count.
    func evaluate<Value>(for row: PlanIndex, _ body: @EventLoopActor () -> Value) -> Value? {
        guard !evaluations.isEmpty else {
            let value = body()
            return missing == nil ? value : nil
        }
        known = evaluations[row]?.known ?? [:]
        let value = body()
        known = [:]
        guard missing == nil else { return nil }
        evaluations[row] = nil
        return value
    }

    /// The hash over all files that match; nil if it is still to be made.
    func answer(for patterns: [String]) -> FileHash.Answer? {
        if let answer = known[patterns] { return answer }
        missing = missing ?? patterns
        return nil
    }

    /// Makes what the last evaluation lacked and then calls `resume`, unless the row is forgotten before.
    func hash(for row: PlanIndex, then resume: @escaping @EventLoopActor () -> Void) {
        guard let patterns = missing.take() else { preconditionFailure("row \(row) lacks no hash") }
        // One that has begun may have read what has changed since.
        let job = queued[patterns] ?? enqueue(patterns)
        job.rows.append(row)
        job.waitingCount += 1
        evaluations[row] = Evaluation(job: job, known: evaluations[row]?.known ?? [:], resume: resume)
        beginNext()
    }

    private func enqueue(_ patterns: [String]) -> Job {
        let job = Job(HashTask(patterns, in: folder))
        queued[patterns] = job
        queue.append(job)
        return job
    }

    /// Ends the wait of a row, without waiting for whoever reads the files. Returns false if it did not wait. The caller
    /// sees to `beginNext`, once it has forgotten all that is to be forgotten.
    @discardableResult
    func forget(_ row: PlanIndex) -> Bool {
        guard !evaluations.isEmpty, let job = evaluations.removeValue(forKey: row)?.job else { return false }
        job.waitingCount -= 1
        guard job.waitingCount == 0 else { return true }
        job.task.giveUp()
        if current === job { current = nil } else { queued[job.task.patterns] = nil }
        return true
    }

    /// Begins the next hash that somebody waits for, unless one is under way.
    func beginNext() {
        while current == nil, let job = queue.popFirst() {
            guard !job.task.isGivenUp else { continue }
            queued[job.task.patterns] = nil
            current = job
            hasher.begin(job.task) { [weak self] answer in self?.end(job, answer) }
        }
    }

    private func end(_ job: Job, _ answer: FileHash.Answer) {
        guard current === job else { return }
        current = nil
        beginNext()
        for row in job.rows where evaluations[row]?.job === job {
            evaluations[row]?.known[job.task.patterns] = answer
            evaluations[row]?.resume()
        }
    }
}
