package import Basics
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
