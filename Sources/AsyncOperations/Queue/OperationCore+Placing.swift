internal import Synchronization

// What happens to an operation while its queue takes it, all of it under the queue's lock.

extension OperationCore {
    /// Takes it for a queue. Returns its members where it is compound.
    func claim(for queue: QueueCore, isMember: Bool) throws(UsageError) -> [AnyAsyncOperation]? {
        let (refusal, members) = state.withLock { state -> (UsageError?, [AnyAsyncOperation]?) in
            if !isMember, let refusal = Self.refusalToTake(id, state) { return (refusal, nil) }
            state.isTaken = true
            let members = state.members?.handles
            state.members?.queue = queue
            state.members?.unfinished = members?.count ?? 0
            return (nil, members)
        }
        if let refusal { throw refusal }
        return members
    }

    /// Undoes `claim`.
    func unclaim(isMember: Bool) {
        state.withLock { state in
            state.isTaken = isMember
            state.members?.queue = nil
            state.members?.unfinished = 0
        }
    }

    /// Gives it its row.
    func take(_ place: Place, isOwn: Bool) {
        state.withLock { state in
            state.place = place
            if isOwn { state.ownQueue = place.queue }
        }
    }

    /// The dependencies for which the scheduler needs a stand-in: those on what it does not know, unless they are
    /// fulfilled.
    func needsElsewhere(_ run: QueueRun, batch: Set<AsyncOperationID>) -> [Need] {
        state.withLock { $0.needs }.filter { need in
            let (end, place) = need.core.state.withLock { ($0.end, $0.place) }
            if let end { return !need.isMet(by: end) }
            return place?.run.table !== run.table && !batch.contains(need.core.id)
        }
    }

    /// Tells the graph what it waits for.
    func addEdges(
        to rows: inout OperationGraph, _ row: OperationID, standIns: [AsyncOperationID: OperationID]
    ) {
        for need in state.withLock({ $0.needs }) {
            let known = standIns[need.core.id].map { ($0, EdgeKind.success) }
            guard let (prerequisite, kind) = known ?? need.core.place.map({ ($0.row, need.kind) }) else { continue }
            let isStillNeeded = state.withLock { state in
                guard let index = state.needs.firstIndex(where: { $0.core === need.core }) else { return false }
                state.needs[index].row = prerequisite
                return true
            }
            if isStillNeeded { rows.addDependency(of: row, on: prerequisite, kind) }
        }
    }

    func graphOptions(locks: [LockRequest]) -> OperationGraph.Options {
        OperationGraph.Options(
            priority: compound?.options.priority ?? options.priority,
            timeout: compound?.options.timeout ?? options.timeout, toleratesFailure: toleratesFailure,
            retry: options.retry, locks: locks)
    }
}

extension OperationCore.Need {
    /// Whether an end is what the dependency waits for.
    func isMet(by end: OperationEnd) -> Bool {
        switch (kind, end) {
        case (.done, _), (.ok, .success), (.ok, .skipped), (.success, .success): true
        case (.failure, .failure), (.failure, .timeout): true
        case (.ok, .failure), (.ok, .timeout): core.toleratesFailure
        case (.ok, .cancelled), (.ok, .notRun), (.success, _), (.failure, _): false
        }
    }
}
