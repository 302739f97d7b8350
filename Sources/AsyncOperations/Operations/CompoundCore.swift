/// The core of a compound operation: its members and their ends. Unchecked like its superclass: the same lock guards
/// its additional state.
final class CompoundCore: OperationCore, @unchecked Sendable {
    /// Guarded by the operation's lock. Once the operation belongs to a queue, changes also require the queue's lock.
    struct Members {
        /// In the order in which they were added.
        var cores: [OperationCore] = []
        /// In the order in which they ended, in the current round.
        var ended: [OperationCore] = []
        /// The number of members in the queue that have not ended.
        var unfinished = 0
        /// The failure, cached when the error of an enclosing operation is queried after the end; nil before.
        var failure: CompoundOperation.Failure?
        /// The reason why members are being stopped, if that is a request to stop it or an enclosing operation.
        var reason: AsyncOperationContext.CancellationReason?
        /// True if it refuses more members, because the last one has ended or it was stopped.
        var isClosed = false
        /// True once something inside needs, or wants to take, something outside while it holds a place or a mutex.
        /// Known once it belongs to a queue, and never false again.
        var leadsOutside = false
    }

    let limit: ConcurrencyLimit
    let failFast: FailFast
    private nonisolated(unsafe) var members = Members()

    init(_ name: String, mode: CompoundOperation.ConcurrencyMode, failFast: FailFast, _ settings: OperationSettings?) {
        limit = mode.limit
        self.failFast = failFast
        super.init(AsyncOperationID(name), settings)
    }

    /// Frees members without recursion, because compound operations may be deeply nested.
    deinit {
        var pending = members.cores
        members = Members()
        while var core = pending.popLast() {
            guard isKnownUniquelyReferenced(&core), let compound = core as? CompoundCore else { continue }
            pending += compound.members.cores
            compound.members = Members()
        }
    }

    func withMembers<Answer: Sendable>(_ body: (inout State, inout Members) -> Answer) -> Answer {
        state.withLock { state in
            let answer = body(&state, &members)
            tellProgress(state)
            return answer
        }
    }

    override func progress(in state: State) -> OperationProgress {
        OperationProgress(completed: members.ended.count, total: members.cores.count)
    }

    /// The reports of the members that have ended, in the order in which they ended.
    var reports: [OperationReport] {
        withMembers { $1.ended }.compactMap { core in core.lifecycle.latestEnd.map { OperationReport(core, $0) } }
    }

    /// A `CompoundOperation.Failure`; nil if every member that has ended succeeded.
    override var error: (any Error)? {
        // From the inside out and each once: compound operations may be deeply nested.
        var pending = [self]
        var order: [CompoundCore] = []
        while let next = pending.popLast() {
            order.append(next)
            for case let inner as CompoundCore in next.withMembers({ $1.failure == nil ? $1.ended : [] })
            where inner.lifecycle.latestEnd != .success { pending.append(inner) }
        }
        for next in order.reversed().dropLast() {
            let failure = CompoundOperation.Failure(name: next.name, reports: next.reports)
            if next.isFinished { next.withMembers { $1.failure = $1.failure ?? failure } }
        }
        if let known = withMembers({ $1.failure }) { return known }
        let reports = reports
        if reports.allSatisfy({ $0.outcome == .success }) { return nil }
        return CompoundOperation.Failure(name: name, reports: reports)
    }

    /// True if others may want what it takes when it starts: a mutex, or a place in the enclosing operation.
    var isHolder: Bool { namesMutexes || isInLimited }

    var isLimited: Bool { limit != .unlimited }

    var leadsOutside: Bool { withMembers { $1.leadsOutside } }

    /// Records that something inside waits while it holds what others may want. Requires its queue's lock.
    func noteWayOutside() { withMembers { $1.leadsOutside = true } }

    /// Adds members: all or none, unless a queue adds this operation during the call. That may happen only with a
    /// single member, because several come from initializers. `producer` is the body that adds them; nil for a call
    /// from outside.
    func add(_ members: [OperationCore], producer: BodyControl? = nil) throws(UsageError) {
        var rest = members[...]
        while !rest.isEmpty {
            if let queue = lifecycle.queue {
                if try queue.add(Array(rest), to: self, producer: producer) { return }
            } else {
                rest = rest.dropFirst(try Self.adopt(rest, into: self))
            }
        }
    }

    /// Adds a member while this operation belongs to no queue. Returns false if a queue has it by now. Requires the
    /// topology's lock, so that the enclosing operation is always locked before a member.
    func take(_ member: OperationCore) throws(UsageError) -> Bool {
        let answer = withMembers { state, members -> Result<Bool, UsageError> in
            switch state.lifecycle {
            case .dissolving, .ended: return .failure(.closed(id))
            case .taken, .waiting, .running, .open, .settled: return .success(false)
            case .idle, .member: break
            }
            let refusal = member.state.withLock { state in
                if let refusal = state.refusalToTake(member.id) { return refusal as UsageError? }
                state.lifecycle = .member
                state.parent = self
                return nil
            }
            if let refusal { return .failure(refusal) }
            members.cores.append(member)
            return .success(true)
        }
        return try answer.get()
    }

    /// Removes the last `count` members again, but for those that a queue has added meanwhile.
    func giveBack(_ count: Int) {
        withMembers { _, members in
            let added = members.cores.suffix(count).filter { member in
                member.state.withLock { state in
                    guard case .member = state.lifecycle else { return true }
                    state.lifecycle = .idle
                    state.parent = nil
                    return false
                }
            }
            members.cores.removeLast(count)
            members.cores += added
        }
    }

    /// The failures of the members that have ended; nil if none has ended.
    private var failure: CompoundOperation.Failure? {
        _ = error
        let reports = reports
        return reports.isEmpty ? nil : CompoundOperation.Failure(name: name, reports: reports)
    }

    /// The result, with the reports of the members.
    func result(of end: OperationEnd) -> Result<[OperationReport], OperationFailure<CompoundOperation.Failure>> {
        switch end {
        case .success:
            return .success(
                memberCores.compactMap { core in core.lifecycle.latestEnd.map { OperationReport(core, $0) } })
        case .failure: return .failure(.failed(failure ?? CompoundOperation.Failure(name: name, reports: [])))
        case .timeout(let limit, let scope): return .failure(.timedOut(limit: limit, scope: scope, underlying: failure))
        case .cancelled(let reason): return .failure(.cancelled(reason, underlying: failure))
        case .skipped: return .failure(.skipped)
        case .notRun(let rootCause): return .failure(.notRun(rootCause: rootCause))
        }
    }
}
