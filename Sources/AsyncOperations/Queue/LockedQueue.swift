/// A queue whose lock the caller holds, for those who read several queues and must not lock this one again.
///
/// The state is a copy that shares all arrays, and only for reading.
struct LockedQueue {
    let queue: QueueCore
    let state: QueueCore.State

    init(_ queue: QueueCore, _ state: QueueCore.State) {
        self.queue = queue
        self.state = state
    }
}
