import AsyncOperations

// Reads which operation waits for which, one a line (`show: filter key`), refuses what would wait for ever, and runs
// the rest one by one.

var operations: [String: AsyncOperation<Void, Never>] = [:]
var order: [String] = []

@MainActor func operation(_ name: Substring) -> AsyncOperation<Void, Never> {
    let name = String(name)
    if let known = operations[name] { return known }
    let made = AsyncOperation(name) { print("runs \(name)") }
    operations[name] = made
    order.append(name)
    return made
}

while let line = readLine() {
    let parts = line.split(separator: ":", maxSplits: 1)
    guard let name = parts.first else { continue }
    let waiting = operation(name)
    for other in parts.dropFirst().flatMap({ $0.split(separator: " ") }) {
        do {
            try waiting.addDependency(on: operation(other))
        } catch {
            print("refused: \(error)")
        }
    }
}

let queue = try AsyncOperationQueue("graph", maxConcurrentOperationCount: 1)
try queue.add(contentsOf: order.compactMap { operations[$0] })
try await queue.waitUntilIdle()

// A body cannot wait for what waits for it either, here the queue that it runs in.
let hasty = AsyncOperation("hasty") { try await queue.waitUntilIdle() }
try queue.add(hasty)
if case .failure(.failed(let error)) = await hasty.result { print("refused: \(error)") }
