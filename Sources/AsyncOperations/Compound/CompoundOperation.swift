/// Runs several operations, plain or compound, as one.
///
/// It starts when everything that it depends on has ended, and always ends after its last member. A cancel reaches all
/// members, and it still waits for them; their errors are collected in its result. A member that fails does not stop
/// the others unless `failFast` says so. Without members, it succeeds as soon as it starts.
public final class CompoundOperation: AnyAsyncOperation, @unchecked Sendable {
    /// Every initialiser passes a core of this type. A stored copy of it would cost each handle a reference.
    var compound: CompoundCore { unsafeDowncast(core, to: CompoundCore.self) }

    /// A compound operation without members; `add` takes some until it has ended. Throws `invalidLimit`.
    public init(
        _ name: String = "", mode: ConcurrencyMode = .concurrent, failFast: FailFast = .off,
        options: OperationOptions = OperationOptions()
    ) throws(UsageError) {
        if case .limited(let limit) = mode, limit < 1 { throw .invalidLimit(limit) }
        super.init(CompoundCore(name, mode: mode, failFast: failFast, .made(of: options)))
    }

    /// A compound operation with `members`; `add` takes more until it has ended.
    ///
    /// Throws `invalidLimit` and what `add` throws. The members are unchanged then, and may be added elsewhere.
    public convenience init(
        _ name: String = "", mode: ConcurrencyMode = .concurrent, failFast: FailFast = .off,
        options: OperationOptions = OperationOptions(), @Builder members: () -> [AnyAsyncOperation]
    ) throws(UsageError) {
        try self.init(name, mode: mode, failFast: failFast, options: options)
        try add(all: members())
    }

    /// The same for a builder that throws; throws its error too.
    public convenience init(
        _ name: String = "", mode: ConcurrencyMode = .concurrent, failFast: FailFast = .off,
        options: OperationOptions = OperationOptions(), @Builder members: () throws -> [AnyAsyncOperation]
    ) throws {
        try self.init(name, mode: mode, failFast: failFast, options: options)
        try add(all: try members())
    }

    /// Adds a member. If the compound operation is running, the member may start at once.
    ///
    /// Throws `closed` if the last member has ended or the compound operation is being stopped; `alreadyEnqueued`,
    /// `alreadyStarted` or `alreadyFinished` for a member that is not free; `selfDependency` and `cycle` if it would
    /// wait for itself, also for a place or a mutex that something around it keeps; and, once it belongs to a queue,
    /// `invalidTimeout`, `nestedMutex`, `invalidUnits` or `poolOfCompound` because of the member's options.
    public func add(_ member: some AsyncOperationProtocol) throws(UsageError) {
        try compound.add(member.erased.core)
    }

    /// Adds all members or none, before anybody else can know of the compound operation.
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

    /// The members, in the order in which they were added. Each call makes new handles; compare them by `id`.
    public var members: [AnyAsyncOperation] { compound.withMembers { $1.cores }.map(AnyAsyncOperation.init) }

    /// The reports of the members that have ended, in the order in which they did.
    public var reports: [OperationReport] { compound.reports }

    /// How it ended: for a success, with the reports in the order in which members were added; for a failure, with a
    /// `CompoundOperation.Failure`, which is also the `underlying` error of a cancel or timeout. Waits for the end,
    /// even if the waiting task is cancelled.
    ///
    /// A wait that is refused has the result `refused`; see `AsyncOperation.result`.
    public var result: Result<[OperationReport], OperationFailure<Failure>> {
        get async {
            do throws(UsageError) {
                return compound.result(of: try await core.awaitEnd())
            } catch {
                return .failure(.refused(error))
            }
        }
    }

    /// The reports, in the order in which members were added. Starts it like `result`. Throws for every other
    /// end, and `refused` like `result`.
    ///
    /// Throws `cancelled(.waiter)` when the waiting task is cancelled, which leaves the operation alone.
    public var value: [OperationReport] {
        get async throws(OperationFailure<Failure>) {
            let end: OperationEnd?
            do throws(UsageError) { end = try await core.awaitEndUnlessCancelled() } catch { throw .refused(error) }
            guard let end else { throw .cancelled(.waiter) }
            return try compound.result(of: end).get()
        }
    }

    /// Starts it on a queue of its own, and waits for the reports, in the order in which members were added. Cancelling
    /// the calling task cancels it, and the call still waits for its end.
    ///
    /// Bodies have the priority and the task-local values of the caller. `clock` measures timeouts, delays and
    /// back-offs; its `sleep` must throw only when its task is cancelled.
    ///
    /// Throws for every end but a success, and what `start` throws as `refused`.
    @discardableResult
    public func run(
        clock: any Clock<Duration> = ContinuousClock()
    ) async throws(OperationFailure<Failure>) -> [OperationReport] {
        try await value(in: nil) { () throws(UsageError) in try core.start(clock: clock) }
    }

    /// Adds it to `queue`, and waits for the reports. Cancelling the calling task cancels it, and the call still waits
    /// for its end. Bodies have the priority and the task-local values of the caller.
    ///
    /// Throws for every end but a success, what `add` of the queue throws as `refused`, and
    /// `refused(.wouldWaitForItself)` like `AsyncOperationQueue.run`.
    @discardableResult
    public func run(
        on queue: AsyncOperationQueue
    ) async throws(OperationFailure<Failure>) -> [OperationReport] {
        try await value(in: TaskContext()) { () throws(UsageError) in try queue.add(self) }
    }

    private func value(
        in context: TaskContext?, onceBegunBy begin: () throws(UsageError) -> Void
    ) async throws(OperationFailure<Failure>) -> [OperationReport] {
        let end: OperationEnd
        do throws(UsageError) { end = try await core.end(in: context, onceBegunBy: begin) } catch {
            throw .refused(error)
        }
        return try compound.result(of: end).get()
    }

    /// Calls `completion` once with the result, after the completions of all members; see
    /// `AsyncOperation.addCompletion`.
    public func addCompletion(
        _ completion: @escaping @Sendable (Result<[OperationReport], OperationFailure<Failure>>) -> Void
    ) {
        core.addCompletion { [compound] in completion(compound.result(of: $0)) }
    }
}
