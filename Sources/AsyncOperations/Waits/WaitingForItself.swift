// Waits of bodies, which are refused if their target cannot end before the body does.

extension OperationCore {
    /// Waits for the end, even if the waiting task is cancelled; starts the operation if nothing else has. Throws
    /// `wouldWaitForItself` in a body that would wait for itself, and the errors of `startIfFree`.
    @usableFromInline func awaitEnd() async throws(UsageError) -> OperationEnd {
        try startIfFree()
        return try await awaitEndOnceBegun()
    }

    /// Waits for the end like `awaitEnd`, for an operation that was started or added.
    func awaitEndOnceBegun() async throws(UsageError) -> OperationEnd {
        guard let body = Worker.runningBody, !isFinished else { return await wait() }
        let wait = try beginWait(in: body, heedingCancellation: false)
        defer { wait.end() }
        guard let end = await waitUnlessRefused(as: wait) else { throw wait.refusal }
        return end
    }

    /// Waits for the end like `awaitEnd`, but returns nil when the waiting task is cancelled.
    @usableFromInline func awaitEndUnlessCancelled() async throws(UsageError) -> OperationEnd? {
        try startIfFree()
        guard let body = Worker.runningBody, !isFinished else { return await waitUnlessCancelled() }
        let wait = try beginWait(in: body, heedingCancellation: true)
        defer { wait.end() }
        let end = await waitUnlessCancelled(as: wait)
        if end == nil, wait.isRefused { throw wait.refusal }
        return end
    }

    private func beginWait(
        in body: BodyControl, heedingCancellation heedsCancellation: Bool
    ) throws(UsageError) -> BodyWait {
        let ticket = state.withLock { state in state.withRare { $0.waiters.makeTicket() } }
        return try BodyWait.begin(
            in: body, for: .end(self, ticket: ticket), heedingCancellation: heedsCancellation)
    }
}

extension QueueCore {
    /// Waits until the queue is idle. Returns false if the waiting task is cancelled first and the call heeds that.
    /// Throws `wouldWaitForItself` in a body that would wait for itself.
    func waitUntilIdle(heedingCancellation heedsCancellation: Bool) async throws(UsageError) -> Bool {
        guard let signal = idleSignal() else { return true }
        let wait = try beginWait(for: signal, heedsCancellation)
        defer { wait?.end() }
        let ticket = wait?.ticket ?? signal.makeTicket()
        let hasHappened =
            heedsCancellation
            ? await signal.waitUnlessCancelled(as: ticket, wait) : await signal.wait(as: ticket, wait)
        if !hasHappened, let wait, wait.isRefused { throw wait.refusal }
        return hasHappened
    }

    /// Throws if the calling body would wait for itself by waiting now.
    func refuseWaitingForItself() throws(UsageError) {
        if let signal = idleSignal() { try beginWait(for: signal, false)?.end() }
    }

    /// Begins a wait of the calling body; nil outside a body.
    private func beginWait(for signal: OneShot, _ heedsCancellation: Bool) throws(UsageError) -> BodyWait? {
        guard let body = Worker.runningBody else { return nil }
        return try BodyWait.begin(
            in: body, for: .idle(self, signal, ticket: signal.makeTicket()), heedingCancellation: heedsCancellation)
    }
}

// Finds the paths on which bodies would wait for themselves. Requires the topology's lock.

extension BodyWait {
    /// The path on which the body would wait for itself; nil if it would not. The wait must be recorded already.
    var ring: [WaitEvent]? {
        let core = body.core
        guard body.queue.owner == nil || core.mayHoldUp else { return nil }
        var graph = WaitGraph(for: .wait)
        graph.explore([.end(core)])
        return graph.path(from: .end(core), to: .end(core))
    }

    /// A body that waits for itself over one of `suspects`, with the path of its wait; nil if there is none.
    ///
    /// The ring can be found from the suspects and from the waiting bodies. Either search may be very large while the
    /// other is small, so both are tried with a growing limit. O(the smaller part).
    static func circular(beyond suspects: [OperationCore]) -> (wait: BodyWait, ring: [WaitEvent])? {
        var limit = 32
        while true {
            for starts in [suspects, waiting] {
                var graph = WaitGraph(for: .wait)
                if graph.explore(starts.ends, limit: limit) { return circular(in: graph) }
            }
            limit *= 4
        }
    }

    private static func circular(in graph: WaitGraph) -> (wait: BodyWait, ring: [WaitEvent])? {
        for case .end(let core) in graph.stuckEvents {
            if let wait = core.wait, let ring = graph.path(from: .end(core), to: .end(core)) { return (wait, ring) }
        }
        return nil
    }
}

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
