internal import ArgumentParser
internal import Glibc
internal import Reporting
internal import SourceDiagnostics

struct CheckCommand: ParsableCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Find everything that is wrong with workflow files; run nothing.",
        discussion: "Exits with 0 when there is no error and with 2 when there is one.")

    @Argument(
        help: ArgumentHelp("The workflow files; - is standard input.", valueName: "file"), completion: .file())
    var files: [String]

    @Option(help: "How to answer: text or json.")
    var format: Format = .text

    @Flag(help: "Take warnings for errors.")
    var strict = false

    @Option(help: "Colours: auto, always or never.")
    var color: ColorMode = .auto

    func run() throws {
        let checked = files.map { (file: $0, result: WorkflowLoader.check($0)) }
        let findings = checked.flatMap(\.result.diagnostics)
        switch format {
        case .json: try Answer.give(DiagnosticPrinter.json(findings))
        case .text:
            let sound = checked.filter(\.result.diagnostics.isEmpty).map { file, _ in
                "\(file == "-" ? "<stdin>" : file): ok\n"
            }
            try Answer.give(TerminalText.standardOutput.drawn(findings, color: color) + sound.joined())
        }
        let isValid = !findings.containErrors && (findings.isEmpty || !strict)
        // From here, so that nothing is freed any more.
        withExtendedLifetime(checked) { Glibc.exit((isValid ? ExitStatus.success : .invalid).rawValue) }
    }
}
