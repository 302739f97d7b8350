// Finds the path on which something would wait for itself. With the topology locked.

extension OperationCore {
    /// What of what holds groups back does not count in a search, because it will be decided again.
    enum IgnoredHolds {
        case none
        case of([OperationCore])
        case all
    }

    /// The path from the end of one of `starts` to `target`, for which that waits; nil if there is none. It leads over
    /// dependencies, members, waits of bodies, and places and mutexes that are taken. `own` is the queue whose lock the
    /// caller holds. O(what is upstream), and O(1) for a target that nothing could wait for.
    static func path(
        from starts: [OperationCore], to target: WaitEvent, own: LockedQueue? = nil,
        ignoring holds: IgnoredHolds = .none
    ) -> [AsyncOperationID]? {
        guard target.canBeFound(from: starts) else { return nil }
        return path(from: starts.map { .end($0) }, to: target, own: own, holds)
    }

    /// The same for what would wait for a place in `compound`.
    static func path(
        fromPlaceIn compound: CompoundCore, to target: WaitEvent, own: LockedQueue?, ignoring holds: IgnoredHolds
    ) -> [AsyncOperationID]? {
        guard compound.limit != .unlimited, target.canBeFound(from: []) else { return nil }
        return path(from: [.place(in: compound)], to: target, own: own, holds)
    }

    /// The same for what would wait for the start of `compound`, and so for the places and mutexes that it wants.
    static func path(
        fromStartOf compound: CompoundCore, to target: WaitEvent, own: LockedQueue?, ignoring holds: IgnoredHolds
    ) -> [AsyncOperationID]? {
        guard target.canBeFound(from: []) else { return nil }
        return path(from: [.start(compound)], to: target, own: own, holds)
    }

    private static func path(
        from starts: [WaitEvent], to target: WaitEvent, own: LockedQueue?, _ holds: IgnoredHolds
    ) -> [AsyncOperationID]? {
        var graph = WaitGraph(for: .edge, denied: target, own: own)
        graph.ignore(holds)
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
