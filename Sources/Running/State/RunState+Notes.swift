internal import Planning
internal import RunLog
internal import Syntax

// What is noted on the way.
extension RunState {
    /// Notes who asks for the end of a row; the first one counts.
    mutating func noteRequest(for row: PlanIndex, _ message: String) {
        let known = notes[row]?.request
        notes[row, default: RowNote()].request = known ?? message
    }

    /// Notes how the work of a step, or a group by itself, failed.
    /// `command` is the place to blame, where that is known better than by the row; `failure` is that of one of `vars`.
    mutating func noteFailure(
        of row: PlanIndex, _ kind: Cause.Kind, _ message: String, at command: FailedCommand? = nil,
        because failure: SharedFailure? = nil, place: SourceRange? = nil
    ) {
        let message = options.secrets.masked(message)
        notes[row, default: RowNote()].cause =
            place.map { cause(kind, message, row, at: $0) } ?? cause(kind, message, row, failure?.cause, at: command)
        notes[row]?.tail = failure?.tail
    }

    /// Notes which condition is false before anything inside the row shares its fate.
    mutating func noteFalseCondition(of row: PlanIndex) {
        notes[row, default: RowNote()].cause = falseCondition(of: row)
    }

    mutating func noteResult(of row: PlanIndex, _ result: RowResult) {
        if result.isPlain, notes.isEmpty || notes[row] == nil { return }
        notes[row, default: RowNote()].result = result
    }
}
