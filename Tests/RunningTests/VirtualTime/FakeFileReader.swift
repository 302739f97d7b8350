import Processes
import Workflow

@testable import Running

/// Hashes files that do not exist, in virtual time.
@EventLoopActor
final class FakeFileReader: FileReader {
    private let clock: VirtualClock
    /// How long one hash takes.
    var duration = Duration.seconds(10)
    /// What is wrong with a file; nil makes the hash of `a` and `b` be `#a+b`.
    var error: FileHash.ReadError?
    /// Those that have begun, in order.
    private(set) var tasks: [FileTask] = []

    init(_ clock: VirtualClock) { self.clock = clock }

    var patterns: [[String]] { tasks.map(\.question.patterns) }
    var givenUp: [[String]] { tasks.filter(\.isGivenUp).map(\.question.patterns) }

    // A task that is given up is answered all the same, too late.
    func begin(_ task: FileTask, _ done: @escaping @EventLoopActor (FileAnswer) -> Void) {
        tasks.append(task)
        let answer =
            error.map(FileAnswer.failure) ?? .success(.string("#\(task.question.patterns.joined(separator: "+"))"))
        clock.after(duration) { done(answer) }
    }
}
