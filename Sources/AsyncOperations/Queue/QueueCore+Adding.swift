internal import Synchronization

// From operations to rows: all of a call or none.

extension QueueCore {
    /// One step of a walk through operations and what is inside them.
    private enum Step {
        case enter(OperationCore)
        case leave
    }

    /// What one call adds.
    private struct Batch {
        let handles: [AnyAsyncOperation]
        /// The running compound operation that gets them; nil for the queue itself.
        let parent: OperationCore?
        let producer: OperationCore?
        /// Everything in preorder.
        var walk: [Step] = []

        var operations: [OperationCore] { walk.compactMap { if case .enter(let core) = $0 { core } else { nil } } }
    }

    /// Adds operations, to a running compound operation or to the queue itself. `isOwn` for one that is started by
    /// itself and may steer the queue.
    func add(
        _ handles: [AnyAsyncOperation], to parent: OperationCore? = nil, producer: OperationCore? = nil,
        isOwn: Bool = false, isBarrier: Bool = false
    ) throws(UsageError) {
        var batch = Batch(handles: handles, parent: parent, producer: producer)
        let error = state.withLock { state -> UsageError? in
            do throws(UsageError) {
                if let parent {
                    if !parent.takesMembers { throw .closed(parent.id) }
                } else if state.isClosed {
                    throw .closed(id)
                }
                try claim(&batch)
                if parent == nil { try linkToBarrier(batch, isBarrier: isBarrier, &state) }
                place(batch, isOwn: isOwn, &state)
                if isBarrier { state.barrier = handles.last?.core }
                return nil
            } catch {
                release(batch)
                return error
            }
        }
        if let error { throw error }
    }

    /// Checks operations and everything inside them, and takes them for this queue.
    private func claim(_ batch: inout Batch) throws(UsageError) {
        var held: [(name: String, by: AsyncOperationID)] = []
        var ancestor = batch.parent
        while let holder = ancestor {
            held += holder.mutexes.map { ($0, holder.id) }
            ancestor = holder.parent
        }
        var heldBefore: [Int] = []
        var pending = batch.handles.reversed().map { Step.enter($0.core) }
        while let step = pending.popLast() {
            guard case .enter(let core) = step else {
                batch.walk.append(step)
                held.removeLast(held.count - heldBefore.removeLast())
                continue
            }
            if let outer = held.first(where: { core.mutexes.contains($0.name) }) {
                throw .nestedMutex(outer: outer.by, inner: core.id, name: outer.name)
            }
            let timeout = core.compound?.options.timeout ?? core.options.timeout
            if let timeout, timeout <= .zero { throw .invalidTimeout(timeout) }
            let isMember = batch.parent != nil || !heldBefore.isEmpty
            let members = try core.claim(for: self, isMember: isMember)
            batch.walk.append(step)
            guard let members else { continue }
            heldBefore.append(held.count)
            held += core.mutexes.map { ($0, core.id) }
            pending.append(.leave)
            pending += members.reversed().map { .enter($0.core) }
        }
    }

    private func release(_ batch: Batch) {
        var depth = batch.parent == nil ? 0 : 1
        for step in batch.walk {
            guard case .enter(let core) = step else {
                depth -= 1
                continue
            }
            core.unclaim(isMember: depth > 0)
            if core.compound != nil { depth += 1 }
        }
    }

    /// A barrier waits for all that is there; what comes later waits for the barrier.
    private func linkToBarrier(_ batch: Batch, isBarrier: Bool, _ state: inout State) throws(UsageError) {
        if let barrier = state.barrier, barrier.isFinished { state.barrier = nil }
        let earlier =
            isBarrier
            ? (state.run?.table.operations ?? []).filter { $0.parent == nil } : state.barrier.map { [$0] } ?? []
        for core in batch.handles.map(\.core) {
            var linked: [OperationCore] = []
            do throws(UsageError) {
                for other in earlier {
                    try core.addDependency(on: other, .done)
                    linked.append(other)
                }
            } catch {
                for other in linked { try core.removeDependency(on: other) }
                throw error
            }
        }
    }

    /// Gives operations their rows and tells the scheduler of them.
    private func place(_ batch: Batch, isOwn: Bool, _ state: inout State) {
        let run = run(&state)
        let operations = batch.operations
        // Outside all groups, where nothing but their own end holds stand-ins up.
        var standIns = OperationGraph(joiningAt: run.table.count)
        var standInRows: [AsyncOperationID: [AsyncOperationID: OperationID]] = [:]
        var awaited: [(row: OperationID, need: OperationCore.Need)] = []
        let ids = Set(operations.map(\.id))
        for core in operations {
            for need in core.needsElsewhere(run, batch: ids) {
                let row = standIns.beginGroup(concludes: true, isOpen: true)
                standIns.endGroup()
                run.table.append(.standIn(need.core))
                standInRows[core.id, default: [:]][need.core.id] = row
                awaited.append((row, need))
            }
        }
        var rows = OperationGraph(joiningAt: run.table.count)
        for step in batch.walk {
            guard case .enter(let core) = step else {
                rows.endGroup()
                continue
            }
            let row = add(core, to: &rows, &state)
            run.table.append(.operation(core))
            core.take(OperationCore.Place(queue: self, run: run, row: row), isOwn: isOwn)
            announcer.announce(.added(by: batch.producer?.id), of: core.id)
        }
        for core in operations {
            guard let row = core.place?.row else { continue }
            core.addEdges(to: &rows, row, standIns: standInRows[core.id] ?? [:])
        }
        count(batch, &state)
        if !awaited.isEmpty { run.control.add(standIns, to: .root) }
        run.control.add(rows, to: batch.parent?.place?.row ?? .root)
        for core in operations { core.notePosted() }
        for (row, need) in awaited { need.core.follow { run.resolve(row, need, $0) } }
    }

    private func add(
        _ core: OperationCore, to rows: inout OperationGraph, _ state: inout State
    ) -> OperationID {
        let options = core.graphOptions(locks: locks(core.mutexes, &state))
        guard let compound = core.compound else { return rows.addOperation(options) }
        return rows.beginGroup(options, limit: compound.limit, failFast: compound.failFast, isOpen: true)
    }

    private func count(_ batch: Batch, _ state: inout State) {
        guard let parent = batch.parent else {
            state.unfinished += batch.handles.count
            return
        }
        parent.state.withLock { state in
            state.members?.handles += batch.handles
            state.members?.unfinished += batch.handles.count
        }
    }

    /// One lock for each name, for as long as the queue has something to do; always in the same order, so that those
    /// who want the same wait together.
    private func locks(_ names: Set<String>, _ state: inout State) -> [LockRequest] {
        if names.isEmpty { return [] }
        let indices = names.map { name in
            let index = state.locks[name] ?? state.locks.count
            state.locks[name] = index
            return index
        }
        return indices.sorted().map { LockRequest(lock: LockID(index: $0)) }
    }
}
