// Compound operations that wait here are held back, or a change that would make them wait forever is refused.

extension QueueCore {
    /// Lets compound operations that wait here start after what they must not hold up, those in `rows` apart.
    func holdBack(_ held: HeldBackGroups, besides first: Int = .max, _ state: inout State) {
        for wait in held.waits {
            guard let row = waitingRow(of: wait.group), row.row < first, state.scheduler?.hasBegun(row) == false,
                wait.rival.lifecycle.queue === self, let other = wait.rival.lifecycle.row
            else { continue }
            handle(.link(dependent: row, on: other, .done, .outside), &state)
        }
    }
}

extension OperationCore {
    /// Looks again at the compound operations that limit their members and have some that the ends of `cores` wait for.
    /// With the topology locked. Throws `cycle`, and what was added for `cores` has to go.
    static func holdBack(
        beyond cores: [OperationCore]
    ) throws(UsageError) -> [(queue: QueueCore, consequences: QueueCore.Consequences)] {
        var graph = WaitGraph(for: .edge)
        graph.explore(cores.map { .end($0) })
        var all: [(QueueCore, QueueCore.Consequences)] = []
        for (queue, limited) in graph.contested {
            let (error, consequences) = queue.decide { state -> UsageError? in
                do throws(UsageError) {
                    let held = try HeldBackGroups(in: limited, queue.holders(state), own: LockedQueue(queue, state))
                    queue.holdBack(held, &state)
                    return nil
                } catch {
                    return error
                }
            }
            all.append((queue, consequences))
            if let error { throw error }
        }
        return all
    }
}

extension QueueCore {
    /// The compound operations that hold mutexes or will, and have dependencies inside.
    func holders(_ state: State) -> [CompoundCore] {
        if state.locks.isEmpty { return [] }
        return state.entries.compactMap { $0.operation as? CompoundCore }.filter { compound in
            !compound.options.mutexes.isEmpty && compound.state.withLock { $0.hasEdges }
        }
    }
}

extension WaitGraph {
    /// The queues in which something waits for a place in a compound operation, with these, or for a mutex.
    fileprivate var contested: [(queue: QueueCore, limited: [CompoundCore])] {
        var found: [ObjectIdentifier: (queue: QueueCore, limited: [CompoundCore])] = [:]
        var seen: Set<ObjectIdentifier> = []
        for case .start(let core) in events {
            guard let queue = core.lifecycle.queue else { continue }
            let limited = core.parent.flatMap { parent in
                parent.limit != .unlimited && seen.insert(ObjectIdentifier(parent)).inserted ? parent : nil
            }
            guard limited != nil || !core.hasDefaultOptions && !core.options.mutexes.isEmpty else { continue }
            found[ObjectIdentifier(queue), default: (queue, [])].limited += [limited].compactMap(\.self)
        }
        return Array(found.values)
    }
}
