/// What the user said about progress, `--progress`; always on standard error, and no matter of colours.
package enum ProgressMode: String, Sendable, CaseIterable {
    case auto, plain, none

    package enum Display: Sendable {
        /// `LiveRegion`.
        case live
        /// `Heartbeat`.
        case heartbeat
        case nothing
    }

    /// A live region wants a terminal that can move its cursor and is not a CI system's imitation of one.
    /// `environment` looks a variable up.
    package func display(onTerminal: Bool, environment: (String) -> String?) -> Display {
        switch self {
        case .none: return .nothing
        case .plain: return .heartbeat
        case .auto: break
        }
        let terminal = environment("TERM") ?? ""
        let isDumb = terminal.isEmpty || terminal == "dumb"
        let isCI = !(environment("CI") ?? "").isEmpty
        return onTerminal && !isDumb && !isCI ? .live : .heartbeat
    }
}
