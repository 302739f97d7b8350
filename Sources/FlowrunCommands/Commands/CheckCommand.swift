internal import ArgumentParser
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
        let findings = files.map { ($0, WorkflowLoader.findings(in: $0)) }
        let all = findings.flatMap(\.1)
        switch format {
        case .json: DiagnosticPrinter(sink: AnswerSink()).printJSON(all)
        case .text:
            TerminalText.standardOutput.show(all, color: color)
            TerminalText.standardOutput.write(
                findings.filter(\.1.isEmpty).map { "\($0.0): ok\n" }.joined())
        }
        if all.containErrors || (strict && !all.isEmpty) { try ExitStatus.invalid.end() }
    }
}
