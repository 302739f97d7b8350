import AsyncOperations
import Foundation

/// A queue and its commands.
@MainActor final class Demo {
    static let help = """
        sync NAME, async NAME      adds an operation that blocks a thread of its own, or a task's
        endless NAME               adds one that goes on until it is cancelled
        compound NAME              adds a mixture as one operation, NAME.1 to NAME.3 inside
        stop, start                suspends the queue, lets it go on
        serial, concurrent         one at a time, all at once
        cancel NAME, cancel        one operation, everything
        until NAME STAGE, wait     comes back when NAME has come so far, when all is over
        quit                       cancels what is left
        """

    private let queue: AsyncOperationQueue
    private let board = Board()
    private let length: Duration
    private var operations: [String: any AsyncOperationProtocol] = [:]
    private let shower: Task<Void, Never>

    /// How long each operation takes.
    init(length: Duration) async throws {
        self.length = length
        queue = try AsyncOperationQueue("queue", maxConcurrentOperationCount: 1)
        shower = Task.detached { [events = queue.events(), board] in
            for await event in events { await board.show(event) }
        }
        await board.add(queue.id, isFinished: true)
        await board.clear()
    }

    /// Carries out a command. Returns false for the last one.
    func run(_ line: String) async -> Bool {
        let words = line.split(separator: " ").map(String.init)
        do {
            switch (words.first, words.dropFirst().first) {
            case ("sync", let name?): try await add(blocking(name))
            case ("async", let name?): try await add(suspending(name))
            case ("endless", let name?): try await add(endless(name))
            case ("compound", let name?):
                let compound = try CompoundOperation(name) {
                    blocking("\(name).1")
                    suspending("\(name).2")
                    blocking("\(name).3")
                }
                try await add(compound)
            case ("stop", nil): queue.suspend()
            case ("start", nil): queue.resume()
            case ("serial", nil): try queue.setMaxConcurrentOperationCount(1)
            case ("concurrent", nil): try queue.setMaxConcurrentOperationCount(100)
            case ("cancel", nil): queue.cancelAll()
            case ("cancel", let name?):
                if operations[name]?.cancel() != true { await board.say("\(name) cannot be cancelled") }
            case ("until", let name?): await board.wait(for: name, words.dropFirst(2).joined(separator: " "))
            case ("wait", nil): await board.waitForAll()
            case ("quit", nil): return false
            default: await board.say(Self.help)
            }
        } catch {
            await board.say("\(error)")
        }
        await board.prompt()
        return true
    }

    /// Ends everything, and returns when the last event has been shown.
    func end() async {
        queue.cancelAll()
        queue.resume()
        _ = try? await queue.shutdown()
        await shower.value
    }

    private func add(_ operation: any AsyncOperationProtocol) async throws {
        let members: [any AsyncOperationProtocol] = (operation as? CompoundOperation)?.members ?? []
        for each in [operation] + members {
            operations[each.name] = each
            await board.add(each.id)
        }
        try queue.add(operation)
    }

    /// Blocks a thread of its own, and checks now and then whether it is to stop.
    private func blocking(_ name: String) -> AsyncOperation<Void, Never> {
        .blocking(name) { [length] context in
            let end = ContinuousClock.now + length
            while ContinuousClock.now < end, !context.isCancelled { Thread.sleep(forTimeInterval: 0.01) }
        }
    }

    private func suspending(_ name: String) -> AsyncOperation<Void, Never> {
        AsyncOperation(name) { [length] _ in try? await Task.sleep(for: length) }
    }

    private func endless(_ name: String) -> AsyncOperation<Void, Never> {
        AsyncOperation(name) {
            while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
        }
    }
}
