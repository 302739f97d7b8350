internal import CLinux
internal import Glibc

/// A running command: one process that flowrun started, and whatever that one starts.
///
/// It is over when the first process is reaped, both pipes are at their end and nobody of its session is left. What
/// holds a pipe or lives on after the first process has a drain window, then it is killed: a runner that waits for the
/// end of a pipe hangs on every background process (reliability F06).
@EventLoopActor
package final class ChildProcess {
    /// How long what outlives the first process may go on.
    package static let drainWindow = Duration.seconds(2)
    /// How long after KILL a process may take to disappear before the step goes on without it; only one that sits in
    /// the kernel takes that long.
    private static let killWindow = Duration.seconds(10)
    /// How long a stopped step whose session is empty waits for the ends of its pipes.
    private static let lastWait = Duration.milliseconds(200)

    package typealias OutputHandler = @EventLoopActor (OutputStream, UnsafeRawBufferPointer) -> Void

    private enum Stage {
        case running
        /// The first process is reaped; others may live.
        case draining
        case over
    }

    package let pid: Int32
    /// Called at most once, when the first process has ended; `wait` may return much later.
    package var onExit: (@EventLoopActor (ProcessEnding.Status) -> Void)?
    /// Called at most once, when the first process has ended by itself and something of the command goes on.
    package var onLinger: (@EventLoopActor () -> Void)?
    /// Asked before each read; while it says no, the command has to wait with what it writes.
    package var mayRead: (@EventLoopActor () -> Bool)?
    /// Called for every signal that is sent.
    package var onSignal: (@EventLoopActor (Int32) -> Void)?

    private let pidfd: Int32
    private let session: ProcessSession
    private var descriptors: OpenPipes
    private let output: OutputHandler
    private let started = EventLoopClock().now
    private var stage = Stage.running
    private var ending = ProcessEnding(
        status: .exited(0), maxResident: 0, user: .zero, system: .zero, duration: .zero)
    private var waiter: UnsafeContinuation<Void, Never>?
    /// When patience ends: the grace of a teardown, or the drain window.
    private var deadline: EventLoopClock.Instant?
    private var timer: Timers.Token?
    /// Whether its end has been asked for.
    package private(set) var isStopping = false
    private var isKilled = false
    private var frozenSince: EventLoopClock.Instant?
    private var isLastWait = false
    private var pollInterval = Duration.milliseconds(1)

    /// Starts a command. `output` gets what it writes, as it arrives; the bytes are valid during the call only.
    package init(_ command: ProcessCommand, output: @escaping OutputHandler) throws(SpawnError) {
        var outputs: (read: Int32, write: Int32) = (-1, -1)
        var errors: (read: Int32, write: Int32) = (-1, -1)
        guard Self.makePipe(&outputs), Self.makePipe(&errors) else {
            let error = SpawnError(errno: errno)
            for descriptor in [outputs.read, outputs.write] where descriptor >= 0 { close(descriptor) }
            throw error
        }
        var pid: pid_t = 0
        var pidfd: Int32 = -1
        let error = command.spawn(output: outputs.write, error: errors.write, pid: &pid, pidfd: &pidfd)
        close(outputs.write)
        close(errors.write)
        guard error == 0 else {
            close(outputs.read)
            close(errors.read)
            throw SpawnError(errno: error, subject: command.subject(of: error))
        }
        self.pid = pid
        self.pidfd = pidfd
        self.output = output
        session = ProcessSession(id: pid)
        descriptors = OpenPipes(standardOutput: outputs.read, standardError: errors.read)
        let poller = Poller.shared
        poller.watchSoon(outputs.read) { self.outputIsReady(.standardOutput) }
        poller.watchSoon(errors.read) { self.outputIsReady(.standardError) }
        poller.watch(pidfd, for: .read) { self.reap() }
    }

    /// Waits until nothing of the command is left. Called once.
    package func wait() async -> ProcessEnding {
        if stage != .over { await withUnsafeContinuation { waiter = $0 } }
        return ending
    }

    /// Ends the command: `signal` and CONT to all its processes, KILL to what is left after `grace`. The first call
    /// counts, later ones are ignored.
    package func terminate(with signal: Int32, grace: Duration) {
        guard stage != .over, !isStopping else { return }
        isStopping = true
        frozenSince = nil
        guard signal != SIGKILL, grace > .zero else { return killAll() }
        send(signal)
        // A stopped process hears of the signal only when it goes on.
        send(SIGCONT)
        deadline = EventLoopClock().now.advanced(by: grace)
        schedulePoll(at: deadline)
    }

    /// Ends the command without any grace left.
    package func killAll() {
        guard stage != .over, !isKilled else { return }
        isStopping = true
        isKilled = true
        frozenSince = nil
        send(SIGKILL)
        deadline = EventLoopClock().now.advanced(by: Self.killWindow)
        pollInterval = .milliseconds(1)
        if stage == .draining { poll() }
    }

    /// Stops all processes where they are, until `thaw`; meanwhile what is left of a grace or of the drain window stands
    /// still too. Does nothing to what is being killed. Who ends a frozen command thaws it.
    package func freeze() {
        guard stage != .over, !isKilled, frozenSince == nil else { return }
        frozenSince = EventLoopClock().now
        send(SIGSTOP)
    }

    /// Lets a frozen command go on; does nothing to any other.
    package func thaw() {
        guard let frozenSince, stage != .over else { return }
        self.frozenSince = nil
        deadline = deadline?.advanced(by: frozenSince.duration(to: EventLoopClock().now))
        send(SIGCONT)
        if deadline != nil { poll() }
    }

    private func send(_ signal: Int32) {
        if signal == SIGKILL, stage == .draining {
            killMembers()
        } else {
            session.signal(signal, leaderIsReaped: stage != .running)
        }
        onSignal?(signal)
    }

    private func killMembers() {
        ending.escaped = max(ending.escaped, session.signal(SIGKILL, leaderIsReaped: true))
    }

    private func reap() {
        var ended = clinux_ending()
        guard clinux_reap(pidfd, &ended) != 0 else { return }
        Poller.shared.close(pidfd)
        ending.duration = started.duration(to: EventLoopClock().now)
        ending.status = ended.code == CLD_EXITED ? .exited(ended.status) : .signalled(ended.status)
        ending.maxResident = ended.usage.ru_maxrss
        ending.user = Duration(ended.usage.ru_utime)
        ending.system = Duration(ended.usage.ru_stime)
        stage = .draining
        drainPipes()
        onExit?(ending.status)
        if !isStopping { deadline = EventLoopClock().now.advanced(by: Self.drainWindow) }
        poll()
        if stage == .draining, !isStopping { onLinger?() }
    }

    /// Looks whether anything is left, and does what its time has come for.
    private func poll() {
        if let timer { Poller.shared.timers.cancel(timer) }
        timer = nil
        // Time does not pass for what is frozen; `thaw` looks again.
        let isPatienceOver = frozenSince == nil && deadline.map { EventLoopClock().now >= $0 } ?? false
        guard stage == .draining else {
            if isPatienceOver { killAll() } else if frozenSince == nil { schedulePoll(at: deadline) }
            return
        }
        let isHeld = !descriptors.areClosed
        // A look at all processes is dear, so a normal end only takes it where there is a sign of somebody.
        let isAlive = (isStopping || isHeld || session.hasGroup) && session.hasMembers
        if !isAlive, !isHeld { return finish() }
        if isStopping, !isAlive, !isLastWait {
            // Held by something outside the session, which no signal from here reaches.
            isLastWait = true
            deadline = EventLoopClock().now.advanced(by: Self.lastWait)
        }
        if isPatienceOver {
            if isKilled || isLastWait || !isAlive {
                ending.isOutputTruncated = isHeld
                return finish()
            }
            return killAll()
        }
        if isKilled, isAlive { killMembers() }
        let next = EventLoopClock().now.advanced(by: pollInterval)
        pollInterval = min(pollInterval * 2, .milliseconds(50))
        schedulePoll(at: frozenSince == nil ? min(next, deadline ?? next) : next)
    }

    private func schedulePoll(at time: EventLoopClock.Instant?) {
        guard let time else { return }
        if let timer { Poller.shared.timers.cancel(timer) }
        timer = Poller.shared.timers.schedule(at: time) {
            self.timer = nil
            self.poll()
        }
    }

    private func finish() {
        stage = .over
        for stream in [OutputStream.standardOutput, .standardError] {
            if let descriptor = descriptors[stream] { Poller.shared.close(descriptor) }
            descriptors[stream] = nil
        }
        onExit = nil
        onLinger = nil
        onSignal = nil
        mayRead = nil
        waiter.take()?.resume()
    }

    private func outputIsReady(_ stream: OutputStream) {
        guard mayRead?() ?? true else { return pause(stream) }
        _ = read(stream)
        if descriptors[stream] == nil, stage == .draining { poll() }
    }

    private func pause(_ stream: OutputStream) {
        guard let descriptor = descriptors[stream] else { return }
        Poller.shared.unwatch(descriptor)
        Poller.shared.after(.milliseconds(20)) {
            // Closed meanwhile, and perhaps somebody else's number by now.
            guard self.descriptors[stream] == descriptor else { return }
            Poller.shared.watch(descriptor, for: .read) { self.outputIsReady(stream) }
        }
    }

    /// Takes what is in the pipes without waiting; somebody else may go on writing for ever, so not without end.
    private func drainPipes() {
        for stream in [OutputStream.standardOutput, .standardError] {
            for _ in 0..<32 where !read(stream) { break }
        }
    }

    /// Reads once. Returns whether there may be more; closes the pipe at its end.
    private func read(_ stream: OutputStream) -> Bool {
        guard let descriptor = descriptors[stream] else { return false }
        let count = Glibc.read(descriptor, Self.buffer.baseAddress, Self.buffer.count)
        if count > 0 {
            // A step that fills the pipe writes much: fewer, larger reads from here on.
            if count == Self.buffer.count { clinux_grow_pipe(descriptor) }
            output(stream, UnsafeRawBufferPointer(rebasing: Self.buffer[..<count]))
            return true
        }
        if count < 0, errno == EAGAIN || errno == EINTR { return false }
        Poller.shared.close(descriptor)
        descriptors[stream] = nil
        return false
    }

    // One for all: a read is handled before the next one begins.
    private static let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)

    private static func makePipe(_ pipe: inout (read: Int32, write: Int32)) -> Bool {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: 2) { ends in
            guard clinux_pipe(ends.baseAddress) == 0 else { return false }
            pipe = (ends[0], ends[1])
            return true
        }
    }
}

/// The read ends that are still open.
private struct OpenPipes {
    private var standardOutput: Int32?
    private var standardError: Int32?

    init(standardOutput: Int32, standardError: Int32) {
        self.standardOutput = standardOutput
        self.standardError = standardError
    }

    var areClosed: Bool { standardOutput == nil && standardError == nil }

    subscript(stream: OutputStream) -> Int32? {
        get { stream == .standardOutput ? standardOutput : standardError }
        set { if stream == .standardOutput { standardOutput = newValue } else { standardError = newValue } }
    }
}

extension Duration {
    init(_ time: timeval) {
        self = .seconds(time.tv_sec) + .microseconds(time.tv_usec)
    }
}
