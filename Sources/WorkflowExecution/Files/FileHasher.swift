package import ProcessExecution
internal import Synchronization

/// Makes hashes away from the event loop: on a thread, or in tests when the test says.
@EventLoopActor
package protocol FileHasher: AnyObject {
    /// Begins a hash. Calls `done` once, on the event loop and never during this call; perhaps never, or too late, if the
    /// task is given up.
    func begin(_ task: HashTask, _ done: @escaping @EventLoopActor (FileHash.Answer) -> Void)
}

/// One hash that is to be made.
package final class HashTask: Sendable {
    package let patterns: [String]
    /// What relative patterns are relative to.
    package let folder: String
    private let givenUp = Atomic(false)

    init(_ patterns: [String], in folder: String) {
        self.patterns = patterns
        self.folder = folder
    }

    /// Whether nobody waits for the hash any more. From any thread.
    package var isGivenUp: Bool { givenUp.load(ordering: .relaxed) }

    /// Lets whoever makes the hash stop at the next file or block. Never waits.
    func giveUp() { givenUp.store(true, ordering: .relaxed) }
}
