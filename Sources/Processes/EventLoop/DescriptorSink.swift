package import Basics
internal import CLinux
internal import Glibc

/// Writes records to a descriptor, one `write(2)` each, without letting a slow reader stall the event loop. Records
/// that the reader does not take wait in memory. The next piece of a long text is made only once the previous one is
/// written.
package final class DescriptorSink {
    /// Hands out the next piece of a long text and returns true, or returns false at its end.
    package typealias Source = ((UnsafeRawBufferPointer) -> Void) -> Bool

    private let descriptor: OutputDescriptor
    private var pending: [UInt8] = []
    /// The number of bytes of `pending` already written.
    private var written = 0
    /// Long texts queued after `pending`, each with the records that follow it. Few: see `textCongestion`.
    private var texts: [(source: Source, records: [UInt8])] = []
    /// The total size in bytes of the records after long texts.
    private var behindTexts = 0
    private var isWatching = false
    /// Holds back all output, as if the reader took nothing, while another process has the terminal.
    package var isHeld = false {
        didSet {
            guard oldValue, !isHeld else { return }
            writePending()
            pull()
            if hasPending { watch() }
        }
    }

    /// The number of waiting bytes above which steps should write no more.
    private static let congestion = 512 << 10
    /// The same limit as a number of long texts, each of which may have a file open.
    private static let textCongestion = 32
    /// The number of bytes of a long text written before the event loop gets another turn.
    private static let turn = 1 << 20
    /// The error number of the first write that failed; nothing is written after it.
    package private(set) var failure: Int32?

    /// `descriptor` stays open and its flags stay unchanged: other processes share it.
    package convenience init(_ descriptor: Int32) {
        let shared = OutputDescriptor(sharing: descriptor)
        self.init(shared ?? OutputDescriptor(own: descriptor))
        if shared == nil { failure = EBADF }
    }

    init(_ descriptor: OutputDescriptor) { self.descriptor = descriptor }

    /// Creates or empties a file; throws if that is refused.
    package convenience init(creating path: String) throws(SystemError) {
        // Non-blocking for a fifo or a terminal; for a file it means nothing.
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0o666)
        guard file >= 0 else { throw .last }
        self.init(OutputDescriptor(own: file))
    }

    package func write(_ record: UnsafeRawBufferPointer) {
        guard failure == nil else { return }
        guard texts.isEmpty else {
            texts[texts.count - 1].records.append(contentsOf: record)
            behindTexts += record.count
            return
        }
        guard pending.isEmpty else {
            pending.append(contentsOf: record)
            // Many records in one turn of the loop need little memory if the reader is fast.
            if isCongested { writePending() }
            return
        }
        let accepted = attempt(record)
        guard accepted < record.count, failure == nil else { return }
        pending.append(contentsOf: record[accepted...])
        watch()
    }

    /// Writes as much of a record as the descriptor takes at once, and nothing while other records wait; drops the
    /// rest. Returns the number of bytes written.
    package func offer(_ record: UnsafeRawBufferPointer) -> Int {
        failure == nil && !hasPending ? attempt(record) : 0
    }

    /// Writes a long text after everything written before and ahead of everything written later. Short texts and fast
    /// readers are served before this returns, others while the event loop runs. Never more than one piece of the
    /// text is in memory.
    package func write(pulling source: @escaping Source) {
        guard failure == nil else { return }
        texts.append((source, []))
        guard pending.isEmpty, texts.count == 1 else { return }
        pull()
        if hasPending { watch() }
    }

    /// True if anything waits for the reader.
    package var hasPending: Bool { failure == nil && !(pending.isEmpty && texts.isEmpty) }

    /// True if so much waits for the reader that steps should not start or write more. Long texts themselves do not
    /// count: they wait where they are stored.
    package var isCongested: Bool {
        pending.count - written + behindTexts > Self.congestion || texts.count > Self.textCongestion
    }

    /// Writes as much of the long texts as the reader takes at once, at most `turn` bytes.
    private func pull() {
        var taken = 0
        while failure == nil, pending.isEmpty, taken < Self.turn, let (source, records) = texts.first {
            let hasMore = source { piece in
                taken += piece.count
                accept(piece)
            }
            guard !hasMore else { continue }
            texts.removeFirst()
            behindTexts -= records.count
            pending.append(contentsOf: records)
            writePending()
        }
        if failure != nil { discard() }
    }

    /// Writes what the reader takes now and keeps the rest.
    private func accept(_ piece: UnsafeRawBufferPointer) {
        guard failure == nil else { return }
        let accepted = pending.isEmpty ? attempt(piece) : 0
        guard failure == nil else { return }
        pending.append(contentsOf: piece[accepted...])
    }

    private func writePending() {
        written += pending.withUnsafeBytes { attempt(UnsafeRawBufferPointer(rebasing: $0[written...])) }
        guard failure == nil else { return discard() }
        if written == pending.count {
            pending = []
            written = 0
        } else if written > max(Self.congestion, pending.count / 2) {
            pending.removeFirst(written)
            written = 0
        }
    }

    private func attempt(_ bytes: UnsafeRawBufferPointer) -> Int {
        var written = 0
        while written < bytes.count, !isHeld {
            let count = descriptor.write(UnsafeRawBufferPointer(rebasing: bytes[written...]))
            if count > 0 {
                written += count
            } else if errno == EAGAIN {
                break
            } else if errno != EINTR {
                failure = errno
                break
            }
        }
        return written
    }

    /// Takes the reader for one that reads no more: drops everything that waits and that is written later.
    package func giveUp() {
        failure = failure ?? ETIMEDOUT
        discard()
    }

    /// True once the reader was given up.
    package var isGivenUp: Bool { failure == ETIMEDOUT }

    /// Drops everything that waits: after a failed write it is never taken.
    private func discard() {
        pending = []
        texts = []
        (written, behindTexts) = (0, 0)
    }

    private func watch() {
        guard !isWatching, !isHeld else { return }
        isWatching = true
        nonisolated(unsafe) let sink = self
        EventLoopActor.assumeIsolated {
            let error = Poller.shared.watch(sink.descriptor.number, for: .write) {
                sink.writePending()
                sink.pull()
                guard !sink.hasPending || sink.isHeld else { return }
                Poller.shared.unwatch(sink.descriptor.number)
                sink.isWatching = false
            }
            // A regular file is always ready, and epoll refuses it.
            if error != 0 { sink.takeTurns() }
        }
    }

    /// Writes everything that waits, with turns of the loop in between.
    @EventLoopActor
    private func takeTurns() {
        nonisolated(unsafe) let sink = self
        Poller.shared.after(.zero) {
            sink.writePending()
            sink.pull()
            guard sink.hasPending, !sink.isHeld else {
                sink.isWatching = false
                return
            }
            sink.takeTurns()
        }
    }
}

/// A descriptor that is written to without ever waiting for its reader, and without changing its flags, which other
/// processes share.
struct OutputDescriptor {
    private enum Kind {
        /// A file, or an open file description of our own that does not block.
        case own
        case socket
        /// A pipe that could not be reopened and is shared with others. It may block.
        case sharedPipe(asksKernel: Bool)
        /// A terminal that could not be reopened and is shared with others. It may block.
        case sharedTerminal
    }

    let number: Int32
    private let kind: Kind

    /// The number of bytes that a terminal surely takes once it polls as writable: next to nothing.
    private static let terminalPiece = 16

    /// Reopens a pipe or a terminal, because only a new open file description can be made non-blocking. If that is
    /// refused (it belongs to another user, or there is no /proc), uses the shared one with care. Returns nil and
    /// sets errno if there is no such descriptor.
    init?(sharing shared: Int32) {
        var status = stat()
        guard fstat(shared, &status) == 0 else { return nil }
        let kind = status.st_mode & S_IFMT
        let isTerminal = kind == S_IFCHR && isatty(shared) == 1
        if kind == S_IFSOCK {
            (number, self.kind) = (shared, .socket)
        } else if kind == S_IFIFO || isTerminal {
            let own = Self.reopened(shared, isTerminal: isTerminal)
            number = own ?? shared
            self.kind = own != nil ? .own : isTerminal ? .sharedTerminal : .sharedPipe(asksKernel: true)
        } else {
            (number, self.kind) = (shared, .own)
        }
    }

    /// Takes an open file description of our own, which does not block unless it is a file's.
    init(own number: Int32) { (self.number, kind) = (number, .own) }

    /// Takes a pipe as it is. `asksKernel` is true if the kernel can be asked not to wait; Linux before 6.4 cannot.
    init(blocking pipe: Int32, asksKernel: Bool = true) {
        (number, kind) = (pipe, .sharedPipe(asksKernel: asksKernel))
    }

    private static func reopened(_ shared: Int32, isTerminal: Bool) -> Int32? {
        let flags = O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY
        let own = open("/proc/self/fd/\(shared)", flags)
        if own >= 0 { return own }
        guard isTerminal else { return nil }
        // A process may always open its controlling terminal, even if the device belongs to another user.
        let terminal = open("/dev/tty", flags)
        if terminal >= 0, clinux_same_terminal(terminal, shared) != 0 { return terminal }
        if terminal >= 0 { close(terminal) }
        return nil
    }

    /// Writes as much as the descriptor takes at once. Returns the number of bytes, or -1 with errno: EAGAIN if
    /// nothing was written because the reader is behind.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        switch kind {
        case .own: Glibc.write(number, bytes.baseAddress, bytes.count)
        case .socket: send(number, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
        case .sharedPipe(let asksKernel): writeToSharedPipe(bytes, asksKernel: asksKernel)
        case .sharedTerminal: writeIfReady(bytes.prefix(Self.terminalPiece))
        }
    }

    private func writeToSharedPipe(_ bytes: UnsafeRawBufferPointer, asksKernel: Bool) -> Int {
        if asksKernel {
            let count = clinux_write_now(number, bytes.baseAddress, bytes.count)
            if count >= 0 || errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL { return count }
        }
        // A pipe that polls as writable takes at least this much.
        return writeIfReady(bytes.prefix(Int(PIPE_BUF)))
    }

    private func writeIfReady(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
        guard waitUntilReady(milliseconds: 0) else {
            errno = EAGAIN
            return -1
        }
        return Glibc.write(number, UnsafeRawBufferPointer(rebasing: bytes).baseAddress, bytes.count)
    }

    /// Waits until a write makes progress, if only by failing. Returns false on timeout; -1 waits for ever.
    func waitUntilReady(milliseconds: Int32) -> Bool {
        var request = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        return poll(&request, 1, milliseconds) > 0
    }
}
