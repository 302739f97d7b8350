internal import ArgumentParser
internal import SourceDiagnostics

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Explain a finding by its code, such as FR0301.",
        discussion: "Without a code: all codes and what they are about.")

    @Argument(
        help: ArgumentHelp("The code of a finding.", valueName: "code"),
        completion: .list(DiagnosticCode.allCases.map(\.rawValue)))
    var code: String?

    func run() throws {
        guard let code else {
            let lines = DiagnosticCode.allCases.map { "\($0.rawValue)  \($0.title)\n" }
            try Answer.give(lines.joined())
            return
        }
        guard let known = DiagnosticCode(rawValue: code.uppercased()) else {
            throw ValidationError("there is no finding `\(code)`; `flowrun explain` lists them all")
        }
        try Answer.give(known.explanation)
    }
}
