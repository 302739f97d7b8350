/// What the file says of how a step's output is shown; nothing is left out of what is recorded.
package enum OutputView: String, RecordWord, Sendable, Hashable {
    /// Each line as it comes.
    case live
    /// As one block when the step ends.
    case grouped
    /// Only of a step that does not succeed.
    case quiet
}
