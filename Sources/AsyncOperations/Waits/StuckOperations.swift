// Operations that would wait for each other forever. A change that makes this certain is refused. A circle that only
// a certain order of starts leads to is found when it happens: one operation ends, so that the others go on.

extension OperationCore {
    /// Examines operations that have just got something to wait for. Refuses the waits of bodies that now wait for
    /// themselves, and ends operations that do. Called outside all locks. O(upstream of the suspects that want a
    /// place or a mutex, or hold one while they wait for something outside).
    static func breakRings(beyond suspects: [OperationCore]) {
        BodyWait.refuse(because: suspects)
        let suspects = suspects.filter(\.mayCloseRing)
        if suspects.isEmpty { return }
        changingWaits { all in
            while let (core, ring) = WaitGraph.ring(beyond: suspects), let queue = core.lifecycle.queue {
                if letGo(on: ring, &all) { continue }
                let (hasEnded, consequences) = queue.end(core, asStuckIn: ids(of: ring))
                all.append((queue, consequences))
                if !hasEnded { break }
            }
        }
    }

    /// True if it waits for something that others hold, or may hold something while it waits.
    private var mayCloseRing: Bool {
        switch lifecycle {
        case .waiting: namesMutexes || isInLimited
        case .open: (self as? CompoundCore)?.leadsOutside == true
        case .idle, .dissolving, .member, .taken, .running, .settled, .ended: false
        }
    }

    /// True if a time limit will end it, or an enclosing operation, whatever it waits for.
    fileprivate var hasRunningLimit: Bool {
        around.contains { outer in
            guard !outer.hasDefaultOptions, case .open = outer.lifecycle else { return false }
            return outer.options.timeout != nil || outer.options.retry?.deadline != nil
        }
    }
}

extension WaitGraph {
    /// An operation that waits for a place or a mutex, and so for itself, with the path of these waits; nil if there
    /// is none.
    fileprivate static func ring(beyond suspects: [OperationCore]) -> (core: OperationCore, ring: [WaitEvent])? {
        var graph = WaitGraph(for: .wait)
        graph.explore(suspects.ends)
        for case .start(let core) in graph.events {
            guard let queue = core.lifecycle.queue, queue.hasReady(core), let ring = graph.ring(through: .start(core)),
                !ring.contains(where: { $0.core?.hasRunningLimit == true })
            else { continue }
            return (core, ring)
        }
        return nil
    }
}

extension QueueCore {
    /// True if an operation waits only for a place, a mutex or its turn.
    fileprivate func hasReady(_ core: OperationCore) -> Bool {
        state.withLock { state in waitingRow(of: core).map { state.scheduler?.isReady($0) == true } ?? false }
    }
}

extension QueueCore.State {
    /// Records that `core` has something new to wait for.
    mutating func suspect(_ core: OperationCore) {
        if isEntangled || BodyWait.hasWaiting { suspects.append(core) }
    }

    /// Removes the suspects. Returns those that have not started by now, or are compound operations.
    mutating func takeSuspects() -> [OperationCore] {
        if suspects.isEmpty { return [] }
        defer { suspects = [] }
        return suspects.filter { core in
            switch core.lifecycle {
            case .waiting, .open: true
            case .idle, .dissolving, .member, .taken, .running, .settled, .ended: false
            }
        }
    }
}
