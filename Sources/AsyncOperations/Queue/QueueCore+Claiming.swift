// Taking operations for a queue, with everything inside them, before they get rows.

extension QueueCore {
    /// Checks the operations and everything inside them, and takes them for this queue.
    func claim(_ batch: inout Batch) throws(UsageError) {
        var held: [(name: String, by: AsyncOperationID)] = []
        var ancestor: OperationCore? = batch.parent
        while let holder = ancestor {
            held += holder.options.mutexes.map { ($0, holder.id) }
            ancestor = holder.parent
        }
        var heldBefore: [Int] = []
        var pending = batch.cores.reversed().map { Step.enter($0) }
        while let step = pending.popLast() {
            guard case .enter(let core) = step else {
                batch.walk.append(step)
                held.removeLast(held.count - heldBefore.removeLast())
                continue
            }
            if !core.hasDefaultOptions { try check(core, held) }
            let isInside = !heldBefore.isEmpty
            guard try claim(core, isInside: isInside, parent: batch.parent) else {
                batch.walk.append(.enterEnded(core))
                continue
            }
            batch.walk.append(step)
            guard let compound = core as? CompoundCore else { continue }
            heldBefore.append(held.count)
            held += core.options.mutexes.map { ($0, core.id) }
            pending.append(.leave)
            pending += compound.withMembers { $1.cores }.reversed().map { .enter($0) }
        }
    }

    private func check(_ core: OperationCore, _ held: [(name: String, by: AsyncOperationID)]) throws(UsageError) {
        let options = core.options
        if let outer = held.first(where: { options.mutexes.contains($0.name) }) {
            throw .nestedMutex(outer: outer.by, inner: core.id, name: outer.name)
        }
        if let limit = options.invalidLimit { throw .invalidTimeout(core.id, limit) }
    }

    /// Returns false for a member that has ended or is ending.
    private func claim(_ core: OperationCore, isInside: Bool, parent: CompoundCore?) throws(UsageError) -> Bool {
        let answer = core.state.withLock { state -> Result<Bool, UsageError> in
            if isInside {
                guard case .member = state.lifecycle else { return .success(false) }
            } else {
                if let refusal = state.refusalToTake(core.id) { return .failure(refusal) }
                state.parent = parent
            }
            state.lifecycle = .taken(by: self)
            return .success(true)
        }
        return try answer.get()
    }

    /// Gives back what was claimed, from inside out: nobody ends a member while what is around it is taken.
    func release(_ batch: Batch) {
        var open: [OperationCore] = []
        for step in batch.walk {
            switch step {
            case .enterEnded: break
            case .enter(let core) where core is CompoundCore: open.append(core)
            case .enter(let core): release(core, isInside: !open.isEmpty)
            case .leave: release(open.removeLast(), isInside: !open.isEmpty)
            }
        }
        // The walk was broken off inside these.
        while let core = open.popLast() { release(core, isInside: !open.isEmpty) }
    }

    private func release(_ core: OperationCore, isInside: Bool) {
        core.state.withLock { state in
            state.lifecycle = isInside ? .member : .idle
            if !isInside { state.parent = nil }
        }
    }
}
