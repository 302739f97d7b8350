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
        let number: Int
        var known: [[String]: FileHash.Answer]
        let resume: @EventLoopActor () -> Void
    }

    private struct Job {
        let task: HashTask
        var waiting: [(row: PlanIndex, number: Int)]
    }

    private let hasher: any FileHasher
    private let folder: String
    /// At most one for each row.
    private var evaluations: [PlanIndex: Evaluation] = [:]
    private var lastNumber = 0
    /// The first one is under way.
    private var jobs: [Job] = []
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
        lastNumber += 1
        evaluations[row] = Evaluation(
            number: lastNumber, known: evaluations[row]?.known ?? [:], resume: resume)
        // One that has begun may have read what has changed since.
        if let job = jobs.indices.dropFirst().first(where: { jobs[$0].task.patterns == patterns }) {
            jobs[job].waiting.append((row, lastNumber))
            return
        }
        jobs.append(Job(task: HashTask(patterns, in: folder), waiting: [(row, lastNumber)]))
        if jobs.count == 1 { beginFirst() }
    }

    /// Ends the wait of a row, without waiting for whoever reads the files. Returns false if it did not wait.
    @discardableResult
    func forget(_ row: PlanIndex) -> Bool {
        guard !evaluations.isEmpty, let evaluation = evaluations.removeValue(forKey: row) else { return false }
        for index in jobs.indices {
            jobs[index].waiting.removeAll { $0.number == evaluation.number }
            guard jobs[index].waiting.isEmpty else { continue }
            jobs.remove(at: index).task.giveUp()
            if index == 0 { beginFirst() }
            break
        }
        return true
    }

    private func beginFirst() {
        guard let task = jobs.first?.task else { return }
        hasher.begin(task) { [weak self] answer in self?.end(task, answer) }
    }

    private func end(_ task: HashTask, _ answer: FileHash.Answer) {
        guard jobs.first?.task === task else { return }
        let job = jobs.removeFirst()
        beginFirst()
        for (row, number) in job.waiting where evaluations[row]?.number == number {
            evaluations[row]?.known[task.patterns] = answer
            evaluations[row]?.resume()
        }
    }
}
