/// The clocks that measure operations and groups.
struct Clocks: Sendable {
    /// The clock of operations: what `handle` is told, never going back.
    private(set) var now = Duration.zero
    /// The length of all suspensions that have ended.
    private var suspended = Duration.zero
    private var suspendedSince: Duration?

    /// The clock of groups: stands still while suspended.
    var groupNow: Duration { (suspendedSince ?? now) - suspended }

    var isSuspended: Bool { suspendedSince != nil }

    mutating func advance(to time: Duration) { now = max(now, time) }

    mutating func suspend() { suspendedSince = now }

    mutating func resume() {
        if let since = suspendedSince.take() { suspended += now - since }
    }

    /// When a group's deadline comes, on the operations' clock; nil while suspended.
    func time(ofGroupDeadline time: Duration) -> Duration? { isSuspended ? nil : time + suspended }
}
