internal import ProcessExecution
internal import Synchronization

/// The clock by which the limits of one run are measured: monotonic, and it stands still while all steps are frozen.
struct RunClock: Clock {
    typealias Instant = EventLoopClock.Instant

    private final class State: Sendable {
        let freezes = Mutex(Freezes())
    }

    private struct Freezes {
        /// All that are over.
        var past = Duration.zero
        var since: Instant?
    }

    private let state = State()
    private let clock = EventLoopClock()

    var now: Instant {
        let now = clock.now
        return state.freezes.withLock { ($0.since ?? now).advanced(by: .zero - $0.past) }
    }

    var minimumResolution: Duration { clock.minimumResolution }

    /// Ends too early where a freeze begins or goes on meanwhile; whoever sleeps for a deadline looks at `now` and is told
    /// of the end of the freeze.
    func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let past = state.freezes.withLock(\.past)
        try await clock.sleep(until: deadline.advanced(by: past), tolerance: tolerance)
    }

    func freeze() {
        let now = clock.now
        state.freezes.withLock { $0.since = $0.since ?? now }
    }

    func thaw() {
        let now = clock.now
        state.freezes.withLock { freezes in
            if let since = freezes.since.take() { freezes.past += since.duration(to: now) }
        }
    }
}
