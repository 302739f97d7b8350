internal import CLinux
internal import Glibc

/// A command's way from its start to its end, as a value: takes events and answers with the actions to carry out.
///
/// A command is over when its first process is reaped, its pipes are at their end and no process of it is left. A
/// process that does not even end by KILL makes it lost. Processes that hold a pipe or outlive the first one have the
/// drain window, then they are killed: waiting for the end of the pipe alone would hang on every background process.
struct ProcessLifecycle {
    typealias Instant = EventLoopClock.Instant

    enum Action: Hashable {
        /// Send a signal to all processes of the command, and report it.
        case send(Int32)
        /// Send KILL once more to the processes that are found, without a report.
        case sweep
        /// Look for processes of the command, then call `looked`.
        case look
        /// Call `time` at this time, and not at an earlier one.
        case wake(at: Instant)
        /// Report that the first process has ended by itself and something goes on.
        case tellLingering
        /// Everything is over. `isTruncated`: a pipe is still held open and no longer waited for. `isLost`: a process
        /// has not ended by KILL, or there is no proof that none is left.
        case finish(isTruncated: Bool, isLost: Bool)
    }

    /// The answer to one event: up to three actions, in order. Not an array: most processes cause a handful of events,
    /// and each would allocate one.
    struct Actions: Hashable {
        static var none: Actions { Actions() }

        private var first: Action?
        private var second: Action?
        private var third: Action?

        var isEmpty: Bool { first == nil }

        /// Those that are nil are left out.
        init(_ one: Action? = nil, _ other: Action? = nil, _ last: Action? = nil) {
            append(one)
            append(other)
            append(last)
        }

        /// There must be room for it; does nothing for nil.
        private mutating func append(_ action: Action?) {
            guard let action else { return }
            if first == nil { first = action } else if second == nil { second = action } else { third = action }
        }

        func forEach(_ body: (Action) -> Void) {
            if let first { body(first) }
            if let second { body(second) }
            if let third { body(third) }
        }
    }

    /// The time for which processes may outlive the first one.
    static let drainWindow = Duration.seconds(2)
    /// The time that a process may take to disappear after KILL before the step goes on without it; only one that
    /// hangs in the kernel takes that long.
    static let killWindow = Duration.seconds(10)
    /// The time for which a stopped command without processes waits for the ends of its pipes, which only a stranger
    /// holds.
    static let lastWait = Duration.milliseconds(200)
    /// The shortest and the longest time from one look to the next; it doubles each time.
    private static let lookIntervals = (Duration.milliseconds(1), Duration.milliseconds(50))

    private enum Phase {
        case running
        /// The first process is reaped; others may live, or a pipe may be held open.
        case draining
        case over
    }

    /// True if the end of the first process is the end, whatever else is left.
    private let isDetached: Bool
    private var phase = Phase.running
    private var arePipesClosed = false
    /// True once the end has been requested, or forced because the drain window was over.
    private(set) var isStopping = false
    private var isKilled = false
    private var isLastWait = false
    private var owesLingering = false
    private(set) var isFrozen = false
    /// True while output is left in the pipes because the log cannot take it.
    private var isHeldBack = false
    /// Paused while the command is frozen, and in the drain window while its output is held back.
    private var clock = PausableTime()
    /// The end of the grace, of the drain window, of the kill window or of the last wait, as `clock` reads it.
    private var deadline: Instant?
    private var lookInterval = lookIntervals.0

    init(isDetached: Bool = false, hasPipes: Bool = true) {
        self.isDetached = isDetached
        arePipesClosed = !hasPipes
    }

    var isOver: Bool { phase == .over }

    /// True if a look is likely to find a process, so that it is worth its cost.
    var expectsSurvivors: Bool { isStopping || !arePipesClosed }

    // MARK: Requests

    mutating func terminate(with signal: Int32, grace: Duration, at time: Instant) -> Actions {
        guard phase != .over, !isStopping else { return .none }
        guard signal != SIGKILL, grace > .zero else { return kill(at: time) }
        isStopping = true
        isFrozen = false
        clock.resume(at: time)
        setDeadline(after: grace, at: time)
        // A stopped process handles the signal only once it continues.
        return Actions(.send(signal), .send(SIGCONT), wait(at: time))
    }

    mutating func kill(at time: Instant) -> Actions {
        guard phase != .over, !isKilled else { return .none }
        isStopping = true
        isKilled = true
        isFrozen = false
        clock.resume(at: time)
        setDeadline(after: Self.killWindow, at: time)
        return Actions(.send(SIGKILL), phase == .draining ? .look : wait(at: time))
    }

    mutating func freeze(at time: Instant) -> Actions {
        guard phase != .over, !isKilled, !isFrozen else { return .none }
        isFrozen = true
        adjustClock(at: time)
        return Actions(.send(SIGSTOP))
    }

    mutating func thaw(at time: Instant) -> Actions {
        guard phase != .over, isFrozen else { return .none }
        isFrozen = false
        adjustClock(at: time)
        return Actions(.send(SIGCONT), wait(at: time))
    }

    // MARK: Events

    /// Nothing is read from the pipes until `readsOn`.
    mutating func holdsBack(at time: Instant) {
        isHeldBack = true
        adjustClock(at: time)
    }

    mutating func readsOn(at time: Instant) -> Actions {
        guard isHeldBack, phase != .over else { return .none }
        isHeldBack = false
        adjustClock(at: time)
        return Actions(wait(at: time))
    }

    /// The first process is reaped.
    mutating func reaped(at time: Instant) -> Actions {
        guard phase == .running else { return .none }
        phase = .draining
        if isDetached, !isStopping { return finish(isLost: false) }
        if !isStopping {
            setDeadline(after: Self.drainWindow, at: time)
            owesLingering = true
        }
        adjustClock(at: time)
        return Actions(.look)
    }

    /// All pipes are at their end.
    mutating func pipesClosed() -> Actions {
        arePipesClosed = true
        return phase == .draining ? Actions(.look) : .none
    }

    /// The time that a `wake` asked for has come.
    mutating func time(at time: Instant) -> Actions {
        switch phase {
        case .running:
            guard isDue(at: time) else { return Actions(wait(at: time)) }
            return isKilled ? finish(isLost: true) : kill(at: time)
        case .draining: return Actions(.look)
        case .over: return .none
        }
    }

    /// Handles the result of a look; `isAlive` is true if a process of the command may be left.
    mutating func looked(isAlive: Bool, at time: Instant) -> Actions {
        guard phase == .draining else { return .none }
        if !isAlive {
            if arePipesClosed { return finish(isLost: false) }
            if isStopping, !isLastWait {
                isLastWait = true
                setDeadline(after: Self.lastWait, at: time)
            }
        }
        if isDue(at: time) { return isKilled || !isAlive ? finish(isLost: isAlive) : kill(at: time) }
        let isNewlyLingering = owesLingering && !isStopping
        owesLingering = false
        return Actions(
            isNewlyLingering ? .tellLingering : nil, isKilled && isAlive ? .sweep : nil, wait(at: time))
    }

    // MARK: Time

    /// Pauses the clock while the command is frozen, and while its output is held back in the drain window: a process
    /// that still writes cannot be distinguished from one that only waits to be read.
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

    /// Never true while the clock is paused.
    private func isDue(at time: Instant) -> Bool {
        guard let deadline, !clock.isPaused else { return false }
        return clock.reading(at: time) >= deadline
    }

    /// Asks to be woken at the deadline, and while draining at the next look: the end of a process that is not
    /// flowrun's child is no event, only looks show it.
    private mutating func wait(at time: Instant) -> Action? {
        let due = deadline.flatMap { clock.time(of: $0) }
        guard phase == .draining else { return due.map { .wake(at: $0) } }
        let next = time.advanced(by: lookInterval)
        lookInterval = min(lookInterval * 2, Self.lookIntervals.1)
        return .wake(at: min(next, due ?? next))
    }

    private mutating func finish(isLost: Bool) -> Actions {
        phase = .over
        return Actions(.finish(isTruncated: !arePipesClosed && !isDetached, isLost: isLost))
    }
}

/// Reports when a child may have stopped or continued, which no pidfd does. Sees only what arrives while CHLD is
/// blocked.
@EventLoopActor
final class StopWatch {
    private let descriptor: Int32

    /// Calls `handler` for as long as the watch is kept; never if the machine has no descriptor for it.
    init(_ handler: @escaping @EventLoopActor () -> Void) {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGCHLD)
        let descriptor = signalfd(-1, &set, Int32(SFD_CLOEXEC) | Int32(SFD_NONBLOCK))
        self.descriptor = descriptor
        guard descriptor >= 0 else { return }
        Poller.shared.watch(descriptor, for: .read) {
            var info = signalfd_siginfo()
            while read(descriptor, &info, MemoryLayout<signalfd_siginfo>.size) > 0 {}
            handler()
        }
    }

    isolated deinit { if descriptor >= 0 { Poller.shared.close(descriptor) } }
}
