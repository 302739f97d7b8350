internal import ArgumentParser

struct PlanCommand: ParsableCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: "Show order, levels, critical path and bound; run nothing.")

    @OptionGroup var workflow: WorkflowArgument

    @Option(
        name: [.customShort("j", allowingJoined: true), .long],
        help: ArgumentHelp("Steps that may run at once, for the bound.", valueName: "n"))
    var jobs: Int?

    @Option(help: "How to answer: text or json.")
    var format: Format = .text

    func validate() throws {
        if let jobs, jobs < 1 {
            throw ValidationError("-j \(jobs): at least one step must be allowed to run; leave -j out for all cores")
        }
    }

    func run() throws {
        let plan = try loadPlan(workflow.file)
        let printer = PlanPrinter(plan, jobs: jobs ?? Run.cores)
        try Answer.give(format == .json ? printer.json() : printer.text())
    }
}
