package import Processes
internal import Synchronization

/// Reads files away from the event loop: on a thread, or in tests when the test says.
@EventLoopActor
package protocol FileReader: AnyObject {
    /// Begins to read. Calls `done` once, on the event loop and never during this call; perhaps never, or too late, if
    /// the task is given up.
    func begin(_ task: FileTask, _ done: @escaping @EventLoopActor (FileAnswer) -> Void)
}

/// One question whose answer is to be found.
package final class FileTask: Sendable {
    package let question: FileQuestion
    /// What relative patterns are relative to.
    package let folder: String
    private let givenUp = Atomic(false)

    init(_ question: FileQuestion, in folder: String) {
        self.question = question
        self.folder = folder
    }

    /// Whether nobody waits for the answer any more. From any thread.
    package var isGivenUp: Bool { givenUp.load(ordering: .relaxed) }

    /// Lets whoever reads stop at the next file or block. Never waits.
    func giveUp() { givenUp.store(true, ordering: .relaxed) }
}
