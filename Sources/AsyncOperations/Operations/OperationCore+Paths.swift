// The search for a way on which something would wait for itself. With the topology locked.

extension OperationCore {
    /// What a new wait would be for.
    enum Target {
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
            if case .start = self, core.members.isEmpty == false { return true }
            return core.around.contains { outer in
                outer.state.withLock { $0.isNeeded } || starts.contains { $0 === outer }
            }
        }
    }

    /// For what its body waits while it runs.
    fileprivate var awaited: [OperationCore] {
        if case .running(let control) = lifecycle, let awaited = control.awaited { [awaited] } else { [] }
    }

    fileprivate var members: [OperationCore] { (self as? CompoundCore)?.withMembers { $1.cores } ?? [] }

    /// The way from one of `starts`, whose ends would be waited for, to where that waits for `target`; nil where there
    /// is none. An end waits for the ends of what the operation and everything around it need, for those of its
    /// members, and for what its body waits for. A worklist, O(what is upstream); nothing at all for a target that nobody waits for.
    static func path(from starts: [OperationCore], to target: Target) -> [AsyncOperationID]? {
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
            let needs = around.flatMap { $0.state.withLock { $0.needs.map(\.core) } }
            for next in core.members + needs + core.awaited where !next.isFinished && seen.insert(next.id).inserted {
                cameFrom[next.id] = core.id
                pending.append(next)
            }
        }
        return nil
    }
}
