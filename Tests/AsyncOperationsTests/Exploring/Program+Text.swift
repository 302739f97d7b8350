import AsyncOperations
import Scheduling

// Programs as a reader would write them down.

extension Program: CustomStringConvertible {
    /// The program as a reader would write it down.
    var description: String {
        var lines = queues.enumerated().map { index, queue in
            "let q\(index) = Queue(width: \(queue.width)\(queue.isSuspended ? ", isSuspended: true" : ""))"
        }
        lines += operations.indices.map { "let o\($0) = \(text(of: $0))" }
        lines += clients.enumerated().map { index, actions in
            "task \(index) { \(actions.map(\.description).joined(separator: "; ")) }"
        }
        return lines.joined(separator: "\n")
    }

    private func text(of index: Int) -> String {
        let operation = operations[index]
        let steps = operation.steps.map(\.description).joined(separator: "; ")
        var text =
            switch operation.kind {
            case .body: "Operation { \(steps) }"
            case .waterfall: "Waterfall { \(steps) }"
            case .compound(let mode, let failsFast):
                "Compound(\(mode)\(failsFast ? ", failFast" : "")) { \(members(of: index).map { "o\($0)" }.joined(separator: " ")) }"
            }
        if operation.failures > 0 { text += " failing \(operation.failures)x" }
        if operation.attempts > 1 { text += " attempts \(operation.attempts)" }
        if operation.jobAttempts > 1 { text += " job attempts \(operation.jobAttempts)" }
        if let timeout = operation.jobTimeout { text += " job timeout \(timeout)" }
        if let input = operation.input { text += " from o\(input)" }
        if !operation.heedsCancel, !operation.isCompound { text += " ignoring cancel" }
        if let timeout = operation.timeout { text += " timeout \(timeout)" }
        if let mutex = operation.mutex { text += " mutex \(mutex)" }
        for (pool, units) in operation.units.sorted(by: <) { text += " \(units) of p\(pool)" }
        if operation.priority > 0 { text += " priority \(operation.priority)" }
        if operation.toleratesFailure { text += " tolerated" }
        for need in operation.needs { text += " needs o\(need.on) \(need.kind)" }
        if !operation.completion.isEmpty {
            text += " then { \(operation.completion.map(\.description).joined(separator: "; ")) }"
        }
        return text
    }
}

extension Program.Step: CustomStringConvertible {
    var description: String {
        switch self {
        case .yield: "yield"
        case .waitWhileSuspended: "waitWhileSuspended"
        case .sleep(let time): "sleep \(time)"
        case .hang: "untilCancelled"
        case .produce(let operation): "produce o\(operation)"
        case .act(let action): "\(action)"
        case .await(let operation): "await o\(operation).result"
        case .awaitValue(let operation): "await o\(operation).value"
        case .awaitIdle(let queue): "await q\(queue).waitUntilIdle()"
        case .run(let queue): "await q\(queue).run { yield }"
        case .sleepLimited(let limit): "withTimeout(\(limit)) { sleep 4 }"
        case .report(let part): "report \(part)"
        }
    }
}

extension Program.Action: CustomStringConvertible {
    var description: String {
        switch self {
        case .add(let operation, let queue): "q\(queue).add(o\(operation))"
        case .addTogether(let operations, let queue):
            "q\(queue).add(\(operations.map { "o\($0)" }.joined(separator: ", ")))"
        case .addBarrier(let operation, let queue): "q\(queue).addBarrier(o\(operation))"
        case .addMember(let operation, let compound): "o\(compound).add(o\(operation))"
        case .start(let operation): "o\(operation).start()"
        case .addDependency(let operation, let other, let kind): "o\(operation).addDependency(on: o\(other), .\(kind))"
        case .removeDependency(let operation, let other): "o\(operation).removeDependency(on: o\(other))"
        case .suspend(let operation): "o\(operation).suspend()"
        case .resume(let operation): "o\(operation).resume()"
        case .cancel(let operation): "o\(operation).cancel()"
        case .drop(let operation): "o\(operation) = nil"
        case .wait(let operation, let isCancelled):
            isCancelled ? "cancelled Task { o\(operation).value }" : "Task { o\(operation).result }"
        case .suspendQueue(let queue): "q\(queue).suspend()"
        case .resumeQueue(let queue): "q\(queue).resume()"
        case .cancelAll(let queue): "q\(queue).cancelAll()"
        case .setWidth(let queue, let width): "q\(queue).setMaxConcurrentOperationCount(\(width))"
        case .listen(let queue): "Task { for await _ in q\(queue).events() }"
        case .waitUntilIdle(let queue): "Task { q\(queue).waitUntilIdle() }"
        case .shutdown(let queue, let grace): "Task { q\(queue).shutdown(grace: \(grace.map(String.init) ?? "nil")) }"
        case .dropQueue(let queue): "q\(queue) = nil"
        case .run(let queue): "Task { q\(queue).run { yield } }"
        case .watch(let operation): "Task { for await _ in o\(operation).progressUpdates() }"
        case .watchQueue(let queue): "Task { for await _ in q\(queue).progressUpdates() }"
        case .track(let one, let other, let timeout):
            "tracker(timeout: \(timeout.map(String.init) ?? "nil")) of o\(one) and o\(other)"
        }
    }
}
