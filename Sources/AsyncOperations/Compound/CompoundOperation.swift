internal import Synchronization

/// Several operations, simple or compound, run as one.
///
/// It begins when all it needs has ended, and ends after its last member, always, also when it is cancelled: cancellation
/// goes down to all members; their ends and errors come up. A member that fails does not stop the others unless `failFast`
/// says so. An empty one succeeds at once.
public final class CompoundOperation: AsyncOperationProtocol {
    /// The compound operation without the type of its result.
    public let erased: AnyAsyncOperation

    /// A compound operation without members, to which some may be added until it has ended. Throws `invalidLimit`.
    public init(
        _ name: String = "", mode: ConcurrencyMode = .concurrent, failFast: FailFast = .off,
        options: CompoundOptions = CompoundOptions()
    ) throws(UsageError) {
        if case .limited(let limit) = mode, limit < 1 { throw .invalidLimit(limit) }
        let compound = OperationCore.Compound(limit: mode.limit, failFast: failFast, options: options)
        erased = AnyAsyncOperation(OperationCore(name, compound: compound))
    }

    /// A compound operation of `members`, to which more may be added until it has ended. Throws `invalidLimit`, what
    /// `add` throws, and what `members` throws.
    public convenience init(
        _ name: String = "", mode: ConcurrencyMode = .concurrent, failFast: FailFast = .off,
        options: CompoundOptions = CompoundOptions(), @OperationsBuilder members: () throws -> [AnyAsyncOperation]
    ) throws {
        try self.init(name, mode: mode, failFast: failFast, options: options)
        for member in try members() { try add(member) }
    }

    /// Adds a member, also while the others run: then it may start at once.
    ///
    /// Throws `closed` when the last member has ended or it was stopped; `alreadyEnqueued`, `alreadyStarted` or
    /// `alreadyFinished` for a member that is taken; `cycle` where it would wait for itself; and, while it runs,
    /// `invalidTimeout` and `nestedMutex` for what the member asks for.
    public func add(_ member: some AsyncOperationProtocol) throws(UsageError) {
        try erased.core.add(member: member.erased)
    }

    /// The members, in the order in which they were added.
    public var members: [AnyAsyncOperation] { erased.core.state.withLock { $0.members?.handles ?? [] } }

    /// How the members that are over have ended, in the order of their ends.
    public var reports: [ChildReport] { erased.core.state.withLock { $0.members?.reports ?? [] } }

    /// How it ended. A success has the reports in the order in which members were added; a failure has lists, and so has
    /// what lies under a cancel. Waits for the end, even if the waiting task is cancelled.
    public var result: OperationResult<[ChildReport], CompoundFailure> {
        get async { Self.result(of: await erased.core.wait(), erased.core) }
    }

    /// The reports, in the order in which members were added; throws for every other end than a success, and
    /// `cancelled(.waiter)` when the waiting task is cancelled.
    public var value: [ChildReport] {
        get async throws(OperationFailure<CompoundFailure>) {
            guard let end = await erased.core.waitUnlessCancelled() else { throw .cancelled(.waiter) }
            return try Self.result(of: end, erased.core).get()
        }
    }

    /// Calls `completion` once, after the completions of all members: as in `AsyncOperation.addCompletion`.
    public func addCompletion(
        _ completion: @escaping @Sendable (OperationResult<[ChildReport], CompoundFailure>) -> Void
    ) {
        erased.core.addCompletion { [core = erased.core] end in completion(Self.result(of: end, core)) }
    }

    private static func result(
        of end: OperationEnd, _ core: OperationCore
    ) -> OperationResult<[ChildReport], CompoundFailure> {
        let (reports, handles) = core.state.withLock { ($0.members?.reports ?? [], $0.members?.handles ?? []) }
        switch end {
        case .success:
            let byID = Dictionary(reports.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
            return .success(handles.compactMap { byID[$0.id] })
        case .failure: return .failure(CompoundFailure(name: core.name, reports: reports))
        case .timeout(let limit, let scope): return .timeout(limit: limit, scope: scope)
        case .cancelled(let reason):
            let failure = reports.isEmpty ? nil : CompoundFailure(name: core.name, reports: reports)
            return .cancelled(reason, underlying: failure)
        case .skipped: return .skipped
        case .notRun(let rootCause): return .notRun(rootCause: rootCause)
        }
    }
}
