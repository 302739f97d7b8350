internal import Glibc
internal import Processes
internal import RunLog

/// Something that asks the queue for a process: an attempt of a step, or the command of one of `vars`.
@EventLoopActor
protocol Starter: AnyObject {
    /// Asks the machine for the process. Returns its refusal if a later attempt may succeed; nil if there is nothing
    /// left to ask for.
    func tryStart() -> SpawnError?
    /// Called when the start waits in the queue.
    func startIsRefused()
    /// Called when the queue gives the start up.
    func startHasFailed(_ error: SpawnError)
}

/// Starts the processes of a run. Those that the machine has refused, because it has no process, memory or descriptor
/// left, wait here, oldest first.
///
/// While a process of the run lives, they wait for its end, however late that is: the run goes on with fewer at once.
/// The time after which they are given up, one for the whole run, counts only while the run has no process.
@EventLoopActor
final class StartQueue {
    private let spawner: any Spawner
    private let context: RunContext
    private let loop: RunLoop
    private let recorder: EventRecorder
    // Not a deque, whose first use costs a short run more than moving a few references costs a long one.
    private var waiting: [any Starter] = []
    /// The number of living processes of the run.
    private var running = 0
    private var refusal = SpawnError(errno: EAGAIN)
    /// The moment since which the run has had no process and every start was refused; nil otherwise.
    private var starving: EventLoopClock.Instant?
    private var delay = firstDelay
    private var timer: Timers.Token?
    private var isWarned = false
    private var hasGivenUp = false
    /// True once starts were given up.
    private(set) var isOutOfProcesses = false
    private var isServing = false

    /// The time for which a run without any process tries to get one.
    static let patience = Duration.seconds(30)
    private static let firstDelay = Duration.milliseconds(20)
    private static let longestDelay = Duration.milliseconds(200)

    init(_ spawner: any Spawner, of context: RunContext, loop: RunLoop, recorder: EventRecorder) {
        self.spawner = spawner
        self.context = context
        self.loop = loop
        self.recorder = recorder
    }

    /// Starts a process, after those that already wait for one.
    func start(_ starter: any Starter) {
        guard waiting.isEmpty, !isServing else {
            waiting.append(starter)
            return starter.startIsRefused()
        }
        guard let refusal = starter.tryStart() else { return }
        guard !hasGivenUp else { return starter.startHasFailed(refusal) }
        self.refusal = refusal
        waiting.append(starter)
        starter.startIsRefused()
        warn()
        watch()
    }

    /// Withdraws a start that waits; does nothing to others.
    func withdraw(_ starter: any Starter) { waiting.removeAll { $0 === starter } }

    /// Starts a process whose starter is asked by `tryStart`; `processHasEnded` is called at its end.
    func spawn(
        _ command: ProcessCommand, for observer: any ProcessObserver
    ) throws(SpawnError) -> any RunningProcess {
        let process = try spawner.start(command, for: observer)
        running += 1
        starving = nil
        hasGivenUp = false
        delay = Self.firstDelay
        return process
    }

    func processHasEnded() {
        running -= 1
        if !waiting.isEmpty { serve() }
    }

    /// Called when a pause is over, during which nothing was asked for.
    func resume() {
        starving = nil
        if !waiting.isEmpty { serve() }
    }

    private func serve() {
        guard !isServing, !context.control.isPaused else { return }
        isServing = true
        while !waiting.isEmpty {
            let first = waiting.removeFirst()
            guard let refusal = first.tryStart() else { continue }
            self.refusal = refusal
            waiting.insert(first, at: 0)
            break
        }
        isServing = false
        watch()
    }

    /// Checks the time, and sets a timer for the next try: processes that other programs free are no event.
    private func watch() {
        if let timer = timer.take() { loop.clock.cancel(timer) }
        guard !waiting.isEmpty else { return }
        let now = loop.clock.now
        starving = running > 0 ? nil : starving ?? now
        if let starving, starving.duration(to: now) >= Self.patience { return giveUp() }
        timer = loop.clock.schedule(at: now.advanced(by: delay)) { [weak self] in
            self?.timer = nil
            self?.serve()
        }
        delay = min(delay * 2, Self.longestDelay)
    }

    private func giveUp() {
        hasGivenUp = true
        isOutOfProcesses = true
        let failed = waiting
        waiting = []
        for starter in failed { starter.startHasFailed(refusal) }
    }

    private func warn() {
        guard running > 0, !isWarned else { return }
        isWarned = true
        let reason = String(cString: strerror(refusal.errno)).lowercased()
        let hint = refusal.errno == EMFILE ? "; `ulimit -n` allows more" : ""
        recorder.record(
            .warning(
                code: "processes",
                message: "no more than \(running) processes can run at once (\(reason)); the others wait\(hint)"))
    }
}

extension SpawnError {
    /// True if the machine may have a process a moment later.
    var isPassing: Bool { [EAGAIN, ENOMEM, EMFILE, ENFILE].contains(errno) }
}
