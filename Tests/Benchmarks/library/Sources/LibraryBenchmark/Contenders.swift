import AsyncOperations
import Foundation
import Synchronization

/// A way to run so many trivial bodies.
struct Contender: Sendable {
    let name: String
    /// Runs `count` bodies, each of which counts itself once.
    let run: @Sendable (_ count: Int, _ tally: Tally) async throws -> Void
}

/// How many bodies have run.
final class Tally: Sendable {
    private let sum = Atomic<Int>(0)

    var count: Int { sum.load(ordering: .relaxed) }
    func add() { sum.add(1, ordering: .relaxed) }
}

extension Contender {
    static let all = [
        // What Swift itself offers, nothing around it: two tasks at once, and one after the other.
        Contender(name: "TaskGroup") { count, tally in
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<count {
                    if index >= 2 { await group.next() }
                    group.addTask { tally.add() }
                }
            }
        },
        Contender(name: "Task, value") { count, tally in
            for _ in 0..<count { await Task { tally.add() }.value }
        },
        Contender(name: "compound, limited") { count, tally in
            let compound = try CompoundOperation(mode: .limited(2)) {
                for _ in 0..<count { AsyncOperation { _ in tally.add() } }
            }
            try compound.start()
            _ = await compound.result
        },
        Contender(name: "compound, in a queue") { count, tally in
            let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 2)
            let compound = try CompoundOperation(mode: .concurrent) {
                for _ in 0..<count { AsyncOperation { _ in tally.add() } }
            }
            try queue.add(compound)
            _ = await compound.result
        },
        Contender(name: "queue, one by one") { count, tally in
            let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 2)
            for _ in 0..<count { try queue.add(AsyncOperation { _ in tally.add() }) }
            try await queue.waitUntilIdle()
        },
        Contender(name: "queue, all at once") { count, tally in
            let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 2)
            try queue.add(contentsOf: (0..<count).map { _ in AsyncOperation { _ in tally.add() } })
            try await queue.waitUntilIdle()
        },
        Contender(name: "waterfall") { count, tally in
            var waterfall = Waterfall(from: Int.self, failure: Never.self)
            for _ in 0..<count {
                waterfall = waterfall.then { number in
                    tally.add()
                    return number + 1
                }
            }
            guard try await waterfall.run(0) == count else { throw LostWork() }
        },
        Contender(name: "start, result") { count, tally in
            for _ in 0..<count {
                let operation = AsyncOperation { _ in tally.add() }
                try operation.start()
                _ = await operation.result
            }
        },
        Contender(name: "queue.run") { count, tally in
            let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 2)
            for _ in 0..<count { try await queue.run { tally.add() } }
        },
        Contender(name: "OperationQueue") { count, tally in
            runOperationQueue(count, tally)
        },
    ]

    /// Blocks its thread, which leaves Foundation's queue more than enough.
    private static func runOperationQueue(_ count: Int, _ tally: Tally) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 2
        for _ in 0..<count { queue.addOperation { tally.add() } }
        queue.waitUntilAllOperationsAreFinished()
    }
}

/// Not all bodies have run.
struct LostWork: Error {}
