// The search for a way on which something would wait for itself. With the topology locked.

extension OperationCore {
    /// The way from one of `starts`, whose ends would be waited for, to where that waits for `target`; nil where there
    /// is none: over needs, members, what bodies await, and the places and mutexes of what has started. `own` is the queue
    /// whose lock the caller holds. O(what is upstream); nothing at all for a target that nobody could wait for.
    static func path(
        from starts: [OperationCore], to target: WaitEvent, own: (queue: QueueCore, state: QueueCore.State)? = nil
    ) -> [AsyncOperationID]? {
        guard target.canBeFound(from: starts) else { return nil }
        var graph = WaitGraph(for: .edge, denied: target, own: own)
        graph.explore(starts.map { .end($0) })
        for start in starts {
            guard let path = graph.path(from: .end(start), to: target) else { continue }
            return ids(of: path)
        }
        return nil
    }

    /// An end and its start are one step; what is only around the one that waits is none.
    private static func ids(of path: [WaitEvent]) -> [AsyncOperationID] {
        var ids: [AsyncOperationID] = []
        for (index, event) in path.enumerated() {
            guard let core = event.core, ids.last != core.id else { continue }
            if case .start = event, index > 0, index < path.count - 1, case .start = path[index - 1] { continue }
            ids.append(core.id)
        }
        return ids
    }
}

extension WaitEvent {
    /// Whether a search could find it: some way has to lead to it, to what is around it or, for a start, inside.
    fileprivate func canBeFound(from starts: [OperationCore]) -> Bool {
        guard let core else { return false }
        if case .start = self, let compound = core as? CompoundCore, !compound.withMembers({ $1.cores.isEmpty }) {
            return true
        }
        return core.mayHoldUp || core.around.contains { outer in starts.contains { $0 === outer } }
    }
}
