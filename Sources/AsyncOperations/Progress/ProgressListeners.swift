/// Who wants to know of the progress of an operation or a queue. Guarded by the lock of that.
struct ProgressListeners: Sendable {
    typealias Listener = AsyncStream<OperationProgress>.Continuation

    private var listeners: [AsyncOperationID: Listener] = [:]
    private var last: OperationProgress?

    var isEmpty: Bool { listeners.isEmpty }

    /// Tells all of `progress`, if it is news.
    mutating func tell(_ progress: OperationProgress) {
        guard !listeners.isEmpty, progress != last else { return }
        last = progress
        for listener in listeners.values { listener.yield(progress) }
    }

    /// Adds one that knows of `present`.
    mutating func add(_ listener: Listener, as id: AsyncOperationID, knowing present: OperationProgress) {
        tell(present)
        last = present
        listeners[id] = listener
    }

    /// Returns the listener, which is to be freed outside the lock.
    mutating func remove(_ id: AsyncOperationID) -> Listener? { listeners.removeValue(forKey: id) }

    /// Forgets all listeners, which are to be told outside the lock that nothing more will come.
    mutating func removeAll() -> ProgressListeners {
        defer { listeners = [:] }
        return self
    }

    /// Outside all locks, because it runs somebody's code.
    func finish() {
        for listener in listeners.values { listener.finish() }
    }

    /// A stream that keeps its newest value. `add` gives it the present one and returns whether nothing more will come;
    /// `remove` is called when nobody reads it any more.
    static func stream(
        add: (Listener, AsyncOperationID) -> Bool, remove: @escaping @Sendable (AsyncOperationID) -> Void
    ) -> AsyncStream<OperationProgress> {
        let (stream, listener) = AsyncStream.makeStream(
            of: OperationProgress.self, bufferingPolicy: .bufferingNewest(1))
        let id = AsyncOperationID()
        listener.onTermination = { _ in remove(id) }
        if add(listener, id) { listener.finish() }
        return stream
    }
}
