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
enum Timer: Sendable {
    /// The clock of most queues, without what hides the type of others.
    case continuous(start: ContinuousClock.Instant)
    case other(now: @Sendable () -> Duration, sleep: @Sendable (Duration) async -> Bool)

    init(_ clock: any Clock<Duration>) {
        if type(of: clock) == ContinuousClock.self { self = .continuous(start: .now) } else { self.init(on: clock) }
    }

    private init<C: Clock<Duration>>(on clock: C) {
        let start = clock.now
        self = .other {
            start.duration(to: clock.now)
        } sleep: {
            (try? await clock.sleep(until: start.advanced(by: $0.countable), tolerance: nil)) != nil
        }
    }

    var now: Duration {
        switch self {
        case .continuous(let start): start.duration(to: .now)
        case .other(let now, _): now()
        }
    }

    /// Returns false if the task was cancelled before `time`.
    func sleep(until time: Duration) async -> Bool {
        switch self {
        case .continuous(let start):
            (try? await ContinuousClock().sleep(until: start.advanced(by: time.countable), tolerance: nil)) != nil
        case .other(_, let sleep): await sleep(time)
        }
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
        // If a deadline has moved back, the alarm rings in vain once and is set anew.
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
