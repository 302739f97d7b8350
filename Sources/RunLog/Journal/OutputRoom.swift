internal import Basics

/// The space for the run's output in files.
///
/// The end of each step's output is always kept; the other files may take up to `limit`. For a piece beyond the
/// limit, the oldest output is cut that belongs to a succeeded step and is read by no other step. If there is none,
/// only the end of the new output is kept from then on.
struct OutputRoom {
    private let limit: Int
    /// The size of the files, in bytes.
    private var used = 0
    /// Files that may be cut, oldest first.
    private var spare: [(step: String, file: KeptOutput.File)] = []
    private var firstSpare = 0
    /// True once output was not kept.
    private(set) var isExceeded = false

    init(limit: Int) { self.limit = limit }

    /// Makes room for `count` bytes and returns true; false if there is not enough. Calls `goes` with the step of
    /// each file that is cut.
    mutating func take(_ count: Int, in folder: Int32, goes: (String) -> Void) -> Bool {
        while used + count > limit {
            isExceeded = true
            guard firstSpare < spare.count else { return false }
            let (step, file) = spare[firstSpare]
            firstSpare += 1
            if firstSpare > 64, firstSpare > spare.count / 2 {
                spare.removeFirst(firstSpare)
                firstSpare = 0
            }
            // A file that cannot be cut stays.
            let freed = (try? OutputFile.cut(file.name, before: file.end, in: folder)) ?? 0
            if freed > 0 { goes(step) }
            used -= freed
        }
        used += count
        return true
    }

    /// Allows cutting these files, because no step needs them any more.
    mutating func mayGo(_ files: [KeptOutput.File], of step: String) {
        for file in files where file.end > 0 { spare.append((step, file)) }
    }
}

/// Consecutive output events whose bytes are not kept; one record represents them all.
struct DroppedOutput {
    private let first: RunEvent
    /// The output of the first event, without its bytes.
    private let output: StepOutput
    private var count = 1
    private var size: Int

    /// The most events in one record. A reader makes that many events of the record and ignores a larger number.
    static let limit = 1 << 20

    init(_ event: RunEvent, _ output: StepOutput) {
        var (first, lent) = (event, output)
        lent.bytes = .nothing
        first.kind = .stepOutput(lent)
        (self.first, self.output) = (first, lent)
        size = output.bytes.count
    }

    /// Returns true if the event is of the same kind and now counted; otherwise changes nothing.
    mutating func add(_ event: RunEvent, _ output: StepOutput) -> Bool {
        guard count < Self.limit, output.writer == self.output.writer, output.attempt == self.output.attempt,
            output.stream == self.output.stream, output.isPartial == self.output.isPartial,
            event.round == first.round
        else { return false }
        count += 1
        size += output.bytes.count
        return true
    }

    func write(to json: inout JSONWriter) {
        json.fields(of: first, isJournal: true) { json in
            json.field("dropped", size)
            json.field("events", count)
        }
    }
}
