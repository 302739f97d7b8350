package import ArgumentParser

/// `flowrun`: the commands and what they share.
package struct FlowrunCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "flowrun",
        abstract: "Run workflows of steps, dependencies, timeouts and fan-out groups.",
        usage: """
            flowrun [run] [<options>] <file> [<step> ...]
            flowrun <subcommand>
            """,
        discussion: """
            Examples:
              flowrun release.yml             run a workflow
              flowrun release.yml publish     run only what `publish` needs
              flowrun check release.yml       all findings, nothing executed
            """,
        version: "flowrun \(flowrunVersion)",
        subcommands: [
            RunCommand.self, CheckCommand.self, PlanCommand.self, GraphCommand.self, ListCommand.self,
            CtlCommand.self, WhyCommand.self, ExplainCommand.self,
        ],
        defaultSubcommand: RunCommand.self)

    package init() {}
}

/// A workflow file as an argument.
struct WorkflowArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The workflow file; - is standard input.", valueName: "file"), completion: .file())
    var file: String
}
