package import Basics
internal import CLinux
internal import DequeModule
internal import Glibc

/// Writes records to a descriptor, one `write(2)` each, without ever letting a slow reader stop the event loop: records
/// that the reader does not take wait in memory, and of a long text the next piece is made only when the last one is
/// written.
package final class DescriptorSink {
    /// Hands out the next piece of a long text and returns true, or returns false at its end.
    package typealias Source = ((UnsafeRawBufferPointer) -> Void) -> Bool

    private let descriptor: Int32
    private let isSocket: Bool
    private var pending: [UInt8] = []
    /// How much of `pending` is written.
    private var written = 0
    /// Long texts that come behind `pending`, each with the records behind it.
    private var texts: Deque<(source: Source, records: [UInt8])> = []
    private var isWatching = false
    /// Whether the reader has taken nothing for so long that it is not waited for.
    private var isStalled = false

    /// From here on steps should write no more, and a reader that keeps up is waited for.
    private static let congestion = 512 << 10
    /// How much of a long text is written before the event loop gets another turn.
    private static let turn = 1 << 20
    /// How long a reader may take for one more piece before it counts as stalled, in milliseconds. The loop stands
    /// still meanwhile.
    private static let stallTime: Int32 = 50
    /// The error number of the first write that failed; nothing is written after it.
    package private(set) var failure: Int32?

    /// `descriptor` stays open and its flags stay as they are: others share it. A pipe or terminal is
    /// opened once more, because only a new description can be made non-blocking.
    package init(_ descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            self.descriptor = descriptor
            isSocket = false
            failure = EBADF
            return
        }
        let kind = status.st_mode & S_IFMT
        isSocket = kind == S_IFSOCK
        var own: Int32 = -1
        if kind == S_IFIFO || (kind == S_IFCHR && isatty(descriptor) == 1) {
            own = open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        }
        self.descriptor = own >= 0 ? own : descriptor
    }

    /// A file that is created, or emptied; throws where that is refused.
    package init(creating path: String) throws(SystemError) {
        // Non-blocking for a fifo or a terminal; for a file it means nothing.
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0o666)
        isSocket = false
        guard descriptor >= 0 else { throw .last }
    }

    package func write(_ record: UnsafeRawBufferPointer) {
        guard failure == nil else { return }
        guard texts.isEmpty else {
            texts[texts.count - 1].records.append(contentsOf: record)
            return
        }
        guard pending.isEmpty else {
            pending.append(contentsOf: record)
            if isCongested, !isStalled { writeWhileReaderKeepsUp() }
            return
        }
        let accepted = attempt(record)
        guard accepted < record.count, failure == nil else { return }
        pending.append(contentsOf: record[accepted...])
        watch()
    }

    /// Writes as much of a record as goes at once, and nothing while other records wait; the rest is dropped. Returns
    /// how many bytes went.
    package func offer(_ record: UnsafeRawBufferPointer) -> Int {
        failure == nil && !hasPending ? attempt(record) : 0
    }

    /// Writes a long text behind everything that was written before and ahead of all that is written later. Short texts
    /// and fast readers are served before this returns, the others while the event loop runs; of the text itself never
    /// more than one piece is in memory.
    package func write(pulling source: @escaping Source) {
        guard failure == nil else { return }
        texts.append((source, []))
        guard pending.isEmpty, texts.count == 1 else { return }
        pull()
        if hasPending { watch() }
    }

    /// Whether anything waits for the reader.
    package var hasPending: Bool { !pending.isEmpty || !texts.isEmpty }

    /// Whether so much waits for the reader that steps should not be allowed to write more.
    package var isCongested: Bool {
        pending.count - written + (texts.last?.records.count ?? 0) > Self.congestion
    }

    /// Waits for the reader until all is written, an error, or `limit` has passed; nil waits as long as it takes.
    package func flush(limit: Duration?) {
        let clock = EventLoopClock()
        let deadline = limit.map { clock.now.advanced(by: $0) }
        while failure == nil, hasPending {
            if let deadline, clock.now >= deadline {
                failure = EAGAIN
                return
            }
            _ = isWritable(within: 100)
            writePending()
            pull()
        }
    }

    /// Writes of the long texts what the reader takes at once, but no more than one turn of the loop's worth.
    private func pull() {
        var taken = 0
        while failure == nil, pending.isEmpty, taken < Self.turn, let (source, records) = texts.first {
            let hasMore = source { piece in
                taken += piece.count
                accept(piece)
            }
            guard !hasMore else { continue }
            texts.removeFirst()
            pending.append(contentsOf: records)
            writePending()
        }
        if failure != nil { texts.removeAll() }
    }

    /// Writes what goes now and keeps the rest.
    private func accept(_ piece: UnsafeRawBufferPointer) {
        guard failure == nil else { return }
        let accepted = pending.isEmpty ? attempt(piece) : 0
        guard failure == nil else { return }
        pending.append(contentsOf: piece[accepted...])
    }

    /// A long block comes all at once; a reader that takes it as fast as it can be written needs no memory for it.
    private func writeWhileReaderKeepsUp() {
        while failure == nil, isCongested {
            guard isWritable(within: Self.stallTime) else {
                isStalled = true
                return
            }
            writePending()
        }
    }

    private func isWritable(within milliseconds: Int32) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&request, 1, milliseconds) > 0
    }

    private func writePending() {
        written += pending.withUnsafeBytes { attempt(UnsafeRawBufferPointer(rebasing: $0[written...])) }
        isStalled = false
        if failure != nil || written == pending.count {
            pending = []
            written = 0
        } else if written > Self.congestion {
            pending.removeFirst(written)
            written = 0
        }
    }

    private func attempt(_ bytes: UnsafeRawBufferPointer) -> Int {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count =
                isSocket
                ? send(descriptor, rest.baseAddress, rest.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
                : Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count > 0 {
                written += count
            } else if errno == EAGAIN {
                break
            } else if errno != EINTR {
                failure = errno
                return written
            }
        }
        return written
    }

    private func watch() {
        guard !isWatching else { return }
        isWatching = true
        nonisolated(unsafe) let sink = self
        EventLoopActor.assumeIsolated {
            let error = Poller.shared.watch(sink.descriptor, for: .write) {
                sink.writePending()
                sink.pull()
                guard !sink.hasPending || sink.failure != nil else { return }
                Poller.shared.unwatch(sink.descriptor)
                sink.isWatching = false
            }
            // A regular file is always ready, and the kernel watches none.
            if error != 0 { sink.takeTurns() }
        }
    }

    /// Writes all that waits, and lets the loop turn between.
    @EventLoopActor
    private func takeTurns() {
        nonisolated(unsafe) let sink = self
        Poller.shared.after(.zero) {
            sink.writePending()
            sink.pull()
            guard sink.hasPending, sink.failure == nil else {
                sink.isWatching = false
                return
            }
            sink.takeTurns()
        }
    }
}
