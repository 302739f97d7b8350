internal import Basics
package import Processes

/// The time of a run: the event loop's clock and timers, or in tests a clock that is moved by hand.
@EventLoopActor
package protocol RunClock: AnyObject {
    /// Monotonic; the same for everything that happens in one turn of the loop.
    var now: EventLoopClock.Instant { get }
    /// Microseconds since 1970 in UTC, for the log.
    var wallClock: Int64 { get }
    /// Makes `now` read the clock again, after something slow in this turn.
    func refresh()
    /// Calls `action` once, not before `time`, and never during this call.
    func schedule(at time: EventLoopClock.Instant, _ action: @escaping @EventLoopActor () -> Void) -> Timers.Token
    /// Does nothing once the call was made.
    func cancel(_ token: Timers.Token)
}

/// The machine's own time.
@EventLoopActor
package final class MachineClock: RunClock {
    package nonisolated init() {}

    private var wall: (turn: EventLoopClock.Instant, time: Int64)?

    package var now: EventLoopClock.Instant { Poller.shared.now }

    package var wallClock: Int64 {
        let turn = now
        if let wall, wall.turn == turn { return wall.time }
        let time = WallClock.microseconds
        wall = (turn, time)
        return time
    }

    package func refresh() { Poller.shared.forgetTime() }

    package func schedule(
        at time: EventLoopClock.Instant, _ action: @escaping @EventLoopActor () -> Void
    ) -> Timers.Token { Poller.shared.timers.schedule(at: time, action) }

    package func cancel(_ token: Timers.Token) { Poller.shared.timers.cancel(token) }
}

/// A time limit that is suspended while the run is frozen.
@EventLoopActor
final class Countdown {
    private let clock: any RunClock
    private let action: @EventLoopActor () -> Void
    private var due: EventLoopClock.Instant
    /// nil once it is over, and while it is frozen.
    private var timer: Timers.Token?
    /// The time left while it is frozen.
    private var left: Duration?

    /// Starts at once, and calls `action` at its end unless it is cancelled before.
    init(_ limit: Duration, by clock: any RunClock, then action: @escaping @EventLoopActor () -> Void) {
        self.clock = clock
        self.action = action
        due = clock.now
        start(limit)
    }

    private func start(_ rest: Duration) {
        due = clock.now.advanced(by: rest)
        timer = clock.schedule(at: due) { [weak self] in
            self?.timer = nil
            self?.action()
        }
    }

    /// Does nothing once it is over.
    func freeze() {
        guard let timer = timer.take() else { return }
        clock.cancel(timer)
        left = max(.zero, clock.now.duration(to: due))
    }

    func thaw() { if let left = left.take() { start(left) } }

    func cancel() {
        left = nil
        if let timer = timer.take() { clock.cancel(timer) }
    }
}
