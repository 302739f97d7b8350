internal import ArgumentParser

struct GraphCommand: ParsableCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case dot, mermaid, json
    }

    static let configuration = CommandConfiguration(
        commandName: "graph", abstract: "Print the graph of steps and groups.")

    @OptionGroup var workflow: WorkflowArgument

    @Option(help: "The language of the graph: dot, mermaid or json.")
    var format: Format = .dot

    func run() throws {
        let printer = GraphPrinter(try loadPlan(workflow.file))
        let text =
            switch format {
            case .dot: printer.dot()
            case .mermaid: printer.mermaid()
            case .json: printer.json()
            }
        try Answer.give(text)
    }
}
