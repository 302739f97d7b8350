import RunLog
import Testing

@Suite struct ColorModeTests {
    private struct Case: Sendable, CustomTestStringConvertible {
        var mode = ColorMode.auto
        var stream = ColorMode.Stream.stdout
        var onTerminal = true
        var variables = ["TERM": "xterm"]
        let isOn: Bool
        var testDescription: String { "\(mode) \(stream) \(onTerminal) \(variables)" }
    }

    @Test(arguments: [
        Case(isOn: true),
        Case(onTerminal: false, isOn: false),
        Case(mode: .always, onTerminal: false, variables: ["NO_COLOR": "1"], isOn: true),
        Case(mode: .never, variables: ["TERM": "xterm", "FORCE_COLOR": "1"], isOn: false),
        Case(variables: ["TERM": "xterm", "NO_COLOR": "1", "FORCE_COLOR": "1"], isOn: false),
        Case(variables: ["TERM": "xterm", "NO_COLOR": ""], isOn: true),
        Case(onTerminal: false, variables: ["FORCE_COLOR": "1"], isOn: true),
        Case(onTerminal: false, variables: ["CLICOLOR_FORCE": "yes"], isOn: true),
        Case(onTerminal: false, variables: ["TERM": "xterm", "FORCE_COLOR": "0", "CLICOLOR_FORCE": ""], isOn: false),
        Case(variables: [:], isOn: false),
        Case(variables: ["TERM": "dumb"], isOn: false),
        Case(variables: ["TERM": "xterm", "CLICOLOR": "0"], isOn: false),
        Case(variables: ["TERM": "xterm", "CLICOLOR": "1"], isOn: true),
        Case(onTerminal: false, variables: ["TERM": "xterm", "MAKE_TERMOUT": "/dev/pts/1"], isOn: true),
        Case(onTerminal: false, variables: ["TERM": "dumb", "MAKE_TERMOUT": "/dev/pts/1"], isOn: false),
        Case(
            stream: .stderr, onTerminal: false, variables: ["TERM": "xterm", "MAKE_TERMOUT": "/dev/pts/1"],
            isOn: false),
        Case(
            stream: .stderr, onTerminal: false, variables: ["TERM": "xterm", "MAKE_TERMERR": "/dev/pts/1"], isOn: true),
    ])
    private func `the first test that says something decides`(test: Case) {
        let isOn = test.mode.isOn(for: test.stream, onTerminal: test.onTerminal) { test.variables[$0] }
        #expect(isOn == test.isOn)
    }

    @Test(arguments: [
        (ProgressMode.auto, true, ["TERM": "xterm"], ProgressMode.Display.live),
        (.auto, true, ["TERM": "dumb"], .heartbeat),
        (.auto, true, [:], .heartbeat),
        (.auto, true, ["TERM": "xterm", "CI": "true"], .heartbeat),
        (.auto, true, ["TERM": "xterm", "MAKELEVEL": "1"], .heartbeat),
        (.live, true, ["TERM": "xterm", "MAKELEVEL": "1", "CI": "true"], .live),
        (.live, true, ["TERM": "dumb"], .heartbeat),
        (.live, false, ["TERM": "xterm"], .heartbeat),
        (.auto, false, ["TERM": "xterm", "FORCE_COLOR": "1"], .heartbeat),
        (.plain, true, ["TERM": "xterm"], .heartbeat),
        (.none, true, ["TERM": "xterm"], .nothing),
    ])
    func `progress is live only on a real terminal`(
        mode: ProgressMode, onTerminal: Bool, variables: [String: String], display: ProgressMode.Display
    ) {
        #expect(mode.display(onTerminal: onTerminal) { variables[$0] } == display)
    }
}
