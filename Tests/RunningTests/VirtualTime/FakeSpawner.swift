import Glibc
import Processes

/// Starts processes that only exist in virtual time.
@EventLoopActor
final class FakeSpawner: Spawner {
    /// What one attempt of a step does.
    struct Behaviour {
        var duration = Duration.seconds(1)
        var status = ProcessEnding.Status.exited(0)
        /// Written to standard output when it ends.
        var output = ""
        /// Written to the file `$FLOWRUN_OUTPUT` when it ends.
        var file = ""
        /// Does not hear of any signal but KILL.
        var isDeaf = false
        /// How long something of it goes on after its first process has ended.
        var lingering = Duration.zero
        /// How long a stranger holds its pipe after KILL.
        var pipeIsHeld = Duration.zero
        /// Processes that not even KILL ends.
        var remaining: [Int32]?
    }

    private let clock: VirtualClock
    private let behave: (String, Int) -> Behaviour
    /// The errors of the next starts.
    var errors: [Int32] = []
    private var lastPid: Int32 = 0
    /// Commands that were started, in order.
    private(set) var commands: [ProcessCommand] = []
    private(set) var runningCount = 0
    /// The most processes that ran at once.
    private(set) var peak = 0

    init(_ clock: VirtualClock, _ behave: @escaping (String, Int) -> Behaviour) {
        self.clock = clock
        self.behave = behave
    }

    func start(_ command: ProcessCommand, for observer: any ProcessObserver) throws(SpawnError) -> any RunningProcess {
        if !errors.isEmpty { throw SpawnError(errno: errors.removeFirst()) }
        commands.append(command)
        lastPid += 1
        let own = Dictionary(command.additions.map { ($0.name, $0.value) }) { $1 }
        let attempt = own["FLOWRUN_ATTEMPT"].flatMap { Int($0) } ?? 0
        let process = FakeProcess(
            pid: lastPid, behave(own["FLOWRUN_STEP"] ?? "", attempt), file: own["FLOWRUN_OUTPUT"], observer: observer,
            clock: clock)
        runningCount += 1
        peak = max(peak, runningCount)
        process.whenOver = { self.runningCount -= 1 }
        return process
    }
}

/// One of its processes.
@EventLoopActor
private final class FakeProcess: RunningProcess {
    let pid: Int32
    private(set) var isStopping = false
    var whenOver: () -> Void = {}
    private let behaviour: FakeSpawner.Behaviour
    private let file: String?
    private let clock: VirtualClock
    private var observer: (any ProcessObserver)?
    private let began: EventLoopClock.Instant
    private var timer: Timers.Token?
    private var killTimer: Timers.Token?
    /// What was left of it when it was frozen.
    private var rest: Duration?
    private var due: EventLoopClock.Instant

    init(
        pid: Int32, _ behaviour: FakeSpawner.Behaviour, file: String?, observer: any ProcessObserver,
        clock: VirtualClock
    ) {
        self.pid = pid
        self.behaviour = behaviour
        self.file = file
        self.observer = observer
        self.clock = clock
        began = clock.now
        due = clock.now.advanced(by: behaviour.duration)
        schedule()
    }

    func terminate(with signal: Int32, grace: Duration) {
        guard !isStopping else { return }
        isStopping = true
        observer?.process(sent: signal)
        if !behaviour.isDeaf { return die(by: signal) }
        // Processes that it has left behind do not get the signal either, and are not ended before KILL.
        if behaviour.lingering > .zero, due <= clock.now, let timer { clock.cancel(timer) }
        killTimer = clock.schedule(at: clock.now.advanced(by: grace)) { self.killAll() }
    }

    func killAll() {
        guard observer != nil else { return }
        isStopping = true
        observer?.process(sent: SIGKILL)
        die(by: SIGKILL)
    }

    func freeze() {
        guard rest == nil else { return }
        rest = clock.now.duration(to: due)
        if let timer { clock.cancel(timer) }
    }

    func thaw() {
        guard let rest else { return }
        self.rest = nil
        due = clock.now.advanced(by: rest)
        schedule()
    }

    private func schedule() { timer = clock.schedule(at: due) { self.exit() } }

    private func exit() {
        if let file, !behaviour.file.isEmpty { write(behaviour.file, to: file) }
        var output = behaviour.output
        if !output.isEmpty {
            output.withUTF8 { observer?.process(wrote: UnsafeRawBufferPointer($0), to: .combined) }
        }
        observer?.process(exited: behaviour.status)
        guard behaviour.lingering > .zero else { return end(behaviour.status) }
        timer = clock.schedule(at: clock.now.advanced(by: behaviour.lingering)) { self.end(self.behaviour.status) }
        observer?.processLingers()
    }

    private func die(by signal: Int32) {
        if let timer { clock.cancel(timer) }
        // Never during the call that asks for it.
        clock.after(signal == SIGKILL ? behaviour.pipeIsHeld : .zero) {
            self.observer?.process(exited: .signalled(signal))
            self.end(.signalled(signal))
        }
    }

    private func end(_ status: ProcessEnding.Status) {
        guard let observer = observer.take() else { return }
        if let killTimer { clock.cancel(killTimer) }
        whenOver()
        var ending = ProcessEnding(status: status, duration: began.duration(to: clock.now))
        ending.remaining = behaviour.remaining
        observer.process(ended: ending)
    }

    private func write(_ text: String, to path: String) {
        let descriptor = open(path, O_WRONLY | O_APPEND)
        _ = text.withCString { Glibc.write(descriptor, $0, strlen($0)) }
        close(descriptor)
    }
}
