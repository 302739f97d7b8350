package import Basics
internal import Glibc

/// Writes records to a descriptor, one `write(2)` each, without ever letting a slow reader stop the event loop: records
/// that the reader does not take wait in memory, and of a long text the next piece is made only when the last one is
/// written.
package final class DescriptorSink {
    /// Hands out the next piece of a long text and returns true, or returns false at its end.
    package typealias Source = ((UnsafeRawBufferPointer) -> Void) -> Bool

    private let descriptor: OutputDescriptor
    private var pending: [UInt8] = []
    /// How much of `pending` is written.
    private var written = 0
    /// Long texts that come behind `pending`, each with the records behind it. Few: see `textCongestion`.
    private var texts: [(source: Source, records: [UInt8])] = []
    /// How much all records behind long texts are together.
    private var behindTexts = 0
    private var isWatching = false
    /// Whether everything waits, as behind a reader who takes nothing, until somebody else is done with the terminal.
    package var isHeld = false {
        didSet {
            guard oldValue, !isHeld else { return }
            writePending()
            pull()
            if hasPending { watch() }
        }
    }

    /// From here on steps should write no more.
    private static let congestion = 512 << 10
    /// The same in long texts, each of which may have a file open.
    private static let textCongestion = 32
    /// How much of a long text is written before the event loop gets another turn.
    private static let turn = 1 << 20
    /// The error number of the first write that failed; nothing is written after it.
    package private(set) var failure: Int32?

    /// `descriptor` stays open and its flags stay as they are: others share it.
    package convenience init(_ descriptor: Int32) {
        let shared = OutputDescriptor(sharing: descriptor)
        self.init(shared ?? OutputDescriptor(own: descriptor))
        if shared == nil { failure = EBADF }
    }

    init(_ descriptor: OutputDescriptor) { self.descriptor = descriptor }

    /// A file that is created, or emptied; throws where that is refused.
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
            // Many records in one turn of the loop need little memory where the reader is fast.
            if isCongested { writePending() }
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
    package var hasPending: Bool { failure == nil && !(pending.isEmpty && texts.isEmpty) }

    /// Whether so much waits for the reader that steps should not start or write more. Long texts themselves do not
    /// count: they wait where they are kept.
    package var isCongested: Bool {
        pending.count - written + behindTexts > Self.congestion || texts.count > Self.textCongestion
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
            behindTexts -= records.count
            pending.append(contentsOf: records)
            writePending()
        }
        if failure != nil { discard() }
    }

    /// Writes what goes now and keeps the rest.
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

    /// Nobody will ever take what waits.
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
            guard sink.hasPending, !sink.isHeld else {
                sink.isWatching = false
                return
            }
            sink.takeTurns()
        }
    }
}
