/// The time by which operations and groups are measured, apart from what does not count.
struct Clocks: Sendable {
    /// For operations: what `handle` is told, less the time for which everything stood still.
    private(set) var now = Duration.zero
    private var frozen = Duration.zero
    /// All suspensions that are over.
    private var suspended = Duration.zero
    private var suspendedSince: Duration?

    /// For groups: stands still while suspended.
    var groupNow: Duration { (suspendedSince ?? now) - suspended }

    var isSuspended: Bool { suspendedSince != nil }

    mutating func advance(to time: Duration) { now = max(now, time - frozen) }

    /// Everything stood still for so long, up to now. What was counted meanwhile stays counted.
    mutating func freeze(for time: Duration) {
        precondition(time >= .zero, "no time can have been frozen for \(time)")
        frozen += time
    }

    mutating func suspend() { suspendedSince = now }

    mutating func resume() {
        if let since = suspendedSince.take() { suspended += now - since }
    }

    /// When a group's deadline comes, on the operations' clock; nil while suspended.
    func time(ofGroupDeadline time: Duration) -> Duration? { isSuspended ? nil : time + suspended }

    /// What the caller's clock will show at that time on the operations' clock.
    func external(_ time: Duration) -> Duration { time + frozen }
}
