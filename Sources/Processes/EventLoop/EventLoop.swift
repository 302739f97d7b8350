internal import BasicContainers
internal import Basics
internal import CLinux
internal import Glibc
internal import Synchronization

/// The engine's one thread: an executor whose idle time is an epoll wait, so that the end of a process, a pipe, a
/// signal or a timer resumes its task without any thread hop.
///
/// Jobs may be enqueued from any thread; everything else happens on the thread that calls `run`.
package final class EventLoop: SerialExecutor, TaskExecutor {
    package static let shared = EventLoop()

    private struct Inbox: ~Copyable {
        /// Oldest first.
        var jobs = UniqueArray<UnownedJob>()
        /// True while the thread may be asleep in epoll_wait and has to be woken for a new job.
        var isWaiting = false
        var isStopped = false
    }

    private let inbox = Mutex(Inbox())
    let epoll: Int32
    /// Readable once the loop has to be woken.
    let wakeup: Int32
    // The identity of the thread in `run`; 0 before. Read to answer "am I on the loop?".
    private let thread = Atomic<UInt>(0)

    private init() {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        wakeup = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard epoll >= 0, wakeup >= 0 else { giveUp("set up its event loop", errno) }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let mustWake = inbox.withLock { inbox in
            inbox.jobs.append(job)
            return inbox.isWaiting
        }
        if mustWake, !isCurrent { wake() }
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    package func checkIsolated() {
        precondition(isCurrent, "called off the event loop's thread")
    }

    /// True if the caller is on the loop's thread.
    package var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Runs jobs and handles descriptors until `stop`. Called once, on the thread that becomes the loop's.
    package func run() {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        EventLoopActor.assumeIsolated { Poller.shared.run(on: self) }
    }

    /// Lets `run` return after the jobs that are ready now.
    package func stop() {
        inbox.withLock { $0.isStopped = true }
        wake()
    }

    /// Runs all ready jobs. Returns false when the loop is to end.
    func runJobs() -> Bool {
        var jobs = UniqueArray<UnownedJob>()
        while true {
            jobs.removeAll(keepingCapacity: true)
            let isStopped = inbox.withLock { inbox in
                swap(&inbox.jobs, &jobs)
                inbox.isWaiting = jobs.isEmpty
                return inbox.isStopped
            }
            guard !jobs.isEmpty else { return !isStopped }
            for index in 0..<jobs.count {
                jobs[index]
                    .runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            }
        }
    }

    /// True if jobs wait for `runJobs`.
    var hasJobs: Bool { inbox.withLock { !$0.jobs.isEmpty } }

    private func wake() {
        var one: UInt64 = 1
        // A loop that is not woken hangs.
        for _ in 0..<8 where write(wakeup, &one, 8) == 8 || errno == EAGAIN { return }
        giveUp("wake its event loop", errno)
    }

    func hasWoken() {
        var count: UInt64 = 0
        _ = read(wakeup, &count, 8)
    }
}

/// Isolates what only the event loop's thread may touch: processes, descriptors, the run itself.
@globalActor
package actor EventLoopActor {
    package static let shared = EventLoopActor()

    package nonisolated var unownedExecutor: UnownedSerialExecutor { EventLoop.shared.asUnownedSerialExecutor() }

    /// Runs `body` synchronously; traps unless the caller is on the loop's thread.
    package static func assumeIsolated<Result>(_ body: @EventLoopActor () throws -> Result) rethrows -> Result {
        EventLoop.shared.checkIsolated()
        // As in MainActor.assumeIsolated, for which the language has no construct yet: the check above proves the
        // isolation that the cast removes from the type.
        return try withoutActuallyEscaping(body) { body in
            try unsafeBitCast(body, to: (() throws -> Result).self)()
        }
    }
}

/// Ends flowrun when the machine refuses something it cannot do without. Exits with 125, as for everything that is
/// neither a step's nor the workflow's fault. `operation` is a verb and its object.
func giveUp(_ operation: String, _ error: Int32) -> Never {
    let reason = SystemError(error).words
    let hint =
        switch error {
        case EMFILE, ENFILE: "; allow it more descriptors (ulimit -n)"
        default: ""
        }
    sayLast("flowrun: cannot \(operation): \(reason)\(hint)\n")
    exit(125)
}

/// Writes to standard error when no loop runs any more. Drops what is not taken within two seconds.
private func sayLast(_ message: String) {
    guard let errors = OutputDescriptor(sharing: STDERR_FILENO) else { return }
    let deadline = EventLoopClock().now.advanced(by: .seconds(2))
    var rest = Array(message.utf8)[...]
    while !rest.isEmpty {
        let left = EventLoopClock().now.duration(to: deadline)
        guard left > .zero, errors.waitUntilReady(milliseconds: Int32(left / .milliseconds(1))) else { return }
        let count = rest.withUnsafeBytes(errors.write)
        guard count > 0 || errno == EAGAIN || errno == EINTR else { return }
        rest = rest.dropFirst(max(count, 0))
    }
}
