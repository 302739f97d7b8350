/// The way the text log shows the steps' own output, `--output`.
package enum OutputMode: String, Sendable, CaseIterable {
    /// A step's output as one block when it has ended.
    case grouped
    /// Whole lines as they come, each marked with its step's id.
    case stream
    /// Blocks only of steps that did not succeed.
    case failed
    case none
}

extension OutputMode {
    init(_ view: OutputView) {
        self =
            switch view {
            case .live: .stream
            case .grouped: .grouped
            case .quiet: .failed
            }
    }
}
