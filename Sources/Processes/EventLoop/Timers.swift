internal import CLinux
internal import Glibc
internal import HeapModule

/// One-shot timers on the monotonic clock, all behind one timerfd. If the kernel refuses it, the poller asks how long
/// it may wait.
@EventLoopActor
package final class Timers {
    /// A scheduled call.
    @EventLoopActor
    package final class Token {
        package nonisolated let number: Int
        /// nil once it was called or cancelled.
        fileprivate var action: (@EventLoopActor () -> Void)?

        package nonisolated init(number: Int, _ action: (@EventLoopActor () -> Void)? = nil) {
            self.number = number
            self.action = action
        }
    }

    private struct Entry: Comparable {
        let time: EventLoopClock.Instant
        let token: Token

        static func == (left: Entry, right: Entry) -> Bool { left.token.number == right.token.number }

        static func < (left: Entry, right: Entry) -> Bool {
            (left.time, left.token.number) < (right.time, right.token.number)
        }
    }

    /// Readable once a timer is due; nil if the kernel has refused it.
    let descriptor: Int32?
    /// True if no timerfd rings, so that `rest` has to limit each wait and `fire` has to be called after it.
    private(set) var areAsked: Bool
    private var heap = Heap<Entry>()
    /// The number of calls that are to come.
    private var pending = 0
    private var armed: EventLoopClock.Instant?
    private var lastNumber = 0

    nonisolated init() {
        let made = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK))
        descriptor = made < 0 ? nil : made
        areAsked = made < 0
    }

    /// Calls `action` once, at `time`; actions run in the order of their times, then of these calls.
    package func schedule(at time: EventLoopClock.Instant, _ action: @escaping @EventLoopActor () -> Void) -> Token {
        lastNumber += 1
        let token = Token(number: lastNumber, action)
        pending += 1
        heap.insert(Entry(time: time, token: token))
        arm()
        return token
    }

    /// Does nothing once the timer has fired. The heap entry remains until its time or the next compaction.
    package func cancel(_ token: Token) {
        guard token.action.take() != nil else { return }
        pending -= 1
        if heap.count > 64, heap.count > 2 * pending { heap = Heap(heap.unordered.filter { $0.token.action != nil }) }
    }

    /// Called when the descriptor is readable.
    func hasRung() {
        var count: UInt64 = 0
        // EAGAIN: it was set to a later time after it had become ready. Any other error leaves it readable.
        if let descriptor { _ = read(descriptor, &count, 8) }
        fire()
    }

    /// Calls the actions that are due.
    func fire() {
        armed = nil
        let now = Poller.shared.now
        while let first = heap.min, first.time <= now {
            heap.removeMin()
            guard let action = first.token.action.take() else { continue }
            pending -= 1
            action()
        }
        arm()
    }

    /// Milliseconds until the next one is due, rounded up; nil while there is none.
    var rest: Int32? {
        guard let earliest = heap.min?.time else { return nil }
        let milliseconds = EventLoopClock().now.duration(to: earliest) / .milliseconds(1)
        return Int32(min(max(milliseconds.rounded(.up), 0), 1e9))
    }

    /// Sets the timerfd only if the earliest timer is earlier than the one it is set for.
    private func arm() {
        while let first = heap.min, first.token.action == nil { heap.removeMin() }
        guard let earliest = heap.min?.time, earliest < armed ?? .distantFuture else { return }
        guard let descriptor, !areAsked else { return }
        armed = earliest
        // Zero would disarm the timer.
        let nanoseconds = max(earliest.nanoseconds, 1)
        var value = itimerspec()
        value.it_value = timespec(
            tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        areAsked = timerfd_settime(descriptor, Int32(TFD_TIMER_ABSTIME), &value, nil) != 0
    }
}

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
