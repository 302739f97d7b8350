// Finds the path on which something would wait for itself. With the topology locked.

extension OperationCore {
    /// The path from the end of one of `starts` to `target`, for which that waits; nil if there is none. It leads over
    /// dependencies, members, waits of bodies, and places and mutexes that are taken. `own` is the queue whose lock the
    /// caller holds; `ignoringHolds`, if what groups are held back by is decided again. O(what is upstream), and O(1) for a target that nothing could wait for.
    static func path(
        from starts: [OperationCore], to target: WaitEvent, own: LockedQueue? = nil, ignoringHolds: Bool = false
    ) -> [AsyncOperationID]? {
        guard target.canBeFound(from: starts) else { return nil }
        return path(from: starts.map { .end($0) }, to: target, own: own, ignoringHolds)
    }

    /// The same for what would wait for a place in `compound`.
    static func path(
        fromPlaceIn compound: CompoundCore, to target: WaitEvent, own: LockedQueue?
    ) -> [AsyncOperationID]? {
        guard compound.limit != .unlimited, target.canBeFound(from: []) else { return nil }
        return path(from: [.place(in: compound)], to: target, own: own)
    }

    private static func path(
        from starts: [WaitEvent], to target: WaitEvent, own: LockedQueue?, _ ignoresHolds: Bool = false
    ) -> [AsyncOperationID]? {
        var graph = WaitGraph(for: .edge, denied: target, own: own, ignoringHolds: ignoresHolds)
        graph.explore(starts)
        return starts.lazy.compactMap { graph.path(from: $0, to: target) }.first.map(ids)
    }

    /// The operations on a path. The start and end of one count once, and what is only around the waiting one does not.
    static func ids(of path: [WaitEvent]) -> [AsyncOperationID] {
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
    /// Whether a search could find it: something must be able to wait for it, for what is around it or, for a start,
    /// inside.
    func canBeFound(from starts: [OperationCore]) -> Bool {
        guard let core else { return false }
        if case .start = self, let compound = core as? CompoundCore, !compound.withMembers({ $1.cores.isEmpty }) {
            return true
        }
        return core.mayHoldUp || core.around.contains { outer in starts.contains { $0 === outer } }
    }
}
