internal import Glibc

/// A command's way from its start to its end, as a value: it is told what happens and answers with what is to be done.
///
/// A command is over when its first process is reaped, its pipes are at their end and nobody of it is left. What does not
/// even end by KILL makes it lost.
/// What holds a pipe or lives on after the first process has the drain window, then it is killed: whoever waits for the
/// end of a pipe alone hangs on every background process.
struct ProcessLifecycle {
    typealias Instant = EventLoopClock.Instant

    enum Action: Hashable {
        /// Send a signal to all processes of the command, and tell of it.
        case send(Int32)
        /// Send KILL once more to those that are found, and tell nobody.
        case sweep
        /// Look for processes of the command, then say `looked`.
        case look
        /// Say `time` at this time, and not at an earlier one.
        case wake(at: Instant)
        /// Tell that the first process has ended by itself and something goes on.
        case tellLingering
        /// All is over. `isTruncated`: somebody holds a pipe, who is not waited for any longer. `isLost`: somebody has
        /// not ended by KILL, or it cannot be told that nobody is left.
        case finish(isTruncated: Bool, isLost: Bool)
    }

    /// How long what outlives the first process may go on.
    static let drainWindow = Duration.seconds(2)
    /// How long after KILL a process may take to disappear before the step goes on without it; only one that hangs in
    /// the kernel takes that long.
    static let killWindow = Duration.seconds(10)
    /// How long a stopped command of which nobody is left waits for the ends of its pipes, which only a stranger holds.
    static let lastWait = Duration.milliseconds(200)
    /// The time from one look to the next doubles from the first to the second.
    private static let lookIntervals = (Duration.milliseconds(1), Duration.milliseconds(50))

    private enum Phase {
        case running
        /// The first process is reaped; others may live, or somebody holds a pipe.
        case draining
        case over
    }

    /// Whether the end of the first process is the end, whoever is left.
    private let isDetached: Bool
    private var phase = Phase.running
    private var arePipesClosed = false
    /// Whether the end has been asked for, or has been forced because the drain window was over.
    private(set) var isStopping = false
    private var isKilled = false
    private var isLastWait = false
    private var owesLingering = false
    private(set) var isFrozen = false
    /// Whether what it writes is left in its pipes, because the log cannot take it.
    private var isHeldBack = false
    /// Stands still while the command is frozen, and in the drain window while its output is left waiting.
    private var clock = PausableTime()
    /// The end of the grace, of the drain window, of the kill window or of the last wait, as `clock` reads it.
    private var deadline: Instant?
    private var lookInterval = lookIntervals.0

    init(isDetached: Bool = false, hasPipes: Bool = true) {
        self.isDetached = isDetached
        arePipesClosed = !hasPipes
    }

    var isOver: Bool { phase == .over }

    /// Whether a look is likely to find somebody, so that it is worth its price.
    var expectsSurvivors: Bool { isStopping || !arePipesClosed }

    // MARK: What is asked for

    mutating func terminate(with signal: Int32, grace: Duration, at time: Instant) -> [Action] {
        guard phase != .over, !isStopping else { return [] }
        guard signal != SIGKILL, grace > .zero else { return kill(at: time) }
        isStopping = true
        isFrozen = false
        clock.resume(at: time)
        setDeadline(after: grace, at: time)
        // A stopped process hears of the signal only when it goes on.
        return [.send(signal), .send(SIGCONT)] + wait(at: time)
    }

    mutating func kill(at time: Instant) -> [Action] {
        guard phase != .over, !isKilled else { return [] }
        isStopping = true
        isKilled = true
        isFrozen = false
        clock.resume(at: time)
        setDeadline(after: Self.killWindow, at: time)
        return [.send(SIGKILL)] + (phase == .draining ? [.look] : wait(at: time))
    }

    mutating func freeze(at time: Instant) -> [Action] {
        guard phase != .over, !isKilled, !isFrozen else { return [] }
        isFrozen = true
        adjustClock(at: time)
        return [.send(SIGSTOP)]
    }

    mutating func thaw(at time: Instant) -> [Action] {
        guard phase != .over, isFrozen else { return [] }
        isFrozen = false
        adjustClock(at: time)
        return [.send(SIGCONT)] + wait(at: time)
    }

    // MARK: What happens

    /// Nothing is read from the pipes until `readsOn`.
    mutating func holdsBack(at time: Instant) {
        isHeldBack = true
        adjustClock(at: time)
    }

    mutating func readsOn(at time: Instant) -> [Action] {
        guard isHeldBack, phase != .over else { return [] }
        isHeldBack = false
        adjustClock(at: time)
        return wait(at: time)
    }

    /// The first process has ended.
    mutating func reaped(at time: Instant) -> [Action] {
        guard phase == .running else { return [] }
        phase = .draining
        if isDetached, !isStopping { return finish(isLost: false) }
        if !isStopping {
            setDeadline(after: Self.drainWindow, at: time)
            owesLingering = true
        }
        adjustClock(at: time)
        return [.look]
    }

    /// Nobody can write any more.
    mutating func pipesClosed() -> [Action] {
        arePipesClosed = true
        return phase == .draining ? [.look] : []
    }

    /// The time has come that a `wake` asked for.
    mutating func time(at time: Instant) -> [Action] {
        switch phase {
        case .running:
            guard isDue(at: time) else { return wait(at: time) }
            return isKilled ? finish(isLost: true) : kill(at: time)
        case .draining: return [.look]
        case .over: return []
        }
    }

    /// What a look has shown: whether anybody of the command may be left.
    mutating func looked(isAlive: Bool, at time: Instant) -> [Action] {
        guard phase == .draining else { return [] }
        if !isAlive {
            if arePipesClosed { return finish(isLost: false) }
            if isStopping, !isLastWait {
                isLastWait = true
                setDeadline(after: Self.lastWait, at: time)
            }
        }
        if isDue(at: time) { return isKilled || !isAlive ? finish(isLost: isAlive) : kill(at: time) }
        let lingering: [Action] = owesLingering && !isStopping ? [.tellLingering] : []
        owesLingering = false
        return lingering + (isKilled && isAlive ? [.sweep] : []) + wait(at: time)
    }

    // MARK: Time

    /// Whoever still writes after the first process cannot be told from whoever only waits to be read.
    private mutating func adjustClock(at time: Instant) {
        if isFrozen || isHeldBack && phase == .draining && !isStopping {
            clock.pause(at: time)
        } else {
            clock.resume(at: time)
        }
    }

    private mutating func setDeadline(after duration: Duration, at time: Instant) {
        deadline = clock.reading(at: time).advanced(by: duration)
        lookInterval = Self.lookIntervals.0
    }

    /// Never while the clock stands still.
    private func isDue(at time: Instant) -> Bool {
        guard let deadline, !clock.isPaused else { return false }
        return clock.reading(at: time) >= deadline
    }

    /// The end of a process that is not flowrun's child is no event: only looks show it.
    private mutating func wait(at time: Instant) -> [Action] {
        let due = deadline.flatMap { clock.time(of: $0) }
        guard phase == .draining else { return due.map { [.wake(at: $0)] } ?? [] }
        let next = time.advanced(by: lookInterval)
        lookInterval = min(lookInterval * 2, Self.lookIntervals.1)
        return [.wake(at: min(next, due ?? next))]
    }

    private mutating func finish(isLost: Bool) -> [Action] {
        phase = .over
        return [.finish(isTruncated: !arePipesClosed && !isDetached, isLost: isLost)]
    }
}
