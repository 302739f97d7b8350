internal import Synchronization

// Members of a compound operation, before and while it runs.

extension OperationCore {
    /// Adds a member, for the sake of `producer` where that is not nil.
    func add(member: AnyAsyncOperation, producer: OperationCore? = nil) throws(UsageError) {
        try adopt(member)
        let (queue, isClosed) = state.withLock { state -> (QueueCore?, Bool) in
            guard state.end == nil, state.members?.isClosed == false else { return (nil, true) }
            let queue = state.members?.queue
            if queue == nil { state.members?.handles.append(member) }
            return (queue, false)
        }
        do throws(UsageError) {
            if isClosed { throw .closed(id) }
            try queue?.add([member], to: self, producer: producer)
        } catch {
            member.core.state.withLock { member in
                member.isTaken = false
                member.parent = nil
            }
            throw error
        }
    }

    /// Whether further members can be added; with the queue's lock held.
    var takesMembers: Bool {
        state.withLock { $0.end == nil && $0.members?.isClosed == false }
    }

    /// Whether the group around it tolerates a failure or timeout.
    var toleratesFailure: Bool { compound?.options.toleratesFailure ?? options.toleratesFailure }

    /// What a report says went wrong.
    var error: (any Error)? {
        guard compound != nil else { return bodyError() }
        let reports = state.withLock { $0.members?.reports ?? [] }
        return reports.allSatisfy { $0.outcome == .success } ? nil : CompoundFailure(name: name, reports: reports)
    }
}
