internal import Basics
internal import CLinux
internal import Glibc

/// The descriptors of one running command: carries out the decisions of its `ProcessLifecycle`.
@EventLoopActor
final class ChildProcess: RunningProcess {
    let pid: Int32

    private let pidfd: Int32
    private var tree: ProcessTree
    private let started = Poller.shared.now
    private var lifecycle: ProcessLifecycle
    private var pipes: OpenPipes
    /// Nil once the first process is reaped.
    private var slot: SpawnSlot?
    /// Nil once the end has been reported to it.
    private var observer: (any ProcessObserver)?
    private var timer: Timers.Token?
    /// Nil if the command has pipes instead.
    private let terminal: ControllingTerminal?
    private var stops: StopWatch?
    /// Nil if none was available.
    private var leaf: CgroupLeaf?
    /// The wait before the next attempt to reap, and the time from which everything left is killed; nil before the
    /// first.
    private var reaping: (interval: Duration, until: EventLoopClock.Instant)?
    private var ending = ProcessEnding(status: .signalled(SIGKILL))

    var isStopping: Bool { lifecycle.isStopping }

    private var isReaped: Bool { slot == nil }

    /// Starts a command. `input` is read if the command has no standard input of its own.
    init(
        _ command: ProcessCommand, input: Int32, slot: SpawnSlot, observer: any ProcessObserver
    ) throws(SpawnError) {
        var output: Pipe?
        var errors: Pipe?
        do throws(SpawnError) {
            if command.terminal == nil { output = try Pipe() }
            if let output, command.separatesStreams { errors = try Pipe(afterClosing: output) }
        } catch {
            ProcessSpawner.shared.giveBack(slot)
            throw error
        }
        var pidfd: Int32 = -1
        let mark = Containment.shared.makeMark(isDetached: command.attributes.isDetached)
        let leaf = command.attributes.isDetached ? nil : Containment.shared.takeLeaf()
        let pid: pid_t
        if let terminal = command.terminal {
            let number = terminal.descriptor
            pid = terminal.lend {
                slot.spawn(
                    command, input: number, output: number, error: number, mark: mark, leaf: leaf, pidfd: &pidfd)
            }
        } else {
            let writing = output?.writing ?? -1
            pid = slot.spawn(
                command, input: command.standardInput?.descriptor ?? input, output: writing,
                error: errors?.writing ?? writing, mark: mark, leaf: leaf, pidfd: &pidfd)
        }
        guard pid > 0 else {
            output?.close()
            errors?.close()
            if let leaf { Containment.shared.giveBack(leaf) }
            ProcessSpawner.shared.giveBack(slot)
            throw SpawnError(errno: -pid)
        }
        if let output { Glibc.close(output.writing) }
        if let errors { Glibc.close(errors.writing) }
        Containment.shared.began(pid)
        self.pid = pid
        self.pidfd = pidfd
        self.slot = slot
        self.observer = observer
        terminal = command.terminal
        if slot.isInLeaf { self.leaf = leaf } else if leaf != nil { Containment.shared.doWithoutLeaves() }
        // All detached commands share one mark: only the session tells them apart, while the leader lives.
        tree = ProcessTree(
            id: pid, leader: pidfd, mark: command.attributes.isDetached ? nil : mark, leaf: self.leaf,
            leadsSession: terminal == nil)
        lifecycle = ProcessLifecycle(isDetached: command.attributes.isDetached, hasPipes: terminal == nil)
        pipes = OpenPipes(output: output?.reading, error: errors?.reading)
        ending.layer = layer(of: command).rawValue
        for index in 0..<pipes.count {
            let stream = pipes.stream(at: index)
            if let descriptor = pipes[stream] { Poller.shared.watchSoon(descriptor) { self.outputIsReady(stream) } }
        }
        Poller.shared.watchOnce(pidfd) { self.reap() }
        if terminal != nil { stops = StopWatch { [weak self] in self?.mayHaveStopped() } }
    }

    // MARK: Requests

    func terminate(with signal: Int32, grace: Duration) {
        perform(lifecycle.terminate(with: signal, grace: grace, at: EventLoopClock().now))
    }

    func killAll() { perform(lifecycle.kill(at: EventLoopClock().now)) }

    func freeze() {
        let actions = lifecycle.freeze(at: EventLoopClock().now)
        perform(actions)
        if !actions.isEmpty { terminal?.takeBack() }
    }

    func thaw() {
        let actions = lifecycle.thaw(at: EventLoopClock().now)
        if !actions.isEmpty, !isReaped { terminal?.lendAgain() }
        perform(actions)
    }

    private func perform(_ actions: ProcessLifecycle.Actions) {
        actions.forEach { action in
            switch action {
            case .send(let signal): send(signal)
            case .sweep: killMembers()
            case .look: look()
            case .wake(let time): wake(at: time)
            case .tellLingering: observer?.processLingers()
            case .finish(let isTruncated, let isLost): finish(isTruncated: isTruncated, isLost: isLost)
            }
        }
    }

    private func send(_ signal: Int32) {
        if signalAll(signal) { observer?.process(sent: signal) }
    }

    private func killMembers() { _ = signalAll(SIGKILL) }

    /// Returns true if a process has received the signal.
    private func signalAll(_ signal: Int32) -> Bool {
        let reach = tree.signal(signal, isLeaderReaped: isReaped)
        if ![SIGSTOP, SIGCONT].contains(signal) { ending.escaped = max(ending.escaped, reach.escaped) }
        if signal == SIGKILL, isReaped { ending.leftBehind = max(ending.leftBehind, reach.found) }
        return reach.sent > 0
    }

    private func look() {
        let presence = tree.presence(isLikely: lifecycle.expectsSurvivors)
        perform(lifecycle.looked(isAlive: presence != .absent, at: EventLoopClock().now))
    }

    private func wake(at time: EventLoopClock.Instant) {
        if let timer { Poller.shared.timers.cancel(timer) }
        timer = Poller.shared.timers.schedule(at: time) {
            self.timer = nil
            self.perform(self.lifecycle.time(at: EventLoopClock().now))
        }
    }

    private func finish(isTruncated: Bool, isLost: Bool) {
        // What is left in a pipe was written in time, whether or not the log keeps up.
        for index in 0..<pipes.count {
            let stream = pipes.stream(at: index)
            var reads = 0
            while reads < 4, read(stream) == .more { reads += 1 }
        }
        ending.isOutputTruncated = isTruncated && !pipes.areClosed
        for index in 0..<pipes.count {
            if let descriptor = pipes[pipes.stream(at: index)] { ending.droppedBytes += unread(in: descriptor) }
        }
        if let leaf = leaf.take(), !isLost { Containment.shared.giveBack(leaf) }
        if isLost {
            let remaining = tree.members?.map(\.pid) ?? []
            ending.remaining = remaining
            ending.leftBehind = max(0, ending.leftBehind - remaining.count)
        }
        if let timer { Poller.shared.timers.cancel(timer) }
        timer = nil
        giveUpTerminal()
        for index in 0..<pipes.count { close(pipes.stream(at: index)) }
        if let slot {
            ending.isReaped = false
            ending.duration = started.duration(to: Poller.shared.now)
            Poller.shared.close(pidfd)
            ProcessSpawner.shared.abandon(slot)
        } else {
            // Until now it was needed to signal the leader's group.
            Poller.shared.closeAfterEvent(pidfd)
        }
        observer.take()?.process(ended: ending)
    }

    // MARK: Events

    /// Handles a first process that has ended but cannot be reaped: its tracer is notified of the end first, and no
    /// event reports when the tracer lets go. A tracer that belongs to the command has the drain window.
    private func reapLater() {
        let end = EventLoopClock().now.advanced(by: ProcessLifecycle.drainWindow)
        let wait = reaping ?? (interval: .milliseconds(1), until: end)
        reaping = (min(wait.interval * 2, .milliseconds(50)), wait.until)
        Poller.shared.after(wait.interval) {
            // The command was given up as lost meanwhile.
            guard self.observer != nil else { return }
            if EventLoopClock().now >= wait.until { self.killAll() }
            self.reap()
        }
    }

    private func reap() {
        var ended = clinux_ending()
        let result = clinux_reap(pidfd, &ended)
        guard result != 0 else { return reapLater() }
        guard result > 0, let slot else { giveUp("wait for a process", -result) }
        Containment.shared.reaped(pid)
        ending.status = ended.code == CLD_EXITED ? .exited(ended.status) : .signalled(ended.status)
        if ended.code == CLD_EXITED, let error = slot.error { ending.status = .notStarted(error) }
        ending.duration = started.duration(to: Poller.shared.now)
        ending.maxResident = ended.usage.ru_maxrss
        ending.user = Duration(ended.usage.ru_utime)
        ending.system = Duration(ended.usage.ru_stime)
        ending.isOutOfMemory = isOutOfMemory
        self.slot = nil
        ProcessSpawner.shared.giveBack(slot)
        giveUpTerminal()
        drainPipes()
        let actions = lifecycle.reaped(at: Poller.shared.now)
        observer?.process(exited: ending.status)
        perform(actions)
    }

    /// Takes the terminal back: what outlives the first process is in the background from here on.
    private func giveUpTerminal() {
        stops = nil
        terminal?.takeBack()
    }

    private func mayHaveStopped() {
        let signal = clinux_stop_of(pidfd)
        if signal != 0, !lifecycle.isFrozen, !isStopping { observer?.process(stopped: signal) }
    }

    /// True if the kernel has killed the command for want of memory. Its own leaf is certain if it counts, whichever
    /// process was killed; other counters decide only if the first process was killed, and not by flowrun.
    private var isOutOfMemory: Bool {
        guard ending.status != .exited(0) else { return false }
        if let isKilled = leaf?.takeKills() { return isKilled }
        guard !isStopping, [.signalled(SIGKILL), .exited(128 + SIGKILL)].contains(ending.status) else { return false }
        return Containment.shared.takeKills()
    }

    private func layer(of command: ProcessCommand) -> Containment.Layer {
        command.attributes.isDetached ? .detached : leaf != nil ? .cgroup : Containment.shared.layer
    }

    private func outputIsReady(_ stream: OutputStream) {
        guard observer?.mayTakeOutput ?? true else { return pause(stream) }
        if read(stream) == .ended { perform(lifecycle.pipesClosed()) }
    }

    private func pause(_ stream: OutputStream) {
        guard let descriptor = pipes[stream] else { return }
        Poller.shared.unwatch(descriptor)
        lifecycle.holdsBack(at: EventLoopClock().now)
        goOn(with: stream, of: descriptor)
    }

    private func goOn(with stream: OutputStream, of descriptor: Int32) {
        Poller.shared.after(.milliseconds(20)) {
            // Closed meanwhile; the number may be another descriptor's by now.
            guard self.pipes[stream] == descriptor else { return }
            guard self.observer?.mayTakeOutput ?? true else { return self.goOn(with: stream, of: descriptor) }
            // It may have been held back twice.
            Poller.shared.unwatch(descriptor)
            Poller.shared.watch(descriptor, for: .read) { self.outputIsReady(stream) }
            self.perform(self.lifecycle.readsOn(at: EventLoopClock().now))
        }
    }

    /// Takes what is in the pipes without waiting, up to a limit: another process may write for ever.
    private func drainPipes() {
        for index in 0..<pipes.count {
            let stream = pipes.stream(at: index)
            for _ in 0..<32 {
                guard observer?.mayTakeOutput ?? true else {
                    pause(stream)
                    break
                }
                let result = read(stream)
                if result == .ended { perform(lifecycle.pipesClosed()) }
                if result != .more { break }
            }
        }
    }

    private enum ReadResult {
        case more
        /// Nothing at the moment.
        case empty
        /// All pipes are at their end.
        case ended
    }

    private func read(_ stream: OutputStream) -> ReadResult {
        guard let descriptor = pipes[stream] else { return .empty }
        let count = Glibc.read(descriptor, Self.buffer.baseAddress, Self.buffer.count)
        if count > 0 {
            if count >= Self.usualPipe, !pipes.areLarge {
                // It filled the pipe, so it writes much: fewer, larger reads from here on.
                pipes.areLarge = true
                for index in 0..<pipes.count {
                    if let descriptor = pipes[pipes.stream(at: index)] {
                        clinux_grow_pipe(descriptor, Self.buffer.count)
                    }
                }
            }
            observer?.process(wrote: UnsafeRawBufferPointer(rebasing: Self.buffer[..<count]), to: stream)
            return .more
        }
        if count < 0 {
            if errno == EAGAIN || errno == EINTR { return .empty }
            ending.outputError = errno
            ending.droppedBytes += unread(in: descriptor)
        }
        close(stream)
        return pipes.areClosed ? .ended : .empty
    }

    private func unread(in pipe: Int32) -> Int {
        var count: Int32 = 0
        return ioctl(pipe, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
    }

    private func close(_ stream: OutputStream) {
        if let descriptor = pipes[stream].take() { Poller.shared.close(descriptor) }
    }

    /// The default size of a pipe in bytes.
    private static let usualPipe = 64 << 10
    // Shared by all: a read is handled before the next one begins. A larger one saves nothing and outgrows the cache.
    private static let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
}

/// Both ends of a new pipe. Only the reading one does not block.
@EventLoopActor
private struct Pipe {
    let reading: Int32
    let writing: Int32

    /// Makes a pipe; closes `other` if no descriptors are left for this one.
    init(afterClosing other: Pipe? = nil) throws(SpawnError) {
        var ends: (reading: Int32, writing: Int32) = (-1, -1)
        let error = clinux_pipe(&ends.reading, &ends.writing)
        if error < 0 { other?.close() }
        guard error == 0 else { throw SpawnError(errno: -error) }
        (reading, writing) = ends
        guard DescriptorLimit.isReserved(max(reading, writing)) else { return }
        close()
        other?.close()
        throw SpawnError(errno: EMFILE)
    }

    func close() {
        Glibc.close(reading)
        Glibc.close(writing)
    }
}

/// The reading ends that are still open.
private struct OpenPipes {
    private var output: Int32?
    private var error: Int32?
    /// The initial number of pipes.
    let count: Int
    /// True once the kernel was asked for larger ones.
    var areLarge = false

    /// One pipe for both streams where there is no `error`; none without `output`.
    init(output: Int32?, error: Int32?) {
        self.output = output
        self.error = error
        count = output == nil ? 0 : error == nil ? 1 : 2
    }

    var areClosed: Bool { output == nil && error == nil }

    // Not an array: setting up its type costs a small run as much as a system call.
    func stream(at index: Int) -> OutputStream {
        count == 1 ? .combined : index == 0 ? .standardOutput : .standardError
    }

    subscript(stream: OutputStream) -> Int32? {
        get { stream == .standardError ? error : output }
        set { if stream == .standardError { error = newValue } else { output = newValue } }
    }
}

extension Duration {
    fileprivate init(_ time: timeval) {
        self = .seconds(time.tv_sec) + .microseconds(time.tv_usec)
    }
}
