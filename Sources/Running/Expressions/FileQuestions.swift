internal import DequeModule
internal import Planning
internal import Processes

/// The questions that expressions ask about files, and their answers.
///
/// Reading files may take long, so an evaluation that asks ends without a value. The answer is found beside the event
/// loop, one at a time, and the evaluation begins once more. An answer counts for that one evaluation only, because
/// files change; it is shared only by evaluations that ask the same before the reading begins.
@EventLoopActor
final class FileQuestions {
    /// An evaluation that waits for an answer.
    private struct Evaluation {
        let job: Job
        var known: [PlacedQuestion: FileAnswer]
        let resume: @EventLoopActor () -> Void
    }

    private final class Job {
        let task: FileTask
        /// All rows that came to wait for it; some may be forgotten.
        var rows: [PlanIndex] = []
        /// The number of rows that still wait.
        var waitingCount = 0

        init(_ task: FileTask) { self.task = task }
    }

    private let fileReader: any FileReader
    /// At most one for each row.
    private var evaluations: [PlanIndex: Evaluation] = [:]
    private var current: Job?
    /// Jobs that have not begun, oldest first; some may be given up. Nil before the first question: Swift needs long
    /// to set up the first deque of a process, and few runs ask for files.
    private var queue: Deque<Job>?
    /// The same by question, without those given up.
    private var queued: [PlacedQuestion: Job] = [:]
    /// The answers that the current evaluation has, and the first question whose answer it lacks.
    private var known: [PlacedQuestion: FileAnswer] = [:]
    private var missing: PlacedQuestion?
    /// Answers found before the run, for all evaluations.
    private var foreseen: [PlacedQuestion: FileAnswer] = [:]

    init(_ fileReader: any FileReader) { self.fileReader = fileReader }

    /// True if the current evaluation lacks an answer.
    var isMissing: Bool { missing != nil }

    /// Returns the value of `body` for a row; nil if it has to be evaluated once more. Then the caller takes
    /// the question at once, and asks it; what `body` did does not count.
    func evaluate<Value>(for row: PlanIndex, _ body: @EventLoopActor () -> Value) -> Value? {
        // The last evaluation may have been given up, and its question not taken.
        missing = nil
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

    /// Returns the answer to a question; nil if it is still to be found.
    func answer(to question: PlacedQuestion) -> FileAnswer? {
        if let answer = known[question] ?? foreseen[question] { return answer }
        missing = missing ?? question
        return nil
    }

    /// Takes the question whose answer the last evaluation lacked; nil if it lacked none.
    func takeMissing() -> PlacedQuestion? { missing.take() }

    /// Finds the answer to a question during this call, for a run whose commands are only shown.
    func foresee(_ question: PlacedQuestion) {
        do throws(FileHash.ReadError) {
            foreseen[question] = try question.answer { false }.map { .success($0) }
        } catch {
            foreseen[question] = .failure(error)
        }
    }

    /// Finds the answer to a question and then calls `resume`, unless the row is forgotten before.
    func ask(_ question: PlacedQuestion, for row: PlanIndex, then resume: @escaping @EventLoopActor () -> Void) {
        // A job that has begun may have read files that have changed since.
        let job = queued[question] ?? enqueue(question)
        job.rows.append(row)
        job.waitingCount += 1
        evaluations[row] = Evaluation(job: job, known: evaluations[row]?.known ?? [:], resume: resume)
        beginNext()
    }

    private func enqueue(_ question: PlacedQuestion) -> Job {
        let job = Job(FileTask(question))
        queued[question] = job
        if queue == nil { queue = [] }
        queue?.append(job)
        return job
    }

    /// Ends the wait of a row, without waiting for the reading to end. Returns false if it did not wait. The caller
    /// calls `beginNext` once it has forgotten everything that is to be forgotten.
    @discardableResult
    func forget(_ row: PlanIndex) -> Bool {
        guard !evaluations.isEmpty, let job = evaluations.removeValue(forKey: row)?.job else { return false }
        job.waitingCount -= 1
        guard job.waitingCount == 0 else { return true }
        job.task.giveUp()
        if current === job { current = nil } else { queued[job.task.placed] = nil }
        return true
    }

    /// Begins the next job that a row waits for, unless one is under way.
    func beginNext() {
        while current == nil, let job = queue?.popFirst() {
            guard !job.task.isGivenUp else { continue }
            queued[job.task.placed] = nil
            current = job
            fileReader.begin(job.task) { [weak self] answer in self?.end(job, answer) }
        }
    }

    private func end(_ job: Job, _ answer: FileAnswer) {
        guard current === job else { return }
        current = nil
        beginNext()
        for row in job.rows where evaluations[row]?.job === job {
            evaluations[row]?.known[job.task.placed] = answer
            evaluations[row]?.resume()
        }
    }
}
