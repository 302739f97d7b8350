import ProcessExecution

@testable import WorkflowExecution

/// Hashes files that do not exist, in virtual time.
@EventLoopActor
final class FakeHasher: FileHasher {
    private let clock: VirtualClock
    /// How long one hash takes.
    var duration = Duration.seconds(10)
    /// What is wrong with a file; nil makes the hash of `a` and `b` be `#a+b`.
    var error: FileHash.ReadError?
    /// Those that have begun, in order.
    private(set) var tasks: [HashTask] = []

    init(_ clock: VirtualClock) { self.clock = clock }

    var patterns: [[String]] { tasks.map(\.patterns) }
    var givenUp: [[String]] { tasks.filter(\.isGivenUp).map(\.patterns) }

    // A task that is given up is answered all the same, too late.
    func begin(_ task: HashTask, _ done: @escaping @EventLoopActor (FileHash.Answer) -> Void) {
        tasks.append(task)
        let answer = error.map(FileHash.Answer.failure) ?? .success("#\(task.patterns.joined(separator: "+"))")
        clock.after(duration) { done(answer) }
    }
}
