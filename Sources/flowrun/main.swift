internal import FlowrunCommands

Flowrun.main(Array(CommandLine.arguments.dropFirst()))
