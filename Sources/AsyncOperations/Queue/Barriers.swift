/// The barriers of a queue, as far as they may not have ended. What is added later waits for each of them, not only for
/// the last: a barrier that is cancelled ends before those that it waits for.
struct Barriers {
    /// Weak, so that the operation is not freed under the lock. Unchecked: nothing changes it.
    private final class Barrier: @unchecked Sendable {
        private(set) weak var core: OperationCore?
        init(_ core: OperationCore) { self.core = core }
    }

    private var all: [Barrier] = []

    var isEmpty: Bool { all.isEmpty }

    /// In the order in which they were added.
    var cores: [OperationCore] { all.compactMap(\.core) }

    mutating func append(_ core: OperationCore) { all.append(Barrier(core)) }

    mutating func forgetEnded() { all.removeAll { $0.core?.isFinished ?? true } }
}
