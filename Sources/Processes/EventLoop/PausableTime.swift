/// A time that can stand still: what is due by it waits for as long as it is paused.
///
/// Whoever measures by it compares readings, and asks for the real time only to set a timer.
package struct PausableTime: Sendable {
    /// All pauses that are over.
    private var past = Duration.zero
    private var since: EventLoopClock.Instant?

    package init() {}

    package var isPaused: Bool { since != nil }

    /// What it shows when the clock shows `time`.
    package func reading(at time: EventLoopClock.Instant) -> EventLoopClock.Instant {
        (since ?? time).advanced(by: .zero - past)
    }

    /// What the clock shows when this shows `reading`; nil while paused.
    package func time(of reading: EventLoopClock.Instant) -> EventLoopClock.Instant? {
        isPaused ? nil : reading.advanced(by: past)
    }

    /// Does nothing while it is paused already.
    package mutating func pause(at time: EventLoopClock.Instant) { since = since ?? time }

    /// Does nothing unless it is paused.
    package mutating func resume(at time: EventLoopClock.Instant) {
        if let since = since.take() { past += since.duration(to: time) }
    }
}
