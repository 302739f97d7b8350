internal import Basics
internal import Glibc
package import RunEvents

/// How a run ended, from the last line of its journal alone: what a list of runs shows, without reading all that lies
/// between.
package struct JournalEnd: Sendable {
    package let outcome: StepOutcome
    package let duration: Duration
    package let counts: OutcomeCounts

    private static let chunkSize = 16 << 10

    /// nil if the run has not written its last record, or the journal is damaged there.
    package init?(in folder: Int32) {
        let file = openat(folder, JournalWriter.fileName, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        guard let record = Self.lastLine(of: file).withUnsafeBytes(JournalLine.object),
            case .runFinished(let end) = RunEvent(record, lending: UnsafeRawBufferPointer(start: nil, count: 0))?.kind
        else { return nil }
        (outcome, duration, counts) = (end.outcome, end.duration, end.counts)
    }

    /// Without its end; empty if the file does not stop at the end of a line.
    private static func lastLine(of file: Int32) -> [UInt8] {
        var start = Int(lseek(file, 0, SEEK_END))
        var line: [UInt8] = []
        while start > 0 {
            let count = min(start, chunkSize)
            start -= count
            let chunk = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                filled = max(pread(file, buffer.baseAddress, count, off_t(start)), 0)
            }
            guard chunk.count == count else { return [] }
            if line.isEmpty, chunk.last != UInt8(ascii: "\n") { return [] }
            // The end of the file does not begin another line.
            let searched = line.isEmpty ? chunk.dropLast() : chunk[...]
            if let end = searched.lastIndex(of: UInt8(ascii: "\n")) { return Array(searched[(end + 1)...]) + line }
            line = Array(searched) + line
        }
        return line
    }
}
