/// The sleeping task that tells a queue when its earliest deadline has come. One serves all deadlines: a task for each
/// would cost 2 KB apiece.
struct Alarm: Sendable {
    let time: Duration
    private let sleeper: Task<Void, Never>

    init(at time: Duration, on timer: Timer, _ ring: @escaping @Sendable () -> Void) {
        self.time = time
        sleeper = launch {
            if await timer.sleep(until: time) { ring() }
        }
    }

    func cancel() { cancelling { sleeper.cancel() } }
}

/// Measures the time since a queue was made, on its clock.
struct Timer: Sendable {
    /// A clock of another type than most queues have.
    private final class Other: Sendable {
        let now: @Sendable () -> Duration
        let sleep: @Sendable (Duration) async -> Bool

        init<C: Clock<Duration>>(_ clock: C) {
            let start = clock.now
            now = { start.duration(to: clock.now) }
            sleep = { (try? await clock.sleep(until: start.advanced(by: $0.countable), tolerance: nil)) != nil }
        }
    }

    private let start: ContinuousClock.Instant
    private let other: Other?

    init(_ clock: any Clock<Duration>) {
        start = .now
        other = type(of: clock) == ContinuousClock.self ? nil : Other(clock)
    }

    /// Whether asking for the time runs no user code.
    var isPlain: Bool { other == nil }

    var now: Duration { other?.now() ?? start.duration(to: .now) }

    /// Returns false if the task was cancelled before `time`.
    func sleep(until time: Duration) async -> Bool {
        if let other { return await other.sleep(time) }
        return (try? await ContinuousClock().sleep(until: start.advanced(by: time.countable), tolerance: nil)) != nil
    }
}

extension Duration {
    /// The duration, or the longest that every clock can count, whichever is shorter.
    var countable: Duration { min(self, .seconds(1 << 40)) }
}

extension QueueCore {
    /// Sets the alarm to the next deadline. Returns one that is no longer needed, to be cancelled outside the lock.
    func setAlarm(_ state: inout State) -> Alarm? {
        let deadline = state.scheduler?.nextDeadline
        if deadline == nil, state.alarm == nil { return nil }
        // If a deadline has moved back, the alarm rings once for nothing and is set again.
        if let alarm = state.alarm, let deadline, alarm.time <= deadline { return nil }
        let old = state.alarm.take()
        if let deadline {
            let period = state.period
            state.alarm = Alarm(at: deadline, on: timer) { [weak self] in self?.ring(deadline, period) }
        }
        return old
    }

    private func ring(_ time: Duration, _ period: UInt64) {
        update { state in
            if state.alarm?.time == time { state.alarm = nil }
            if state.period == period { handle(.time, &state) }
        }
    }
}
