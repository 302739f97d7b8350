internal import Basics
internal import Platform
package import Processes

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

    /// nil if the task was given up.
    private nonisolated static func answer(_ task: FileTask) -> FileAnswer? {
        do throws(FileHash.ReadError) {
            return try task.question.answer(in: task.folder) { task.isGivenUp }.map { .success($0) }
        } catch {
            return .failure(error)
        }
    }
}
