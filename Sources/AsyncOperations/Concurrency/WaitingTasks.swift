/// Tasks that wait for the same event. Usually there is only one, which needs no table.
struct WaitingTasks {
    typealias Continuation = UnsafeContinuation<Bool, Never>

    private var lastTicket: UInt64 = 0
    private var first: (ticket: UInt64, task: Continuation)?
    private var others: [UInt64: Continuation] = [:]

    /// Returns the identity of a new waiting task.
    mutating func makeTicket() -> UInt64 {
        lastTicket += 1
        return lastTicket
    }

    mutating func add(_ task: Continuation, as ticket: UInt64) {
        if first == nil { first = (ticket, task) } else { others[ticket] = task }
    }

    mutating func remove(_ ticket: UInt64) -> Continuation? {
        guard first?.ticket == ticket else { return others.removeValue(forKey: ticket) }
        defer { first = nil }
        return first?.task
    }

    /// Removes all tasks and returns them, to be woken outside all locks.
    mutating func takeAll() -> WaitingTasks {
        defer {
            first = nil
            if !others.isEmpty { others = [:] }
        }
        return self
    }

    func wake() {
        first?.task.resume(returning: true)
        for task in others.values { task.resume(returning: true) }
    }
}
