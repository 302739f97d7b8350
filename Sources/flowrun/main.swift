internal import FlowrunCommands

// Not `CommandLine.arguments`, which costs a small run five times as much.
let words = (1..<max(1, Int(CommandLine.argc))).compactMap { CommandLine.unsafeArgv[$0].map { String(cString: $0) } }
Flowrun.main(words)
