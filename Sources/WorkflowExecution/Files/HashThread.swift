internal import Basics
internal import Platform
package import ProcessExecution

/// Makes each hash on a thread of its own, which ends with it.
@EventLoopActor
package final class HashThread: FileHasher {
    package nonisolated init() {}

    package func begin(_ task: HashTask, _ done: @escaping @EventLoopActor (FileHash.Answer) -> Void) {
        do throws(Platform.NoThreadError) {
            try Platform.startThread {
                guard let answer = Self.answer(task) else { return }
                Task { @EventLoopActor in done(answer) }
            }
        } catch {
            let reason = "no thread to read it, \(SystemError(error.number).words)"
            let answer = FileHash.ReadError(path: task.patterns.joined(separator: ", "), reason: reason)
            // Never during this call.
            Task { @EventLoopActor in done(.failure(answer)) }
        }
    }

    /// nil if the task was given up.
    private nonisolated static func answer(_ task: HashTask) -> FileHash.Answer? {
        do throws(FileHash.ReadError) {
            return try FileHash.hash(task.patterns, in: task.folder) { task.isGivenUp }.map { .success($0) }
        } catch {
            return .failure(error)
        }
    }
}
