internal import Glibc

/// The monotonic clock, with sleeps that are timers of the event loop. Never goes backwards; does not advance while
/// the machine is suspended.
package struct EventLoopClock: Clock {
    package struct Instant: InstantProtocol {
        let nanoseconds: Int64

        static let distantFuture = Instant(nanoseconds: .max)

        package func advanced(by duration: Duration) -> Instant {
            let (seconds, attoseconds) = duration.components
            let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
            if overflow { return duration < .zero ? Instant(nanoseconds: 0) : .distantFuture }
            let sum = nanoseconds.addingReportingOverflow(product)
            return sum.overflow ? .distantFuture : Instant(nanoseconds: sum.partialValue + attoseconds / 1_000_000_000)
        }

        package func duration(to other: Instant) -> Duration { .nanoseconds(other.nanoseconds - nanoseconds) }

        package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
    }

    package init() {}

    package var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    package var minimumResolution: Duration { .nanoseconds(1) }

    /// Ends early, with `CancellationError`, when the task is cancelled; never ends early otherwise.
    package func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await Sleep().wait(until: deadline)
    }

    @EventLoopActor
    private final class Sleep {
        private var token: Timers.Token?
        private var continuation: CheckedContinuation<Void, any Error>?

        nonisolated init() {}

        func wait(until deadline: Instant) async throws {
            try await withTaskCancellationHandler {
                try Task.checkCancellation()
                try await withCheckedThrowingContinuation { continuation in
                    self.continuation = continuation
                    token = Poller.shared.timers.schedule(at: deadline) { self.finish(.success(())) }
                }
            } onCancel: {
                Task(executorPreference: EventLoop.shared) { await self.cancel() }
            }
        }

        private func cancel() {
            if let token { Poller.shared.timers.cancel(token) }
            finish(.failure(CancellationError()))
        }

        private func finish(_ result: Result<Void, any Error>) {
            continuation.take()?.resume(with: result)
        }
    }
}

/// A clock that can be paused: whatever is due by it waits while it is paused.
///
/// Measure by comparing readings; convert to real time only to set a timer.
package struct PausableTime: Sendable {
    /// The total length of all pauses that are over.
    private var past = Duration.zero
    private var since: EventLoopClock.Instant?

    package init() {}

    package var isPaused: Bool { since != nil }

    /// Returns the reading of this clock when the real clock shows `time`.
    package func reading(at time: EventLoopClock.Instant) -> EventLoopClock.Instant {
        (since ?? time).advanced(by: .zero - past)
    }

    /// Returns the real clock's time at which this clock shows `reading`; nil while paused.
    package func time(of reading: EventLoopClock.Instant) -> EventLoopClock.Instant? {
        isPaused ? nil : reading.advanced(by: past)
    }

    /// Does nothing if it is already paused.
    package mutating func pause(at time: EventLoopClock.Instant) { since = since ?? time }

    /// Does nothing unless it is paused.
    package mutating func resume(at time: EventLoopClock.Instant) {
        if let since = since.take() { past += since.duration(to: time) }
    }
}
