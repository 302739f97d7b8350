internal import Synchronization

// Who waits for whom, before anything runs: a cycle is refused where it would come about.

extension OperationCore {
    /// One edit of who waits for whom at a time, so that two that make a cycle only together are not both accepted.
    private static let topology = Mutex(())

    func addDependency(on other: OperationCore, _ kind: EdgeKind) throws(UsageError) {
        if other === self { throw .selfDependency(id) }
        let error = Self.topology.withLock { _ -> UsageError? in
            if let error = state.withLock({ Self.refusalToChange(id, $0) }) { return error }
            if let path = Self.path(from: [other], to: .start(of: self)) { return .cycle([id] + path) }
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
            let index = state.needs.firstIndex { $0.core === other && !$0.carriesData }
            guard let index else { return nil }
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
            if let path = Self.path(from: [child.core], to: .end(of: self)) { return .cycle([id] + path) }
            let needs = around.flatMap { $0.state.withLock { $0.needs.map(\.core) } }
            if let path = Self.path(from: needs, to: .start(of: child.core)) { return .cycle([child.id] + path) }
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

    /// Itself and everything around it, from inside out.
    private var around: [OperationCore] { Array(sequence(first: self) { $0.parent }) }

    /// What a new wait would be for.
    private enum Target {
        case start(of: OperationCore)
        case end(of: OperationCore)

        var core: OperationCore {
            switch self {
            case .start(let core), .end(let core): core
            }
        }

        /// Whether the end of an operation waits for it without any further step.
        func isAwaited(by around: [OperationCore]) -> Bool {
            switch self {
            case .start(let core): around.contains { $0 === core }
            case .end(let core): around.first === core
            }
        }

        /// Whether a search could find it: some way has to lead to it, to what is around it or, for a start, inside.
        func canBeFound(from starts: [OperationCore]) -> Bool {
            let hasMembers = core.state.withLock { $0.members?.handles.isEmpty == false }
            if case .start = self, hasMembers { return true }
            return core.around.contains { outer in
                outer.state.withLock { $0.isNeeded } || starts.contains { $0 === outer }
            }
        }
    }

    /// The way from one of `starts`, whose ends would be waited for, to where that waits for `target`; nil where there
    /// is none. An end waits for the ends of what the operation and everything around it need, and for those of its
    /// members. A worklist, O(what is upstream); nothing at all for a target that nobody waits for.
    private static func path(from starts: [OperationCore], to target: Target) -> [AsyncOperationID]? {
        guard target.canBeFound(from: starts) else { return nil }
        var cameFrom: [AsyncOperationID: AsyncOperationID] = [:]
        var pending = starts
        var seen = Set(starts.map(\.id))
        while let core = pending.popLast() {
            let around = core.around
            if target.isAwaited(by: around) {
                var path = [core.id]
                while let previous = path.last.flatMap({ cameFrom[$0] }) { path.append(previous) }
                path.reverse()
                if core !== target.core { path.append(target.core.id) }
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
