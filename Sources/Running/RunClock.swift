internal import Basics
package import Processes

/// What a run knows of time: the event loop's clock and timers, or in tests a clock that is moved by hand.
@EventLoopActor
package protocol RunClock: AnyObject {
    /// Monotonic; one and the same for all that happens in one turn of the loop.
    var now: EventLoopClock.Instant { get }
    /// Microseconds since 1970 in UTC, for the log.
    var wallClock: Int64 { get }
    /// Lets `now` read the clock again, after something in this turn that took long.
    func refresh()
    /// Calls `action` once, not before `time`, and never during this call.
    func schedule(at time: EventLoopClock.Instant, _ action: @escaping @EventLoopActor () -> Void) -> Timers.Token
    /// Does nothing once the call was made.
    func cancel(_ token: Timers.Token)
}

/// The time of the machine.
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
