package import Basics
internal import Glibc

/// How a run ended, from the last line of its journal alone: what a list of runs shows, without reading all that lies
/// between.
package struct JournalEnd: Sendable {
    package let outcome: StepOutcome
    package let duration: Duration
    package let counts: OutcomeCounts

    private static let chunkSize = 16 << 10

    /// nil if the run has not written its last record, or the journal is damaged there. Throws where it cannot be read.
    package init?(in folder: Int32) throws(SystemError) {
        let file = openat(folder, JournalWriter.fileName, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
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

    /// Without its end; empty if the file does not stop at the end of a line, or the line is too long for a record.
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

    /// What stands there; empty if the file does not go so far.
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
