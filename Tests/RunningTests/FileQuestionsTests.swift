import FlowrunTestSupport
import Glibc
import Planning
import Processes
import RunLog
import Testing
import Workflow

@testable import Running

/// What tens of thousands of hashes cost the event loop.
@Suite(.timeLimit(.minutes(20))) struct FileQuestionsTests {
    init() { EventLoopThread.ensureRunning() }

    /// Answers when it is told to.
    private final class Hasher: FileReader {
        var begun: [(task: FileTask, done: @EventLoopActor (FileAnswer) -> Void)] = []

        func begin(_ task: FileTask, _ done: @escaping @EventLoopActor (FileAnswer) -> Void) {
            begun.append((task, done))
        }
    }

    /// Processor time of this thread, so that nothing else counts on a busy machine.
    private func cost(_ body: () -> Void) -> Double {
        func time() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
        }
        let start = time()
        body()
        return time() - start
    }

    /// Lets `count` rows wait, each for files of its own; half of them are answered, the others forgotten.
    @EventLoopActor private func answerAndForget(_ count: Int) {
        let fileReader = Hasher()
        let hashes = FileQuestions(fileReader)
        var resumed = 0
        for number in 1...count {
            let row = PlanIndex(number)
            func ask() {
                let question = PlacedQuestion(.hash(["file \(number)"]), in: ".")
                if hashes.evaluate(for: row, { hashes.answer(to: question) }) == nil {
                    if let question = hashes.takeMissing() { hashes.ask(question, for: row) { ask() } }
                } else {
                    resumed += 1
                }
            }
            ask()
        }
        for number in 0..<count / 2 { fileReader.begun[number].done(.success(.string(""))) }
        for number in count / 2..<count { #expect(hashes.forget(PlanIndex(number + 1))) }
        #expect(resumed == count / 2)
    }

    @Test @EventLoopActor func `a question that is not asked after all is no concern of the next evaluation`() {
        let questions = FileQuestions(Hasher())
        let question = PlacedQuestion(.hash(["a"]), in: ".")
        let given: Void? = questions.evaluate(for: PlanIndex(1)) { _ = questions.answer(to: question) }
        #expect(given == nil)
        questions.forget(PlanIndex(1))
        #expect(questions.evaluate(for: PlanIndex(2)) { 7 } == 7)
    }

    @Test @EventLoopActor func `waiting for sixteen times as many hashes costs about sixteen times as much`() {
        let few = cost { answerAndForget(1_000) }
        let many = cost { answerAndForget(16_000) }
        // With work for every pair it is 256.
        #expect(many < 80 * few)
    }

    @Test @EventLoopActor func `a signal begins none of twenty thousand hashes that wait`() throws {
        let steps = (0..<20_000).map { "  s\($0): { if: \"hashFiles('\($0)') == ''\", run: \"true\" }\n" }.joined()
        let run = try VirtualRun("steps:\n" + steps)
        run.at(.seconds(3)) { run.runner.interrupt(by: SIGINT) }
        try run.run()
        #expect(run.fileReader.givenUp == [["0"]])
        #expect(run.end?.cancelled.count == 20_000)
        #expect(run.clock.elapsed == .seconds(3))
    }
}
