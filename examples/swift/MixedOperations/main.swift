import Foundation

// Reads commands on standard input and shows every stage of every operation. Each one takes two seconds, or so many as the
// first argument says.

let seconds = CommandLine.arguments.dropFirst().first.flatMap(Double.init) ?? 2
let demo = try await Demo(length: .seconds(seconds))
if isatty(0) == 1 { _ = await demo.run("help") }
while let line = readLine(), await demo.run(line) {}
await demo.end()
