import AsyncOperations
import Synchronization

// How a program comes to its end: what it left suspended is resumed, what hangs is cancelled, what it never started is
// let go, one after the other, so that afterwards nothing is left that may wait.

extension ProgramRun {
    /// What the program itself made wait, and what ends that.
    enum Remedy: Hashable {
        case resumeQueue(Int)
        case resume(Int)
        case cancel(Int)
        case drop(Int)
        case dropQueue(Int)
        /// A body that was refused a wait goes on.
        case release(Int)
    }

    /// The first that is to be done now, besides what was tried in vain; nil where nothing waits for the program any
    /// more.
    func remedy(besides tried: [Remedy: Int] = [:]) -> Remedy? {
        remedies.first { tried[$0, default: 0] < 32 }
    }

    private var remedies: [Remedy] {
        // Asked before all else: a completion that runs meanwhile may suspend a queue that was seen going.
        let areCompletionsOver = record.areCompletionsOver(operations: program.operations.count)
        let lingering = lingering.withLock { $0.keys.sorted() }
        if !lingering.isEmpty { return lingering.map { .release($0) } }
        var remedies: [Remedy] = program.queues.indices.filter { queue($0)?.isSuspended == true }.map {
            .resumeQueue($0)
        }
        var (taken, hanging): (Set<Int>, Set<Int>) = ([], [])
        for event in record.events {
            switch event {
            case .entered(let index, _, _): hanging.insert(index)
            case .left(let index, _): hanging.remove(index)
            case .taken(let index, _), .memberAccepted(let index, _): taken.insert(index)
            default: break
            }
        }
        let unfinished = program.operations.indices.filter { operation($0)?.isFinished == false }
        // Also what is over: what it produced may wait for its resume.
        for index in taken.sorted() where operation(index)?.isSuspended == true {
            remedies.append(.resume(index))
        }
        for index in program.operations.indices where !taken.contains(index) && operation(index) != nil {
            remedies.append(program.isKept(index) && unfinished.contains(index) ? .cancel(index) : .drop(index))
        }
        for index in unfinished where hanging.contains(index) && program.operations[index].steps.contains(.hang) {
            remedies.append(.cancel(index))
        }
        // Events end with the queue. Nothing could resume it then, so nothing may be left that suspends it.
        if areCompletionsOver {
            remedies += program.queues.indices.filter { program.isListenedTo($0) && queue($0) != nil }.map {
                .dropQueue($0)
            }
        }
        return remedies
    }

    func apply(_ remedy: Remedy) {
        switch remedy {
        case .resumeQueue(let queue): perform(.resumeQueue(queue))
        case .resume(let index): perform(.resume(index))
        case .cancel(let index): perform(.cancel(index))
        case .drop(let index): drop(index)
        case .dropQueue(let queue): dropQueue(queue)
        case .release(let index): lingering.withLock { $0.removeValue(forKey: index) }?.open()
        }
    }

    /// What can go on by everything that a caller sees, and yet does not, at a moment when nothing runs.
    func stall() -> String? {
        let barriers = program.actions.contains { if case .addBarrier = $0 { true } else { false } }
        let events = record.events
        for case .taken(let index, let queue?) in events {
            guard let operation = operation(index), let queue = self.queue(queue), !queue.isSuspended else { continue }
            switch operation.state {
            case .ready where isIdle(queue, events):
                return "o\(index) is ready, its queue is not suspended, and nothing runs"
            case .pending where !barriers && needsHaveEnded(index, events) && !wantsOthersMutex(index, events):
                let path = operation.waitingFor.map { "\($0)" } ?? ""
                return "o\(index) is pending though all it needs has ended: \(path)"
            default: break
            }
        }
        return nil
    }

    private func isIdle(_ queue: AsyncOperationQueue, _ events: [ProgramRecord.Event]) -> Bool {
        !program.operations.indices.contains { operation($0)?.isRunning ?? true }
    }

    /// True if it is a compound operation that may have to start after another that wants the same mutex.
    private func wantsOthersMutex(_ index: Int, _ events: [ProgramRecord.Event]) -> Bool {
        func inside(_ compound: Int) -> [Int] {
            var all = program.inside(compound)
            for case .memberAccepted(let member, compound) in events { all += program.inside(member) }
            return all
        }
        func names(_ operations: [Int]) -> Set<String> { Set(operations.compactMap { program.operations[$0].mutex }) }
        guard program.operations[index].isCompound else { return false }
        let own = inside(index)
        return program.operations.indices.contains { other in
            // It takes those of everything inside, too.
            let others = inside(other)
            return program.operations[other].mutex != nil && !own.contains(other) && !others.contains(index)
                && !names(own).isDisjoint(with: names(others)) && operation(other)?.isFinished == false
        }
    }

    /// Whether nothing is left that keeps an operation from starting: one that holds a mutex waits for what its members
    /// need, too.
    private func needsHaveEnded(_ index: Int, _ events: [ProgramRecord.Event]) -> Bool {
        var ended: Set<Int> = []
        var needs: Set<Int> = []
        var parents: [Int: Int] = [:]
        for case .memberAccepted(let member, let compound) in events { parents[member] = compound }
        let isHolder = program.operations[index].isCompound && program.operations[index].mutex != nil
        for event in events {
            switch event {
            case .ended(let index, _): ended.insert(index)
            case .needAccepted(let dependent, let other, _):
                let around = sequence(first: dependent) { parents[$0] }
                if dependent == index || isHolder && around.contains(index) { needs.insert(other) }
            default: break
            }
        }
        return needs.isSubset(of: ended)
    }
}

extension ProgramRun {
    /// How far everything has come, and what was seen, in order.
    var standing: String {
        let queues = program.queues.indices.map { index in
            "q\(index): \(queue(index).map { $0.isSuspended ? "suspended" : "going" } ?? "dropped")"
        }
        let operations = program.operations.indices.map { index in
            "o\(index): \(operation(index)?.state.description ?? "dropped")"
        }
        return (queues + operations + record.events.map { "\($0)" }).joined(separator: "\n")
    }
}
