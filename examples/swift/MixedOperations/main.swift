import Foundation

// Reads commands from standard input and shows every stage of every operation. Each operation takes two seconds, or as
// many as the first argument says.

let seconds = CommandLine.arguments.dropFirst().first.flatMap(Double.init) ?? 2
let demo = try await Demo(length: .seconds(seconds))
if isatty(0) == 1 { _ = await demo.run("help") }
while let line = readLine(), await demo.run(line) {}
await demo.end()
