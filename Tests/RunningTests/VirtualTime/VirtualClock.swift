import Processes
import Running

/// A clock that stands still until the next call is due: hours cost nothing.
@EventLoopActor
final class VirtualClock: RunClock {
    private struct Call {
        let due: EventLoopClock.Instant
        let number: Int
        let action: @EventLoopActor () -> Void
    }

    private(set) var now = EventLoopClock().now
    private let start: EventLoopClock.Instant
    private var calls: [Call] = []
    private var lastNumber = 0

    init() { start = now }

    var elapsed: Duration { start.duration(to: now) }

    var wallClock: Int64 { elapsed.components.seconds * 1_000_000 }

    func refresh() {}

    /// How many calls are to come.
    var callCount: Int { calls.count }

    func schedule(at time: EventLoopClock.Instant, _ action: @escaping @EventLoopActor () -> Void) -> Timers.Token {
        lastNumber += 1
        calls.append(Call(due: time, number: lastNumber, action: action))
        return Timers.Token(number: lastNumber)
    }

    func cancel(_ token: Timers.Token) { calls.removeAll { $0.number == token.number } }

    func after(_ delay: Duration, _ action: @escaping @EventLoopActor () -> Void) {
        _ = schedule(at: now.advanced(by: delay), action)
    }

    /// Lets time pass up to the next call and makes it; false where there is none.
    func step() -> Bool {
        guard
            let next = calls.indices.min(by: { (calls[$0].due, calls[$0].number) < (calls[$1].due, calls[$1].number) })
        else { return false }
        let call = calls.remove(at: next)
        now = max(now, call.due)
        call.action()
        return true
    }

    /// Lets time pass in which nothing is done, as while flowrun itself is stopped.
    func pass(_ time: Duration) { now = now.advanced(by: time) }
}
