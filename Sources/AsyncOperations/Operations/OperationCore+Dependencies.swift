internal import Synchronization

// Who waits for whom, before anything runs: a cycle is refused where it would come about.

extension OperationCore {
    /// One edit of who waits for whom at a time, so that two that make a cycle only together are not both accepted.
    private static let topology = Mutex(())

    func addDependency(on other: OperationCore, _ kind: EdgeKind) throws(UsageError) {
        if other === self { throw .selfDependency(id) }
        let error = Self.topology.withLock { _ -> UsageError? in
            if let error = state.withLock({ Self.refusalToChange(id, $0) }) { return error }
            if let path = Self.path(from: [other], to: self) { return .cycle([id] + path) }
            link(to: other, kind)
            return nil
        }
        if let error { throw error }
    }

    /// A dependency named twice counts once, the later kind being the one that counts.
    private func link(to other: OperationCore, _ kind: EdgeKind) {
        other.state.withLock { $0.isNeeded = true }
        state.withLock { state in
            if let index = state.needs.firstIndex(where: { $0.core === other }) {
                if !state.needs[index].carriesData { state.needs[index].kind = kind }
            } else {
                state.needs.append(Need(core: other, kind: kind, carriesData: false))
            }
        }
    }

    /// Does nothing where there is no such dependency, or one that carries data.
    func removeDependency(on other: OperationCore) throws(UsageError) {
        let error = state.withLock { state -> UsageError? in
            if state.end != nil { return .alreadyFinished(id) }
            if state.progress == .executing { return .alreadyStarted(id) }
            guard let index = state.needs.firstIndex(where: { $0.core === other && !$0.carriesData }) else { return nil }
            let need = state.needs.remove(at: index)
            guard let place = state.place, let row = need.row else { return nil }
            if state.isPosted {
                place.run.control.unlink(dependent: place.row, prerequisite: row)
            } else {
                state.lateUnlinks.append(row)
            }
            return nil
        }
        if let error { throw error }
    }

    private static func refusalToChange(_ id: AsyncOperationID, _ state: State) -> UsageError? {
        if state.end != nil { return .alreadyFinished(id) }
        if state.progress == .executing { return .alreadyStarted(id) }
        return state.isTaken && state.place != nil ? .alreadyEnqueued(id) : nil
    }

    /// Makes `child` a member. Whoever waits for the child waits for what is around it from now on, so that this can
    /// close a cycle too.
    func adopt(_ child: AnyAsyncOperation) throws(UsageError) {
        let error = Self.topology.withLock { _ -> UsageError? in
            if child.core === self { return .selfDependency(id) }
            if let error = child.core.state.withLock({ Self.refusalToTake(child.id, $0) }) { return error }
            if let path = Self.path(from: [child.core], to: self) { return .cycle([id] + path) }
            let ancestors = sequence(first: self) { $0.parent }
            let needs = ancestors.flatMap { $0.state.withLock { $0.needs.map(\.core) } }
            if let path = Self.path(from: needs, to: child.core) { return .cycle([child.id] + path) }
            child.core.state.withLock { child in
                child.isTaken = true
                child.parent = self
            }
            return nil
        }
        if let error { throw error }
    }

    static func refusalToTake(_ id: AsyncOperationID, _ state: State) -> UsageError? {
        if state.end != nil { return .alreadyFinished(id) }
        if state.progress == .executing { return .alreadyStarted(id) }
        return state.isTaken ? .alreadyEnqueued(id) : nil
    }

    /// The way from one of `starts`, whose end is waited for, to where that waits for `target` to start or, from
    /// inside, to end; nil where there is none. An end waits for the ends of what the operation and everything around
    /// it need, and for those of its members. O(what is upstream), a worklist; nothing at all for a target that nobody
    /// waits for and that is empty.
    private static func path(from starts: [OperationCore], to target: OperationCore) -> [AsyncOperationID]? {
        let isAwaited = target.state.withLock { $0.isNeeded || $0.members?.handles.isEmpty == false }
        guard isAwaited else { return nil }
        var cameFrom: [AsyncOperationID: AsyncOperationID] = [:]
        var pending = starts
        var seen = Set(starts.map(\.id))
        while let core = pending.popLast() {
            let around = Array(sequence(first: core) { $0.parent })
            if around.contains(where: { $0 === target }) {
                var path = [core.id]
                while let previous = path.first.flatMap({ cameFrom[$0] }) { path.insert(previous, at: 0) }
                if core !== target { path.append(target.id) }
                return path
            }
            let members = core.state.withLock { $0.members?.handles.map(\.core) ?? [] }
            let needs = around.flatMap { $0.state.withLock { $0.needs.map(\.core) } }
            for next in members + needs where !next.isFinished && seen.insert(next.id).inserted {
                cameFrom[next.id] = core.id
                pending.append(next)
            }
        }
        return nil
    }
}
