import AsyncOperations

/// Hears all events of a queue and says what is wrong with them, if anything.
struct EventListener {
    private enum Phase {
        case added
        case started(attempt: Int)
        case finished
    }

    private var next: UInt64?
    private var phases: [AsyncOperationID: Phase] = [:]

    /// Listens until the stream ends, which it has to do after the last operation has ended.
    static func problem(with events: AsyncStream<AsyncOperationQueue.Event>) async -> String? {
        var listener = EventListener()
        for await event in events {
            if let problem = listener.hear(event) { return "event \(event.sequence): \(problem)" }
        }
        let unfinished = listener.phases.count { if case .finished = $0.value { false } else { true } }
        return unfinished == 0 ? nil : "the events ended before \(unfinished) operations"
    }

    private mutating func hear(_ event: AsyncOperationQueue.Event) -> String? {
        if let next, event.sequence != next { return "is not \(next)" }
        next = event.sequence + 1
        guard let phase = phases[event.id] else {
            if case .added = event.kind { phases[event.id] = .added }
            return nil
        }
        switch (event.kind, phase) {
        case (_, .finished): return "\(event.kind) after the end"
        case (.added, _): return "added twice"
        // One that was stopped before its start is left out.
        case (.started(let attempt), .started(let last)) where attempt <= last:
            return "attempt \(attempt) after \(last)"
        case (.started(let attempt), _): phases[event.id] = .started(attempt: attempt)
        case (.finished, _): phases[event.id] = .finished
        default: break
        }
        return nil
    }
}
