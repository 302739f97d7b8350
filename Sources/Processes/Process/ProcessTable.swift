internal import Basics
internal import Glibc

/// All processes of the machine, as /proc shows them. One look serves all teardowns of the same moment: stopping four
/// hundred steps at once does not take four hundred walks through /proc.
///
/// A failed look is nil and never an empty table: the absence of processes needs proof. Two descriptors are kept in
/// reserve, so that a teardown can look even if steps have left no other.
@EventLoopActor
enum ProcessTable {
    /// A process that is neither gone nor a zombie. One whose first thread has ended looks like a zombie and is none
    /// while it has other threads.
    struct Entry {
        let pid: pid_t
        let parent: pid_t
        let group: pid_t
        let session: pid_t
        let mark: ProcessMark?
    }

    private static var entries: [Entry] = []
    private static var taken: EventLoopClock.Instant?
    /// The time for which a look may be used. Before acting on an entry, callers check that process again.
    private static let lifetime = Duration.milliseconds(5)
    private static var folder: OpaquePointer?
    private static var spare: Int32 = -1

    /// Opens what later looks need. Called before the first process is started; otherwise a look does it.
    static func reserve() {
        guard folder == nil else { return }
        guard let opened = opendir("/proc") else { return }
        folder = opened
        spare = fcntl(dirfd(opened), F_DUPFD_CLOEXEC, 3)
    }

    /// Lets `body` open one descriptor, also if none is free.
    static func withSpareDescriptor<Result, Failure>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        if spare >= 0 { close(spare) }
        defer { if let folder { spare = fcntl(dirfd(folder), F_DUPFD_CLOEXEC, 3) } }
        return try body()
    }

    /// Returns all processes, from a look at most five milliseconds old; nil if the machine does not let flowrun
    /// look.
    static func look() -> [Entry]? {
        let now = EventLoopClock().now
        if let taken, taken.advanced(by: lifetime) > now { return entries }
        return lookAgain()
    }

    /// Returns all processes, from a look in this turn of the event loop: a missing one has started since. nil as in
    /// `look`.
    static func lookInThisTurn() -> [Entry]? {
        if let taken, taken >= Poller.shared.now { return entries }
        return lookAgain()
    }

    /// Returns all processes as they are now; nil as in `look`.
    static func lookAgain() -> [Entry]? {
        taken = nil
        var seen: [Entry] = []
        do throws(SystemError) {
            try forEachProcess { pid throws(SystemError) in
                switch read(pid) {
                case .entry(let entry): seen.append(entry)
                case .gone: break
                case .unknown(let error): throw error
                }
            }
        } catch {
            return nil
        }
        entries = seen
        taken = EventLoopClock().now
        return seen
    }

    /// Calls `body` with the number of every process, zombies included. It may open one descriptor at a time. Throws
    /// if the machine does not let flowrun look.
    static func forEachProcess(_ body: (pid_t) throws(SystemError) -> Void) throws(SystemError) {
        reserve()
        guard let folder else { throw .last }
        try withSpareDescriptor { () throws(SystemError) in
            rewinddir(folder)
            while let entry = try FolderEntry.next(in: folder) {
                let pid = atoi(entry.name)
                if pid > 0 { try body(pid) }
            }
        }
    }

    /// Returns a process that is neither gone nor a zombie; nil otherwise, and if that is not known.
    static func entry(of pid: pid_t) -> Entry? {
        if case .entry(let entry) = read(pid) { entry } else { nil }
    }

    enum Reading {
        case entry(Entry)
        /// Gone, or a zombie.
        case gone
        /// The machine does not let flowrun look.
        case unknown(SystemError)
    }

    static func read(_ pid: pid_t) -> Reading {
        guard let text = contents(of: "\(pid)/stat", capacity: 512) else {
            return errno == ENOENT || errno == ESRCH ? .gone : .unknown(.last)
        }
        // pid (name) state ppid pgrp session … threads: the name may hold anything, its last parenthesis ends it.
        guard let end = text.utf8.lastIndex(of: UInt8(ascii: ")")) else { return .unknown(SystemError(ENODATA)) }
        let fields = text.utf8[end...].dropFirst().split(separator: UInt8(ascii: " "), maxSplits: 4)
        guard fields.count > 4, let parent = pid_t(Substring(fields[1])), let group = pid_t(Substring(fields[2])),
            let session = pid_t(Substring(fields[3]))
        else { return .unknown(SystemError(ENODATA)) }
        if let state = fields[0].first, "ZX".utf8.contains(state), !hasThreads(fields[4]) { return .gone }
        let mark: ProcessMark?
        switch ProcessMark.of(pid) {
        case .mark(let found): mark = found
        case .unmarked: mark = nil
        case .gone: return .gone
        case .unknown(let error): return .unknown(error)
        }
        return .entry(Entry(pid: pid, parent: parent, group: group, session: session, mark: mark))
    }

    /// Returns true if a process has threads besides its first one, by the fields after its session.
    private static func hasThreads(_ fields: Substring.UTF8View) -> Bool {
        let number = fields.split(separator: UInt8(ascii: " "), maxSplits: 14).dropFirst(13).first
        return number.flatMap { Int(Substring($0)) }.map { $0 > 1 } ?? false
    }

    /// Returns the contents of a file below /proc; nil with errno if it cannot be read.
    static func contents(of name: String, capacity: Int) -> String? {
        guard let folder else {
            errno = ENOSYS
            return nil
        }
        let descriptor = openat(dirfd(folder), name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { buffer in
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            // The process has been reaped since.
            if count == 0 { errno = ESRCH }
            guard count > 0 else { return nil }
            return String(decoding: buffer.prefix(count), as: UTF8.self)
        }
    }
}
