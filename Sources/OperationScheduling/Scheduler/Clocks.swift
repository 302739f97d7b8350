/// The time by which operations and groups are measured, apart from what does not count.
struct Clocks: Sendable {
    /// For operations: what `handle` is told, never backwards.
    private(set) var now = Duration.zero
    /// All suspensions that are over.
    private var suspended = Duration.zero
    private var suspendedSince: Duration?

    /// For groups: stands still while suspended.
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
