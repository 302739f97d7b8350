/// What the user said about progress, `--progress`; always on standard error, and no matter of colours.
package enum ProgressMode: String, Sendable, CaseIterable {
    case auto, live, plain, none

    package enum Display: Sendable {
        /// `LiveRegion`.
        case live
        /// `Heartbeat`.
        case heartbeat
        case nothing
    }

    /// A live region wants a terminal that can move its cursor and, unless it is asked for, has no other writer:
    /// neither a CI system's imitation of one nor what make runs side by side. `environment` looks a variable up.
    package func display(onTerminal: Bool, environment: (String) -> String?) -> Display {
        func isSet(_ name: String) -> Bool { !(environment(name) ?? "").isEmpty }
        let canMoveCursor = onTerminal && isSet("TERM") && environment("TERM") != "dumb"
        return switch self {
        case .none: .nothing
        case .plain: .heartbeat
        case .live: canMoveCursor ? .live : .heartbeat
        case .auto: canMoveCursor && !isSet("CI") && !isSet("MAKELEVEL") ? .live : .heartbeat
        }
    }
}
