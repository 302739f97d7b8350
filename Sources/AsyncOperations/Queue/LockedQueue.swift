/// A queue whose lock the caller holds, for those who read several queues and must not lock this one again.
///
/// The state is a copy that shares all arrays, and only for reading.
struct LockedQueue {
    let queue: QueueCore
    let state: QueueCore.State
    /// Members that `parent` is about to get.
    let joining: (cores: [OperationCore], parent: CompoundCore)?

    init(
        _ queue: QueueCore, _ state: QueueCore.State,
        joining: (cores: [OperationCore], parent: CompoundCore)? = nil
    ) {
        self.queue = queue
        self.state = state
        self.joining = joining
    }
}
