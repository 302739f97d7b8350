/// The user's choice of progress display, `--progress`; always on standard error, and independent of colours.
package enum ProgressMode: String, Sendable, CaseIterable {
    case auto, live, plain, none

    package enum Display: Sendable {
        /// `LiveRegion`.
        case live
        /// `Heartbeat`.
        case heartbeat
        case nothing
    }

    /// Returns the display for a terminal. A live region requires a terminal that can move its cursor. Unless asked
    /// for, it also requires that no other program writes there: no CI system that imitates a terminal, and no
    /// parallel make. `environment` looks a variable up.
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
