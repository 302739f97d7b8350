internal import ArgumentParser

struct ListCommand: ParsableCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List steps and groups with their descriptions.")

    @OptionGroup var workflow: WorkflowArgument

    @Option(help: "How to answer: text or json.")
    var format: Format = .text

    func run() throws {
        let printer = ListPrinter(try loadPlan(workflow.file))
        try Answer.give(format == .json ? printer.json() : printer.text())
    }
}
