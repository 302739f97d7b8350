/// Several operations, simple or compound, run as one.
///
/// It begins when all it needs has ended, and ends after its last member, always, also when it is cancelled: cancellation
/// goes down to all members; their ends and errors come up. A member that fails does not stop the others unless `failFast`
/// says so. An empty one succeeds at once.
public final class CompoundOperation: AnyAsyncOperation, @unchecked Sendable {
    var compound: CompoundCore { unsafeDowncast(core, to: CompoundCore.self) }

    /// A compound operation without members, to which some may be added until it has ended. Throws `invalidLimit`.
    public init(
        _ name: String = "", mode: ConcurrencyMode = .concurrent, failFast: FailFast = .off,
        options: OperationOptions = OperationOptions()
    ) throws(UsageError) {
        if case .limited(let limit) = mode, limit < 1 { throw .invalidLimit(limit) }
        super.init(CompoundCore(name, mode: mode, failFast: failFast, options))
    }

    /// A compound operation of `members`, to which more may be added until it has ended. Throws `invalidLimit` and what
    /// `add` throws; then the members are what they were, and may be added elsewhere.
    public convenience init(
        _ name: String = "", mode: ConcurrencyMode = .concurrent, failFast: FailFast = .off,
        options: OperationOptions = OperationOptions(), @OperationsBuilder members: () -> [AnyAsyncOperation]
    ) throws(UsageError) {
        try self.init(name, mode: mode, failFast: failFast, options: options)
        try add(all: members())
    }

    /// The same where making the members may fail: throws what `members` throws, too.
    public convenience init(
        _ name: String = "", mode: ConcurrencyMode = .concurrent, failFast: FailFast = .off,
        options: OperationOptions = OperationOptions(), @OperationsBuilder members: () throws -> [AnyAsyncOperation]
    ) throws {
        try self.init(name, mode: mode, failFast: failFast, options: options)
        try add(all: try members())
    }

    /// Adds a member, also while the others run: then it may start at once.
    ///
    /// Throws `closed` when the last member has ended or it was stopped; `alreadyEnqueued`, `alreadyStarted` or
    /// `alreadyFinished` for a member that is taken; `cycle` where it would wait for itself; and, while it runs,
    /// `invalidTimeout` and `nestedMutex` for what the member asks for.
    public func add(_ member: some AsyncOperationProtocol) throws(UsageError) {
        try compound.add(member.erased.core)
    }

    /// Adds members before anybody else could know of the compound operation: all or none.
    private func add(all members: [AnyAsyncOperation]) throws(UsageError) {
        for (count, member) in members.enumerated() {
            do throws(UsageError) {
                try add(member)
            } catch {
                compound.giveBack(count)
                throw error
            }
        }
    }

    /// The members, in the order in which they were added, as handles of their own: compare them by `id`.
    public var members: [AnyAsyncOperation] { compound.withMembers { $1.cores }.map(AnyAsyncOperation.init) }

    /// How the members that are over have ended, in the order of their ends.
    public var reports: [ChildReport] { compound.reports }

    /// How it ended. A success has the reports in the order in which members were added; a failure has lists, and so has
    /// what lies under a cancel or a timeout. Waits for the end, even if the waiting task is cancelled.
    ///
    /// In the task of a body that would wait for itself by this, the answer is `cancelled(.wouldWaitForItself)`, at once.
    public var result: OperationResult<[ChildReport], CompoundFailure> {
        get async {
            do throws(UsageError) {
                return compound.result(of: try await core.awaitEnd())
            } catch {
                return .cancelled(.wouldWaitForItself, underlying: nil)
            }
        }
    }

    /// The reports, in the order in which members were added; throws for every other end than a success, and
    /// `cancelled(.waiter)` when the waiting task is cancelled. Throws `refused(.wouldWaitForItself)` in a body that would
    /// wait for itself.
    public var value: [ChildReport] {
        get async throws(OperationFailure<CompoundFailure>) {
            let end: OperationEnd?
            do throws(UsageError) { end = try await core.awaitEndUnlessCancelled() } catch { throw .refused(error) }
            guard let end else { throw .cancelled(.waiter) }
            return try compound.result(of: end).get()
        }
    }

    /// Calls `completion` once, after the completions of all members: as in `AsyncOperation.addCompletion`.
    public func addCompletion(
        _ completion: @escaping @Sendable (OperationResult<[ChildReport], CompoundFailure>) -> Void
    ) {
        core.addCompletion { [compound] in completion(compound.result(of: $0)) }
    }
}
