/// The listeners to the progress of an operation or a queue, whose lock guards them.
struct ProgressListeners: Sendable {
    typealias Listener = AsyncStream<OperationProgress>.Continuation

    private var listeners: [AsyncOperationID: Listener] = [:]
    private var last: OperationProgress?

    var isEmpty: Bool { listeners.isEmpty }

    /// Reports `progress` to all listeners if it has changed. Inlined, because usually there are no listeners.
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

    /// Returns the listener, to be released outside the lock.
    mutating func remove(_ id: AsyncOperationID) -> Listener? { listeners.removeValue(forKey: id) }

    /// Removes all listeners and returns them, so that their streams can be finished outside the lock.
    mutating func removeAll() -> ProgressListeners {
        defer { listeners = [:] }
        return self
    }

    /// Finishes the streams. Must be called outside all locks, because it runs user code.
    func finish() {
        for listener in listeners.values { listener.finish() }
    }

    /// Creates a stream that keeps its newest value. `add` yields the current value and returns true if it is the
    /// last; `remove` is called when the stream terminates.
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

/// The number of parts of an operation or a queue that are done.
public struct OperationProgress: Sendable, Hashable {
    /// The parts that have ended, whatever their outcome.
    public var completed: Int
    /// All parts known so far; the number may grow.
    public var total: Int

    /// Creates a progress of `completed` parts of `total`.
    public init(completed: Int, total: Int) {
        self.completed = completed
        self.total = total
    }
}

extension OperationProgress: CustomStringConvertible {
    /// The number of ended parts and of all parts, such as `2 of 5`.
    public var description: String { "\(completed) of \(total)" }
}
