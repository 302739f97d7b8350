/// Who listens to the progress of an operation or a queue, whose lock guards it.
struct ProgressListeners: Sendable {
    typealias Listener = AsyncStream<OperationProgress>.Continuation

    private var listeners: [AsyncOperationID: Listener] = [:]
    private var last: OperationProgress?

    var isEmpty: Bool { listeners.isEmpty }

    /// Tells all listeners, if `progress` is news. Inlined, because usually nobody listens.
    @inline(__always)
    mutating func tell(_ progress: OperationProgress) {
        guard !listeners.isEmpty, progress != last else { return }
        last = progress
        for listener in listeners.values { listener.yield(progress) }
    }

    /// Adds a listener that knows the current progress.
    mutating func add(_ listener: Listener, as id: AsyncOperationID, knowing present: OperationProgress) {
        tell(present)
        last = present
        listeners[id] = listener
    }

    /// Returns the listener, which is to be freed outside the lock.
    mutating func remove(_ id: AsyncOperationID) -> Listener? { listeners.removeValue(forKey: id) }

    /// Removes all listeners, and returns them so that their streams can be finished outside the lock.
    mutating func removeAll() -> ProgressListeners {
        defer { listeners = [:] }
        return self
    }

    /// Finishes the streams. Outside all locks, because it runs user code.
    func finish() {
        for listener in listeners.values { listener.finish() }
    }

    /// A stream that keeps its newest value. `add` yields the current one and returns whether it is the last; `remove`
    /// is called when nobody reads the stream any more.
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
