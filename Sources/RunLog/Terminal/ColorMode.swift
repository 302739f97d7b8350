/// What the user said about colours, `--color`.
package enum ColorMode: String, Sendable, CaseIterable {
    case auto, always, never

    /// The stream that the colours would go to.
    package enum Stream: Sendable {
        case stdout, stderr
    }

    /// Whether to write colours: the flag, then NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE, a terminal that cannot, make
    /// -O keeping the terminal from us, and last whether the stream is a terminal. `environment` looks a variable up.
    package func isOn(for stream: Stream, onTerminal: Bool, environment: (String) -> String?) -> Bool {
        switch self {
        case .always: return true
        case .never: return false
        case .auto: break
        }
        func value(_ name: String) -> String? {
            environment(name).flatMap { $0.isEmpty ? nil : $0 }
        }
        if value("NO_COLOR") != nil { return false }
        for name in ["FORCE_COLOR", "CLICOLOR_FORCE"] {
            if let value = value(name), value != "0" { return true }
        }
        guard let terminal = value("TERM"), terminal != "dumb", value("CLICOLOR") != "0" else { return false }
        if value(stream == .stdout ? "MAKE_TERMOUT" : "MAKE_TERMERR") != nil { return true }
        return onTerminal
    }
}
