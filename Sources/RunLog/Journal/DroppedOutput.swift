internal import Basics

/// Events of output that follow one another and of which nothing is kept: one record says it of all.
struct DroppedOutput {
    private let first: RunEvent
    /// Its output, without the bytes.
    private let output: StepOutput
    private var count = 1
    private var size: Int

    /// How many at most. A reader makes all of them out of one record, and believes no larger number.
    static let limit = 1 << 20

    init(_ event: RunEvent, _ output: StepOutput) {
        var (first, lent) = (event, output)
        lent.bytes = .nothing
        first.kind = .stepOutput(lent)
        (self.first, self.output) = (first, lent)
        size = output.bytes.count
    }

    /// Returns whether the event is one more of these.
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
