import AsyncOperations
import Foundation

/// Measures the library in one process; `bench.py` runs it and judges the figures.
///
///     LibraryBenchmark speed COUNT ROUNDS [NAME]
///                                            a line of JSON a round: wall and processor time of each contender
///     LibraryBenchmark waiting COUNT         the process's peak, with COUNT operations in a suspended queue, then run
///     LibraryBenchmark flow COUNT...         the peak after so many operations through a queue that is never idle
@main struct LibraryBenchmark {
    /// Not on the main actor, where a task group is ten times slower and no yardstick.
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let counts = arguments.dropFirst().compactMap { Int($0) }
        switch arguments.first {
        case "speed": try await speed(count: counts[0], rounds: counts[1], only: arguments.dropFirst(3).first)
        case "waiting": try await waiting(count: counts[0])
        case "flow": try await flow(through: counts)
        default: exit(64)
        }
    }

    private struct Figures: Codable {
        let name: String
        /// In seconds, both.
        let wall, cpu: Double
    }

    private static func speed(count: Int, rounds: Int, only: String?) async throws {
        for _ in 0..<rounds {
            var round: [Figures] = []
            for contender in Contender.all where only == nil || only == contender.name {
                let tally = Tally()
                let (start, cpu) = (ContinuousClock.now, ProcessFigures.cpu)
                try await contender.run(count, tally)
                let (wall, used) = (ContinuousClock.now - start, ProcessFigures.cpu - cpu)
                guard tally.count == count else { throw LostWork() }
                round.append(Figures(name: contender.name, wall: wall / .seconds(1), cpu: used / .seconds(1)))
            }
            print(String(decoding: try JSONEncoder().encode(round), as: UTF8.self))
        }
    }

    private static func waiting(count: Int) async throws {
        let tally = Tally()
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 2, isSuspended: true)
        for _ in 0..<count { try queue.add(AsyncOperation { _ in tally.add() }) }
        queue.resume()
        try await queue.waitUntilIdle()
        guard tally.count == count else { throw LostWork() }
        print(ProcessFigures.peak)
    }

    /// One operation is held open the whole time, so that the queue never rests; at most a thousand wait.
    private static func flow(through counts: [Int]) async throws {
        let tally = Tally()
        let queue = try AsyncOperationQueue(maxConcurrentOperationCount: 2)
        let (open, end) = AsyncStream.makeStream(of: Never.self)
        try queue.add(AsyncOperation("held open") { _ in for await _ in open {} })
        var last: AsyncOperation<Void, Never>?
        for count in counts {
            while tally.count < count {
                let batch = (0..<500).map { _ in AsyncOperation { _ in tally.add() } }
                try queue.add(contentsOf: batch)
                // The batch before this one.
                _ = await last?.result
                last = batch.last
            }
            _ = await last?.result
            print(ProcessFigures.peak)
        }
        end.finish()
        try await queue.waitUntilIdle()
    }
}
