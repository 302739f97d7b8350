package import Basics
internal import Glibc

/// Truncates a dead run's journal to its last whole record, so that the torn end is never read again.
package enum JournalRecovery {
    private static let tornName = "journal.jsonl.torn"
    /// The most bytes that are moved aside: a file not written by a run may have any size.
    private static let limit = 64 << 20

    /// Moves everything after the last whole record into `journal.jsonl.torn`. Does nothing if the journal is whole,
    /// was changed in another way, or is written by a live run. Returns the number of bytes removed.
    @discardableResult
    package static func recover(in folder: Int32) throws(SystemError) -> Int {
        let file = openat(folder, JournalWriter.fileName, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw .last }
        defer { close(file) }
        guard !JournalHold.isTaken(file) else { return 0 }
        var lines = JournalLines(file)
        while lines.next() != nil {}
        // A read error does not mean that the rest is torn.
        if let failure = lines.failure { throw failure }
        guard lines.damage == nil else { return 0 }
        let size = Int(lseek(file, 0, SEEK_END))
        guard size > lines.size else { return 0 }
        let torn = openat(folder, tornName, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard torn >= 0 else { throw .last }
        defer { close(torn) }
        var offset = off_t(lines.size)
        let end = min(size, lines.size + limit)
        while Int(offset) < end {
            let chunk = [UInt8](unsafeUninitializedCapacity: min(end - Int(offset), 1 << 20)) { buffer, filled in
                filled = max(pread(file, buffer.baseAddress, buffer.count, offset), 0)
            }
            guard !chunk.isEmpty else { throw .last }
            try WholeFile.write(chunk, to: torn)
            offset += off_t(chunk.count)
        }
        guard ftruncate(file, off_t(lines.size)) == 0 else { throw .last }
        return size - lines.size
    }
}

/// The end of a run, read from the last line of its journal alone. Lists of runs need no more, and the rest of the
/// journal may be long.
package struct JournalEnd: Sendable {
    package let outcome: StepOutcome
    package let duration: Duration
    package let counts: OutcomeCounts

    private static let chunkSize = 16 << 10

    /// Returns nil if the run has not written its last record, or the journal is damaged there. Throws if the journal
    /// cannot be read.
    package init?(in folder: Int32) throws(SystemError) {
        let file = JournalLines.open(in: folder)
        guard file >= 0 else { return nil }
        defer { close(file) }
        guard let record = try Self.lastLine(of: file).withUnsafeBytes(JournalLine.object),
            case .runFinished(let end) = RunEvent(record)?.kind
        else { return nil }
        (outcome, duration, counts) = (end.outcome, end.duration, end.counts)
    }

    /// True if the last line is a record.
    static func isRecord(atEndOf file: Int32) -> Bool {
        ((try? lastLine(of: file)) ?? []).withUnsafeBytes(JournalLine.isIntact)
    }

    /// Returns the last line without its line feed; empty if the file does not end in a line feed, or the line is too
    /// long for a record.
    private static func lastLine(of file: Int32) throws(SystemError) -> [UInt8] {
        let newline = UInt8(ascii: "\n")
        let end = Int(lseek(file, 0, SEEK_END)) - 1
        guard end > 0, try bytes(of: file, end..<end + 1) == [newline] else { return [] }
        var start = end
        while start > 0, end - start <= JournalLine.longest {
            let chunk = try bytes(of: file, max(0, start - chunkSize)..<start)
            guard !chunk.isEmpty else { return [] }
            if let before = chunk.lastIndex(of: newline) {
                return try bytes(of: file, start - chunk.count + before + 1..<end)
            }
            start -= chunk.count
        }
        return start == 0 ? try bytes(of: file, 0..<end) : []
    }

    /// Returns the bytes of a range; empty if the file is shorter.
    private static func bytes(of file: Int32, _ range: Range<Int>) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { buffer, filled in
            let count = pread(file, buffer.baseAddress, range.count, off_t(range.lowerBound))
            if count < 0 { failure = .last }
            filled = max(count, 0)
        }
        if let failure { throw failure }
        return bytes.count == range.count ? bytes : []
    }
}
