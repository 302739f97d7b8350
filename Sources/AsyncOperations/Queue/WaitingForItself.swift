// Waits that could never end: a body that waits for what cannot end before the body does.

extension OperationCore {
    /// Waits for the end, even if the waiting task is cancelled. Throws `wouldWaitForItself` in a body that would wait for
    /// itself.
    @usableFromInline func awaitEnd() async throws(UsageError) -> OperationEnd {
        let body = try beginWait()
        defer { body?.awaited = nil }
        return await wait()
    }

    /// The same, but gives nil when the waiting task is cancelled.
    @usableFromInline func awaitEndUnlessCancelled() async throws(UsageError) -> OperationEnd? {
        let body = try beginWait()
        defer { body?.awaited = nil }
        return await waitUnlessCancelled()
    }

    /// Notes for what the calling body waits. nil where no body calls, or where there is nothing to wait for.
    private func beginWait() throws(UsageError) -> BodyControl? {
        guard let body = Worker.runningBody, !isFinished else { return nil }
        // Two that would wait for each other only together are not both let through.
        let isCircular = Self.topology.withLock { _ in
            let isCircular =
                isAround(body) || needsPlace(of: body) || Self.path(from: [self], to: .end(of: body.core)) != nil
            if !isCircular {
                noteNeed()
                body.awaited = self
            }
            return isCircular
        }
        if isCircular { throw .wouldWaitForItself(waiter: body.core.id, awaited: id) }
        return body
    }

    /// Whether the body is inside it, or inside what is tried again with it and so ends no later.
    private func isAround(_ body: BodyControl) -> Bool {
        let others = body.core.around
        return around.contains { outer in
            (outer === self || outer.options.retry != nil) && others.contains { $0 === outer }
        }
    }

    /// Whether it has not started and cannot before the body has ended: for want of a mutex that the body has, or of a
    /// place that is taken by bodies which all wait for something that needs one.
    private func needsPlace(of body: BodyControl) -> Bool {
        guard lifecycle.progress < .executing || self is CompoundCore, lifecycle.queue === body.queue else {
            return false
        }
        let others = body.core.around
        if lifecycle.progress < .executing {
            let held = others.reduce(into: Set<String>()) { $0.formUnion($1.options.mutexes) }
            if !held.isDisjoint(with: options.mutexes) { return true }
            for (inner, outer) in zip(around, around.dropFirst()) where others.contains(where: { $0 === outer }) {
                guard let outer = outer as? CompoundCore, inner.lifecycle.progress < .executing else { continue }
                if outer.isFull, body.queue.allWait(body, inside: outer) { return true }
            }
        }
        return body.queue.isFull && body.queue.allWait(body, inside: nil)
    }
}

extension CompoundCore {
    /// Whether as many members are in progress as may be.
    fileprivate var isFull: Bool {
        guard case .members(let count) = limit else { return false }
        return withMembers { $1.cores }.count { $0.lifecycle.progress == .executing } >= count
    }
}

extension QueueCore {
    fileprivate var isFull: Bool { state.withLock { $0.running.count >= $0.width } }

    /// Whether all bodies that run here, or in `compound`, wait for something here or there; `body` is about to.
    fileprivate func allWait(_ body: BodyControl, inside compound: CompoundCore?) -> Bool {
        let running = state.withLock { $0.running }
        return running.allSatisfy { other in
            if other === body { return true }
            guard let compound else { return other.awaited.map { $0.lifecycle.queue === self } ?? false }
            guard other.core.around.contains(where: { $0 === compound }) else { return true }
            return other.awaited.map { $0.around.contains { $0 === compound } } ?? false
        }
    }

    func refuseWaitingForItself() throws(UsageError) {
        guard let body = Worker.runningBody, body.queue === self else { return }
        throw .wouldWaitForItself(waiter: body.core.id, awaited: id)
    }
}
