/// Notifies a queue that its earliest deadline has come. One alarm serves all deadlines.
struct Alarm: Sendable {
    let time: Duration
    private let ring: Ring

    /// `ring` must not block and must not run user code.
    init(at time: Duration, on timer: Timer, _ ring: @escaping @Sendable () -> Void) {
        self.time = time
        self.ring = Ring(at: timer.instant(of: time), ring) { await timer.sleep(until: time) }
    }

    func cancel() { ring.cancel() }
}

/// A call at a given time, unless it is cancelled first.
enum Ring: Sendable {
    case ofAlarmClock(UInt64)
    /// On a custom clock.
    case ofSleeper(Task<Void, Never>)

    /// Calls `ring` at `time`. If `time` is nil or the system has no thread for it, calls `ring` when `sleep` returns
    /// true.
    fileprivate init(
        at time: ContinuousClock.Instant?, _ ring: @escaping @Sendable () -> Void,
        _ sleep: @escaping @Sendable () async -> Bool
    ) {
        if let time, let number = AlarmClock.shared.ring(at: time, ring) {
            self = .ofAlarmClock(number)
        } else {
            self = .ofSleeper(launch { if await sleep() { ring() } })
        }
    }

    /// Calls `ring`, which may run user code, at `time` of `timer`.
    init(at time: Duration, on timer: Timer, _ ring: @escaping @Sendable () -> Void) {
        self.init(at: timer.instant(of: time), { timer.isPlain ? launchThread(ring) : ring() }) {
            await timer.sleep(until: time)
        }
    }

    /// Calls `ring`, which may run user code, after `delay` on `clock`.
    init(after delay: Duration, on clock: any Clock<Duration>, _ ring: @escaping @Sendable () -> Void) {
        self.init(at: delay, on: Timer(clock), ring)
    }

    func cancel() {
        switch self {
        case .ofAlarmClock(let number): AlarmClock.shared.cancel(number)
        case .ofSleeper(let task): cancelling { task.cancel() }
        }
    }
}

/// Measures the time since the creation of a queue, on the queue's clock.
struct Timer: Sendable {
    /// A clock other than the usual `ContinuousClock`.
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
        other = clock.isContinuous ? nil : Other(clock)
    }

    /// True if reading the time runs no user code.
    var isPlain: Bool { other == nil }

    /// The place for user code that a time causes to run. It may block, so it must not hold up the alarm clock.
    var hands: QueueCore.Hands { isPlain ? .toThread : .toTask }

    /// The time on the continuous clock; nil on another clock.
    fileprivate func instant(of time: Duration) -> ContinuousClock.Instant? {
        isPlain ? start.advanced(by: time.countable) : nil
    }

    var now: Duration { other?.now() ?? start.duration(to: .now) }

    /// Sleeps until `time`. Returns false if the task is cancelled first.
    func sleep(until time: Duration) async -> Bool {
        if let other { return await other.sleep(time) }
        return await AlarmClock.shared.sleep(until: start.advanced(by: time.countable))
    }
}

extension AlarmClock {
    /// Sleeps until `time`. Returns false if the task is cancelled first.
    func sleep(until time: ContinuousClock.Instant) async -> Bool {
        let signal = OneShot()
        guard let number = ring(at: time, { signal.happen() }) else {
            return (try? await ContinuousClock().sleep(until: time, tolerance: nil)) != nil
        }
        let hasRung = await signal.waitUnlessCancelled(as: signal.makeTicket(), nil)
        if !hasRung { cancel(number) }
        return hasRung
    }
}

extension Clock<Duration> {
    /// True for the clock that the library measures and rings by itself.
    fileprivate var isContinuous: Bool { Self.self == ContinuousClock.self }
}

extension Duration {
    /// The duration, limited to the longest that every clock can count.
    var countable: Duration { min(self, .seconds(1 << 40)) }
}

extension QueueCore {
    /// Sets the alarm to the next deadline. Returns an obsolete alarm, to be cancelled outside the lock.
    func setAlarm(_ state: inout State) -> Alarm? {
        let deadline = state.scheduler?.nextDeadline
        if deadline == nil, state.alarm == nil { return nil }
        // If the deadline has moved back, the alarm rings once in vain and is set again.
        if let alarm = state.alarm, let deadline, alarm.time <= deadline { return nil }
        let old = state.alarm.take()
        if let deadline {
            let period = state.period
            state.alarm = Alarm(at: deadline, on: timer) { [weak self] in self?.ring(deadline, period) }
        }
        return old
    }

    private func ring(_ time: Duration, _ period: UInt64) {
        let (_, consequences) = decide { state in
            if state.alarm?.time == time { state.alarm = nil }
            if state.period == period { handle(.time, &state) }
        }
        carry(consequences, handingOver: timer.hands)
    }
}
