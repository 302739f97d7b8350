/// What a compound operation knows of its members. Guarded by its core; from the moment that a queue has it, changed
/// under the lock of the queue too.
struct Members: Sendable {
    /// In the order in which they were added.
    var handles: [AnyAsyncOperation] = []
    /// In the order in which they ended.
    var reports: [ChildReport] = []
    /// Those that the queue has and that have not ended.
    var unfinished = 0
    /// Set once a queue has it: further members go there too.
    var queue: QueueCore?
    /// Whether it takes no more, because the last one has ended or it was stopped.
    var isClosed = false
}
