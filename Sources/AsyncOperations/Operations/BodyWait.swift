internal import Synchronization

/// The wait of a body for the end of an operation, or for a queue to be idle.
///
/// It is refused if it cannot end before the body does: at once, or as soon as that is certain.
final class BodyWait: Sendable {
    enum Target: Sendable {
        case end(OperationCore, ticket: UInt64)
        case idle(QueueCore, OneShot, ticket: UInt64)

        var id: AsyncOperationID {
            switch self {
            case .end(let core, _): core.id
            case .idle(let queue, _, _): queue.id
            }
        }

        /// Identifies the continuation of the waiting task.
        var ticket: UInt64 {
            switch self {
            case .end(_, let ticket), .idle(_, _, let ticket): ticket
            }
        }
    }

    /// The number of waits in `all`, read without its lock at every start. While it is zero, no search for bodies
    /// that wait for themselves is needed.
    private static let count = Atomic(0)
    static var hasWaiting: Bool { count.load(ordering: .sequentiallyConsistent) > 0 }

    /// The waits that have begun and not ended.
    private static let all = Lock<[ObjectIdentifier: BodyWait]>([:])
    /// The operations whose bodies wait, in the world of the caller.
    static var waiting: [OperationCore] {
        let world = currentWorld
        return all.withLock { $0.values.filter { $0.world == world }.map(\.body.core) }
    }

    let body: BodyControl
    let target: Target
    /// True if it ends when the body is asked to stop.
    let heedsCancellation: Bool
    private let world = currentWorld
    private let refused = Atomic(false)

    private init(of body: BodyControl, for target: Target, heedsCancellation: Bool) {
        self.body = body
        self.target = target
        self.heedsCancellation = heedsCancellation
    }

    var isRefused: Bool { refused.load(ordering: .acquiring) }
    var ticket: UInt64 { target.ticket }
    var refusal: UsageError { .wouldWaitForItself(waiter: body.core.id, awaited: target.id) }

    /// Records that `body`, the caller, is about to wait; `end` must follow. Throws if it would wait for itself.
    static func begin(
        in body: BodyControl, for target: Target, heedingCancellation heedsCancellation: Bool
    ) throws(UsageError) -> BodyWait {
        let wait = BodyWait(of: body, for: target, heedsCancellation: heedsCancellation)
        // If two waits form a cycle only together, one is refused.
        try OperationCore.changingWaits { (all: inout [OperationCore.Consequences]) throws(UsageError) in
            wait.note()
            while let ring = wait.ring {
                if OperationCore.letGo(on: ring, &all) { continue }
                wait.end()
                throw wait.refusal
            }
        }
        return wait
    }

    private func note() {
        Self.count.add(1, ordering: .sequentiallyConsistent)
        Self.all.withLock { $0[ObjectIdentifier(self)] = self }
        switch target {
        case .end(let core, _): core.noteNeed()
        case .idle(let queue, _, _): queue.state.withLock { $0.waitingBodies += 1 }
        }
        body.setWait(self)
    }

    /// Records that the body goes on. Does nothing after the first call.
    func end() {
        guard body.endWait(self) else { return }
        Self.count.subtract(1, ordering: .sequentiallyConsistent)
        _ = Self.all.withLock { $0.removeValue(forKey: ObjectIdentifier(self)) }
        if case .idle(let queue, _, _) = target { queue.state.withLock { $0.waitingBodies -= 1 } }
    }

    /// Refuses the wait. `tell` must follow, outside all locks.
    private func refuse() {
        refused.store(true, ordering: .releasing)
        end()
    }

    private func tell() {
        switch target {
        case .end(let core, let ticket): core.stopWaiting(ticket)
        case .idle(_, let signal, let ticket): signal.stopWaiting(ticket)
        }
    }

    /// Examines operations that have just got something to wait for, and refuses waits that are now in a cycle.
    static func refuse(because suspects: [OperationCore]) {
        guard hasWaiting else { return }
        var known: [ObjectIdentifier: Bool] = [:]
        let suspects = suspects.filter { $0.mayBeAwaited(&known) }
        if suspects.isEmpty { return }
        let (refused, consequences) = OperationCore.withTopology {
            var refused: [BodyWait] = []
            var consequences: [OperationCore.Consequences] = []
            while let (wait, ring) = circular(beyond: suspects) {
                if OperationCore.letGo(on: ring, &consequences) { continue }
                wait.refuse()
                refused.append(wait)
            }
            return (refused, consequences)
        }
        for wait in refused { wait.tell() }
        OperationCore.carry(consequences)
    }
}

extension OperationCore {
    /// True if a body may be waiting for it, or for something that it holds up. Cheap, because it is queried at every
    /// start; `known` contains the results of `isNeeded` so far.
    fileprivate func mayBeAwaited(_ known: inout [ObjectIdentifier: Bool]) -> Bool {
        let (isPlain, queue, parent) = state.withLock { state in
            let isPlain = !state.hasEdges && !state.isNeeded && state.parent?.isLimited != true
            return (isPlain, state.lifecycle.queue, state.parent)
        }
        if !isPlain || !hasDefaultOptions { return true }
        if queue?.state.withLock({ $0.waitingBodies > 0 }) == true { return true }
        return parent?.isNeeded(&known) ?? false
    }

    /// True if anything waits for it or for an enclosing operation. Each is examined once, however deeply they are
    /// nested.
    private func isNeeded(_ known: inout [ObjectIdentifier: Bool]) -> Bool {
        var path: [ObjectIdentifier] = []
        var next: OperationCore? = self
        var answer = false
        while let outer = next {
            if let known = known[ObjectIdentifier(outer)] {
                answer = known
                break
            }
            path.append(ObjectIdentifier(outer))
            (answer, next) = outer.state.withLock { ($0.isNeeded, $0.parent) }
            if answer { break }
        }
        for id in path { known[id] = answer }
        return answer
    }
}
