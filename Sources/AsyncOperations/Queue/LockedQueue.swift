/// A queue whose lock the caller holds, for those who read several queues and must not lock this one again.
///
/// The state is a copy that shares all arrays, and only for reading.
struct LockedQueue {
    let queue: QueueCore
    let state: QueueCore.State
    let joining: Joining?

    init(_ queue: QueueCore, _ state: QueueCore.State, joining: Joining? = nil) {
        self.queue = queue
        self.state = state
        self.joining = joining
    }
}

/// Operations that are about to join a queue, or a compound operation in it.
struct Joining: Sendable {
    let cores: [OperationCore]
    /// nil for the queue itself.
    let parent: CompoundCore?

    func contains(_ core: OperationCore) -> Bool { cores.contains { $0 === core } }
}
