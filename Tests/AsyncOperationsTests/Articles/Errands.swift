import AsyncOperations

enum ErrandError: Error {
    case closed(shop: String)
}

/// A waterfall, a compound operation, a queue with dependencies, and a timeout. Tells `say` what happens.
func runErrands(say: @escaping @Sendable (String) -> Void) async throws {
    // One job after the other, each with the result of the one before; the types are checked here.
    let price = Waterfall("price", from: [String].self, failure: ErrandError.self)
        .then { list in list.map(\.count) }
        .then { lengths throws(ErrandError) in
            guard let first = lengths.first else { throw .closed(shop: "grocer") }
            return lengths.dropFirst().reduce(first, +)
        }
        .then { sum in "\(sum).00" }
    say("price: \(try await price.run(["milk", "bread"]))")

    // Several kinds of work as one, with all errors at the end.
    let errands = try CompoundOperation("errands", mode: .limited(2)) {
        AsyncOperation("post") { _ in say("letters posted") }
        AsyncOperation("bank") { _ async throws(ErrandError) in throw .closed(shop: "bank") }
        AsyncOperation<Void, Never>("library", callback: { _, completion in completion.succeed() })
        price.operation([])
    }
    try errands.start()
    if case .failure(let failure) = await errands.result {
        say("failed: \(failure.errors.map(\.name).sorted().joined(separator: ", "))")
    }

    // A queue runs what is ready; values go from producers to consumers.
    let queue = try AsyncOperationQueue("kitchen", maxConcurrentOperationCount: 2, isSuspended: true)
    let flour = AsyncOperation("flour") { _ in 500 }
    let water = AsyncOperation("water") { _ in 300 }
    let dough = AsyncOperation("dough", from: flour.output, water.output) { _, flour, water in flour + water }
    let tidy = AsyncOperation("tidy") { _ in say("kitchen tidied") }
    try tidy.addDependency(on: dough, .done)
    try queue.add(tidy, dough, water, flour)
    queue.resume()
    say("dough: \(try await dough.value) g")
    await queue.waitUntilIdle()

    // A limit: the body is told to stop, and waited for.
    do {
        try await withTimeout(.milliseconds(10)) { try await Task.sleep(for: .seconds(3600)) }
    } catch {
        if case .timedOut(let limit) = error { say("gave up after \(limit)") }
    }
}
