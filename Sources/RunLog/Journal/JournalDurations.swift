internal import Basics
internal import Glibc

/// Reads the durations of a run's steps from its journal and skips the rest of each record.
package enum JournalDurations {
    /// `"event":"step.finished",` from its `v` on: that letter hardly occurs earlier in a record, so `memchr` finds
    /// it at once.
    private static let event: StaticString = #"vent":"step.finished","#
    /// The length of the part of a record that has its event, in bytes.
    private static let headSize = 256

    /// Reports the steps that have succeeded, in the order of their ends, up to the first record that is not whole;
    /// none if there is no journal.
    package static func read(in folder: Int32, _ note: (_ step: String, Duration) -> Void) {
        let file = JournalLines.open(in: folder)
        guard file >= 0 else { return }
        defer { close(file) }
        var lines = JournalLines(file)
        while let (step, duration) = lines.next(end) { note(step, duration) }
    }

    /// Returns nil unless the record is the end of a step that has succeeded.
    private static func end(_ record: UnsafeRawBufferPointer) -> (step: String, Duration)? {
        guard let rest = fields(ofEnd: record) else { return nil }
        var (step, duration): (String?, Duration?) = (nil, nil)
        var isSuccess = false
        JSONText.forEachField(in: rest) { name, value in
            if name.isText("step") {
                step = value.string
            } else if name.isText("outcome") {
                isSuccess = value.isText(#""success""#)
                return isSuccess
            } else if name.isText("duration") {
                duration = value.duration
                return false
            }
            return true
        }
        guard isSuccess, let step, let duration else { return nil }
        return (step, duration)
    }

    /// Returns the fields after the event of a step's end; nil for other records.
    private static func fields(ofEnd record: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        let letter = Int32(event.utf8Start[0])
        var rest = UnsafeRawBufferPointer(rebasing: record.prefix(headSize))
        while let start = rest.baseAddress, let found = memchr(start, letter, rest.count) {
            let place = UnsafeRawPointer(found) - start
            guard rest.count - place >= event.utf8CodeUnitCount else { return nil }
            if memcmp(found, event.utf8Start, event.utf8CodeUnitCount) == 0 {
                let end = UnsafeRawPointer(found) - record.baseAddress! + event.utf8CodeUnitCount
                return UnsafeRawBufferPointer(rebasing: record[end...])
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[(place + 1)...])
        }
        return nil
    }
}
