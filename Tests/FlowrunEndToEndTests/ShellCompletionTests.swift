import FlowrunTestSupport
import Foundation
import Testing

/// TAB in the shells themselves, on terminals of their own.
struct ShellCompletionTests {
    /// How a shell starts without anybody's settings, and what it reads then.
    private static let shells = [
        ("bash", "bash --noprofile --norc -i", "source <(flowrun completion bash)"),
        (
            "zsh", "zsh -f -i",
            "autoload -Uz compinit; compinit -u -D; source <(flowrun completion zsh); setopt no_beep"
        ),
        (
            "fish", "fish --no-config -i",
            "set -g fish_autosuggestion_enabled 0; flowrun completion fish | source"
        ),
    ]

    private static func isInstalled(_ shell: String) -> Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(shell)")
        }
    }

    private static var workflow: String {
        let steps = (0..<2000).map { number in
            let name = String(repeating: "0", count: 4 - "\(number)".count) + "\(number)"
            return "  step-\(name)-linux: { description: part \(name), run: make part-\(name) }"
        }
        return """
            version: 1
            params: { mode: { type: enum, values: [fast, full], default: fast } }
            steps:
              deploy:
                aliases: [ship]
                params: { stage: { type: enum, values: [production, testing], required: true } }
                run: x
              website:
                aliases: [site]
                steps:
                  preview:
                    aliases: [show]
                    params: { port: { type: int }, watch: { type: bool } }
                    run: x
                  serve: { params: { root: { type: path, default: . } }, run: x }
              hidden: { internal: true, run: x }
            \(steps.joined(separator: "\n"))

            """
    }

    @Test(arguments: shells.filter { isInstalled($0.0) })
    func `TAB completes steps, parameters and their values among two thousand steps`(
        shell: String, start: String, setup: String
    ) async throws {
        let test = try FlowrunTest(files: ["flowrun.yml": Self.workflow, "home/.keep": ""])
        let terminal = try await test.startOnTerminal(
            [], environment: ["HOME": test.path("home"), "XDG_CONFIG_HOME": test.path("home"), "HISTFILE": ""],
            launcher: ["sh", "-c", #"PATH="${0%/*}:$PATH" exec \#(start)"#], columns: 120, rows: 40)
        terminal.type("\(setup); echo re''ady\n")
        try await terminal.wait(for: "the shell") { $0.lines.contains("ready") }
        terminal.type("flowrun step-1234\t")
        try await terminal.wait(forText: "flowrun step-1234-linux")
        terminal.type("--param mo\t")
        try await terminal.wait(forText: "flowrun step-1234-linux --param mode=")
        terminal.type("fu\t")
        try await terminal.wait(forText: "flowrun step-1234-linux --param mode=full")
        terminal.type("\u{15}flowrun check --str\t")
        try await terminal.wait(forText: "flowrun check --strict")
        terminal.type("\u{15}flowrun step-019\t\t")
        try await terminal.wait(for: "ten names") { screen in
            (0...9).allSatisfy { digit in screen.lines.contains { $0.contains("step-019\(digit)-linux") } }
        }
        #expect(!terminal.screen.lines.contains { $0.contains("step-0200") })
        terminal.type("\u{15}flowrun shi\t")
        try await terminal.wait(forText: "flowrun ship")
        terminal.type("\u{15}flowrun ship pro\t")
        try await terminal.wait(forText: "flowrun ship production")
        terminal.type("\u{15}flowrun deploy sta\t")
        try await terminal.wait(forText: "flowrun deploy stage=")
        terminal.type("te\t")
        try await terminal.wait(forText: "flowrun deploy stage=testing")
        terminal.type("\u{15}flowrun --param deploy.s\t")
        try await terminal.wait(forText: "flowrun --param deploy.stage=")
        terminal.type("\u{15}flowrun site.se\t")
        try await terminal.wait(forText: "flowrun site.serve")
        terminal.type("root=ho\t")
        try await terminal.wait(forText: "flowrun site.serve root=home")
        // Members by either name, values joined to theirs, further steps behind them.
        terminal.type("\u{15}flowrun run website.sh\t")
        try await terminal.wait(forText: "flowrun run website.show")
        terminal.type("8080 wat\t")
        try await terminal.wait(forText: "flowrun run website.show 8080 watch=")
        terminal.type("tr\t")
        try await terminal.wait(forText: "flowrun run website.show 8080 watch=true")
        terminal.type("ship stage=pr\t")
        try await terminal.wait(forText: "watch=true ship stage=production")
        // Nothing is called by the name of an internal step.
        terminal.type("\u{15}flowrun hid\t-x")
        try await terminal.wait(forText: "flowrun hid-x")
        terminal.close()
    }

    @Test func `shells that are not installed are named`() {
        let missing = Self.shells.map(\.0).filter { !Self.isInstalled($0) }
        if !missing.isEmpty { print("completion not tested in: \(missing.joined(separator: ", ")), not installed") }
    }
}
