import Foundation
import Glibc
import Synchronization

/// One process of a test: what it has written, how it ended, and who waits for what.
///
/// A thread of its own reads its pipes and watches the test's folder, and looks at every waiter's condition whenever
/// something has happened; nothing sleeps and nothing is asked again and again. A process that outlives its deadline is
/// terminated, and five seconds later killed: it alone, by its id, before it is reaped.
final class ChildProcess: Sendable {
    /// What a waiter may look at.
    struct Progress: Sendable {
        var stdout: [UInt8] = []
        var stderr: [UInt8] = []
        /// Set when the process has ended and all that it wrote has been read.
        var end: End?
        /// The JSON Lines among `stdout` so far.
        var records: [EventLog.Record] = []
        fileprivate var parsed = 0
    }

    struct End: Sendable {
        let status: ProcessStatus
        let duration: Duration
    }

    private struct State {
        var progress = Progress()
        var status: ProcessStatus?
        var endedAt: ContinuousClock.Instant?
        /// When the process is terminated, and after that killed.
        var limit: ContinuousClock.Instant
        var isPastDeadline = false
        /// Answers whether it is done with: satisfied, or failed with the reason given.
        var waiters: [(Progress, WaitError.Reason?) -> Bool] = []
    }

    /// Between the terminate and the kill of a process that does not end by itself.
    private static let gracePeriod = Duration.seconds(5)

    let pid: pid_t
    private let state: Mutex<State>
    private let started: ContinuousClock.Instant
    private let waking: Descriptor
    private let wakeUp: Descriptor

    /// Starts the process. `whenEnded` is called once, on another thread.
    init(
        _ spawn: Spawn, stdin: StandardInput, deadline: Duration, whenEnded: @escaping @Sendable () -> Void
    ) throws {
        let (input, heldInput) = try stdin.open()
        let out = try Descriptor.pipe()
        let err = try Descriptor.pipe()
        (waking, wakeUp) = try Descriptor.pipe()
        let folderWatch = try Descriptor("inotify_init1", spawn.folder, inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)))
        let interesting = UInt32(IN_CREATE | IN_MOVED_TO | IN_MODIFY | IN_CLOSE_WRITE | IN_DELETE)
        guard inotify_add_watch(folderWatch.number, spawn.folder, interesting) >= 0 else {
            throw SystemError(operation: "inotify_add_watch", subject: spawn.folder, code: errno)
        }
        for reading in [out.reading, err.reading, waking] {
            _ = fcntl(reading.number, F_SETFL, O_NONBLOCK)
        }
        started = .now
        state = Mutex(State(limit: started + deadline))
        pid = try spawn.start(stdin: input, stdout: out.writing, stderr: err.writing)

        Thread.detachNewThread { self.reap() }
        let sources = Sources(stdout: out.reading, stderr: err.reading, folder: folderWatch)
        Thread.detachNewThread {
            self.watch(sources)
            withExtendedLifetime(heldInput) {}
            whenEnded()
        }
    }

    /// Sends a signal to the process, or to the group that it leads, unless it has been reaped already.
    func signal(_ number: Int32, toGroup: Bool = false) {
        state.withLock { state in
            if state.status == nil { kill(toGroup ? -pid : pid, number) }
        }
    }

    /// Ends the process if it still runs, for a test that failed before it came to wait for the end.
    func abandon() {
        state.withLock { state in
            state.isPastDeadline = true
            state.limit = .now + Self.gracePeriod
        }
        signal(SIGTERM)
        wake()
    }

    /// Waits until `look` finds what it wants. Throws at the deadline, and where the process has ended without.
    func wait<Value: Sendable>(
        for what: String, _ look: @escaping @Sendable (Progress) -> Value?
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            state.withLock { state in
                state.waiters.append { progress, failure in
                    if let failure {
                        continuation.resume(throwing: WaitError(what: what, reason: failure, progress: progress))
                    } else if let value = look(progress) {
                        continuation.resume(returning: value)
                    } else if progress.end != nil {
                        continuation.resume(throwing: WaitError(what: what, reason: .ended, progress: progress))
                    } else {
                        return false
                    }
                    return true
                }
                Self.askWaiters(&state)
            }
        }
    }

    // MARK: - The threads

    private struct Sources: Sendable {
        var stdout: Descriptor?
        var stderr: Descriptor?
        let folder: Descriptor
    }

    /// Waits for the end without reaping, so that `signal` cannot hit another process that got the same id.
    private func reap() {
        var info = siginfo_t()
        while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        state.withLock { state in
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            state.status = ProcessStatus(waitStatus: status)
            state.endedAt = .now
        }
        wake()
    }

    private func wake() {
        _ = write(wakeUp.number, [1], 1)
    }

    private func watch(_ initial: Sources) {
        var sources = initial
        while true {
            // In this order: a wake-up taken here is looked into below, and what a process wrote before its end can be
            // read once the end is known.
            _ = waking.readAvailable()
            let hasEnded = state.withLock { $0.status != nil }
            _ = sources.folder.readAvailable()
            let out = Self.drain(&sources.stdout)
            let err = Self.drain(&sources.stderr)
            let isDone = state.withLock { state in
                state.progress.stdout += out
                state.progress.stderr += err
                if hasEnded, let status = state.status, let endedAt = state.endedAt {
                    state.progress.end = End(status: status, duration: endedAt - started)
                }
                Self.askWaiters(&state)
                return state.progress.end != nil
            }
            if isDone { return }

            let (limit, overdue): (ContinuousClock.Instant, Int32?) = state.withLock { state in
                guard state.limit <= .now else { return (state.limit, nil) }
                defer { state.isPastDeadline = true }
                state.limit = .now + Self.gracePeriod
                return (state.limit, state.isPastDeadline ? SIGKILL : SIGTERM)
            }
            if let overdue {
                signal(overdue)
            } else {
                poll(sources, for: limit - .now)
            }
        }
    }

    private static func drain(_ source: inout Descriptor?) -> [UInt8] {
        guard let (bytes, isAtEnd) = source?.readAvailable() else { return [] }
        if isAtEnd { source = nil }
        return bytes
    }

    private func poll(_ sources: Sources, for duration: Duration) {
        var descriptors = [sources.stdout, sources.stderr, waking, sources.folder].compactMap { source in
            source.map { pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0) }
        }
        let milliseconds = duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
        _ = Glibc.poll(&descriptors, nfds_t(descriptors.count), Int32(clamping: max(1, milliseconds + 1)))
    }

    private static func askWaiters(_ state: inout State) {
        guard !state.waiters.isEmpty else { return }
        state.progress.parseNewLines()
        let (progress, failure) = (state.progress, state.isPastDeadline ? WaitError.Reason.deadline : nil)
        state.waiters.removeAll { $0(progress, failure) }
    }
}

extension ChildProcess.Progress {
    /// Lines that are not JSON are left out: a text log has no records.
    fileprivate mutating func parseNewLines() {
        guard let end = stdout.lastIndex(of: 10), end >= parsed else { return }
        for line in stdout[parsed...end].split(separator: 10) where line.first == UInt8(ascii: "{") {
            if let record = try? EventLog.Record(line: line) { records.append(record) }
        }
        parsed = end + 1
    }
}

/// How a process ended.
package enum ProcessStatus: Sendable, Hashable, CustomStringConvertible {
    case exited(Int32)
    case signalled(Int32)

    init(waitStatus: Int32) {
        let signal = waitStatus & 0x7f
        self = signal == 0 ? .exited((waitStatus >> 8) & 0xff) : .signalled(signal)
    }

    package var description: String {
        switch self {
        case .exited(let code): "exit \(code)"
        case .signalled(let number): "signal \(number)"
        }
    }
}

/// What a test waited for did not come.
struct WaitError: Error, CustomStringConvertible {
    enum Reason: String {
        case deadline = "the deadline passed"
        case ended = "the process ended"
    }

    let what: String
    let reason: Reason
    let progress: ChildProcess.Progress

    var description: String {
        """
        waited for \(what), but \(reason.rawValue)\(progress.end.map { " (\($0.status))" } ?? "")
        --- standard output
        \(String(decoding: progress.stdout.suffix(4000), as: UTF8.self))
        --- standard error
        \(String(decoding: progress.stderr.suffix(4000), as: UTF8.self))
        """
    }
}
