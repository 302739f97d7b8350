internal import Basics
internal import Glibc
internal import RunEvents

/// How long the steps of a run took, by its journal, without a look at what they wrote.
package enum JournalDurations {
    private static let event: [UInt8] = Array(#""event":"step.finished""#.utf8)
    /// In which part of a record its event stands.
    private static let headSize = 256

    /// By step, of those that have succeeded; up to the first record that is not whole. Empty without a journal.
    package static func read(in folder: Int32) -> [String: Duration] {
        let file = openat(folder, JournalWriter.fileName, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return [:] }
        defer { close(file) }
        var lines = JournalLines(file)
        var durations: [String: Duration] = [:]
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        while let record = lines.next(where: isEnd) {
            guard case .stepFinished(let step) = RunEvent(record, lending: nothing)?.kind, step.outcome == .success,
                let duration = step.duration
            else { continue }
            durations[step.step] = duration
        }
        return durations
    }

    private static func isEnd(_ line: UnsafeRawBufferPointer) -> Bool {
        let last = min(line.count, headSize) - event.count
        guard last >= 0 else { return false }
        return (0...last).contains { start in
            line[start] == event[0] && line[start..<start + event.count].elementsEqual(event)
        }
    }
}
