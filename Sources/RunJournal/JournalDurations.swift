internal import Basics
internal import Glibc
internal import RunEvents

/// The durations of the steps of a run, by its journal. The rest of a record is not read.
package enum JournalDurations {
    private static let event: StaticString = #""event":"step.finished""#
    /// The part of a record that has its event, in bytes.
    private static let headSize = 256

    /// Of steps that have succeeded, in the order of their ends; up to the first record that is not whole. None without
    /// a journal.
    package static func read(in folder: Int32, _ note: (_ step: String, Duration) -> Void) {
        let file = openat(folder, JournalWriter.fileName, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        var lines = JournalLines(file)
        while let record = lines.next(where: isEnd, upTo: "duration") {
            guard record.string("outcome") == StepOutcome.success.rawValue, let step = record.string("step"),
                let duration = record.duration("duration")
            else { continue }
            note(step, duration)
        }
    }

    private static func isEnd(_ line: UnsafeRawBufferPointer) -> Bool {
        let first = Int32(event.utf8Start[0])
        var rest = UnsafeRawBufferPointer(rebasing: line.prefix(headSize))
        while let start = rest.baseAddress, let found = memchr(start, first, rest.count) {
            rest = UnsafeRawBufferPointer(rebasing: rest[(UnsafeRawPointer(found) - start)...])
            guard rest.count >= event.utf8CodeUnitCount else { return false }
            // Most of what begins with a quote is told apart by its second byte.
            let isAlike = rest[1] == event.utf8Start[1]
            if isAlike, memcmp(found, event.utf8Start, event.utf8CodeUnitCount) == 0 { return true }
            rest = UnsafeRawBufferPointer(rebasing: rest[1...])
        }
        return false
    }
}
