/// The core of a compound operation: its members, and what is known of them. Unchecked like its superclass: what it
/// adds is touched under the same lock.
final class CompoundCore: OperationCore, @unchecked Sendable {
    /// Guarded by the lock of the operation; once a queue has it, changed under the lock of the queue too.
    struct Members {
        /// In the order in which they were added.
        var cores: [OperationCore] = []
        /// In the order in which they ended; in the present round, where there are several.
        var ended: [OperationCore] = []
        /// Those that the queue has and that have not ended.
        var unfinished = 0
        /// What went wrong, once somebody has asked after the end.
        var failure: CompoundFailure?
        /// Whether it takes no more, because the last one has ended or it was stopped.
        var isClosed = false
    }

    let limit: ConcurrencyLimit
    let failFast: FailFast
    private nonisolated(unsafe) var members = Members()

    init(_ name: String, mode: ConcurrencyMode, failFast: FailFast, _ options: OperationOptions) {
        limit = mode.limit
        self.failFast = failFast
        super.init(AsyncOperationID(name), options)
    }

    /// Members of members may go on for ever, and freeing must not recurse.
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

    /// How the members that are over have ended, in the order of their ends.
    var reports: [OperationReport] {
        withMembers { $1.ended }.compactMap { core in core.lifecycle.latestEnd.map { OperationReport(core, $0) } }
    }

    /// A `CompoundFailure`, if anything has not succeeded.
    override var error: (any Error)? {
        // From inside out and each once, so that compound operations may be nested deeply.
        var pending = [self]
        var order: [CompoundCore] = []
        while let next = pending.popLast() {
            order.append(next)
            for case let inner as CompoundCore in next.withMembers({ $1.failure == nil ? $1.ended : [] })
            where inner.lifecycle.latestEnd != .success { pending.append(inner) }
        }
        for next in order.reversed().dropLast() {
            let failure = CompoundFailure(name: next.name, reports: next.reports)
            if next.isFinished { next.withMembers { $1.failure = $1.failure ?? failure } }
        }
        if let known = withMembers({ $1.failure }) { return known }
        let reports = reports
        return reports.allSatisfy { $0.outcome == .success } ? nil : CompoundFailure(name: name, reports: reports)
    }

    /// Adds a member, for the sake of `producer`, which is about to end otherwise, where that is not nil.
    func add(_ member: OperationCore, producer: BodyControl? = nil) throws(UsageError) {
        while true {
            if let queue = lifecycle.queue {
                if try queue.add([member], to: self, producer: producer) { return }
            } else if try Self.adopt(member, into: self) {
                return
            }
        }
    }

    /// Takes a member while no queue has it. False if a queue has it meanwhile. With the topology locked, so that what
    /// is outside is always locked before what is inside.
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

    /// Takes members back that were added in vain.
    func giveBack(_ count: Int) {
        withMembers { _, members in
            for member in members.cores.suffix(count) {
                member.state.withLock { state in
                    guard case .member = state.lifecycle else { return }
                    state.lifecycle = .idle
                    state.parent = nil
                }
            }
            members.cores.removeLast(count)
        }
    }

    /// What is known of members that have ended; nil if none has.
    private var failure: CompoundFailure? {
        _ = error
        let reports = reports
        return reports.isEmpty ? nil : CompoundFailure(name: name, reports: reports)
    }

    /// How it ended, with what is known of its members.
    func result(of end: OperationEnd) -> OperationResult<[OperationReport], CompoundFailure> {
        switch end {
        case .success:
            let members = withMembers { $1.cores }
            return .success(members.compactMap { core in core.lifecycle.latestEnd.map { OperationReport(core, $0) } })
        case .failure: return .failure(failure ?? CompoundFailure(name: name, reports: []))
        case .timeout(let limit, let scope): return .timeout(limit: limit, scope: scope, underlying: failure)
        case .cancelled(let reason): return .cancelled(reason, underlying: failure)
        case .skipped: return .skipped
        case .notRun(let rootCause): return .notRun(rootCause: rootCause)
        }
    }
}
