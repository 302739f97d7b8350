internal import Processes

/// A limit of time that stands still while the run is frozen.
@EventLoopActor
final class Countdown {
    private let clock: any RunClock
    private let action: @EventLoopActor () -> Void
    private var due: EventLoopClock.Instant
    /// nil once it is over, and while it stands still.
    private var timer: Timers.Token?
    /// What is left of it while it stands still.
    private var left: Duration?

    /// Begins at once, and calls `action` at its end unless it is cancelled before.
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
