/// The user's choice of colours, `--color`.
package enum ColorMode: String, Sendable, CaseIterable {
    case auto, always, never

    /// The stream that the colours would go to.
    package enum Stream: Sendable {
        case stdout, stderr
    }

    /// True if colours are written. In this order decide: the flag; NO_COLOR; FORCE_COLOR and CLICOLOR_FORCE; TERM if
    /// unset or `dumb`, and CLICOLOR=0; make -O, which has the terminal and passes it as MAKE_TERMOUT or
    /// MAKE_TERMERR; last `onTerminal`. `environment` looks a variable up.
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
