internal import Basics
internal import Platform
package import Processes
internal import Synchronization

/// Reads files away from the event loop: on a thread, or in tests on demand.
@EventLoopActor
package protocol FileReader: AnyObject {
    /// Begins to read. Calls `done` once, on the event loop and never during this call; perhaps never, or too late, if
    /// the task is given up.
    func begin(_ task: FileTask, _ done: @escaping @EventLoopActor (FileAnswer) -> Void)
}

/// One question to be answered.
package final class FileTask: Sendable {
    let placed: PlacedQuestion
    package var question: FileQuestion { placed.question }
    private let givenUp = Atomic(false)

    init(_ placed: PlacedQuestion) { self.placed = placed }

    /// True if the answer is no longer waited for. From any thread.
    package var isGivenUp: Bool { givenUp.load(ordering: .relaxed) }

    /// Lets the reading stop at the next file or block. Never waits.
    func giveUp() { givenUp.store(true, ordering: .relaxed) }
}

/// Answers each question on a thread of its own, which ends with it.
@EventLoopActor
package final class FileThread: FileReader {
    package nonisolated init() {}

    package func begin(_ task: FileTask, _ done: @escaping @EventLoopActor (FileAnswer) -> Void) {
        do throws(Platform.NoThreadError) {
            try Platform.startThread {
                guard let answer = Self.answer(task) else { return }
                Task { @EventLoopActor in done(answer) }
            }
        } catch {
            let reason = "no thread to read it, \(SystemError(error.number).words)"
            let answer = FileHash.ReadError(path: task.question.patterns.joined(separator: ", "), reason: reason)
            // Never during this call.
            Task { @EventLoopActor in done(.failure(answer)) }
        }
    }

    /// Returns nil if the task was given up.
    private nonisolated static func answer(_ task: FileTask) -> FileAnswer? {
        do throws(FileHash.ReadError) {
            return try task.placed.answer { task.isGivenUp }.map { .success($0) }
        } catch {
            return .failure(error)
        }
    }
}
