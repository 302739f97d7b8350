/// What becomes of the steps' own output in the text log, `--output`.
package enum OutputMode: String, Sendable, CaseIterable {
    /// A step's output as one block when it has ended.
    case grouped
    /// Whole lines as they come, each behind its step's id.
    case stream
    /// Blocks only of steps that did not succeed.
    case failed
    case none
}
