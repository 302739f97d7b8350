/// Runs several operations, plain or compound, as one.
///
/// It starts when all its dependencies have ended, and always ends after its last member. A cancel reaches all
/// members, and it still waits for them; their errors are collected in its result. A member that fails does not stop
/// the others unless `failFast` says so. Without members, it succeeds as soon as it starts.
public final class CompoundOperation: AnyAsyncOperation, @unchecked Sendable {
    /// Every initializer passes a core of this type. A stored one would cost each handle another reference.
    var compound: CompoundCore { unsafeDowncast(core, to: CompoundCore.self) }

    /// Creates a compound operation without members; `add` accepts members until it has ended. Throws `invalidLimit`.
    public init(
        _ name: String = "", mode: ConcurrencyMode = .concurrent, failFast: FailFast = .off,
        options: OperationOptions = OperationOptions()
    ) throws(UsageError) {
        if case .limited(let limit) = mode, limit < 1 { throw .invalidLimit(limit) }
        super.init(CompoundCore(name, mode: mode, failFast: failFast, .made(of: options)))
    }

    /// Creates a compound operation with `members`; `add` accepts more until it has ended.
    ///
    /// Throws `invalidLimit` and the errors of `add`. The members are then unchanged and may be added elsewhere.
    public convenience init(
        _ name: String = "", mode: ConcurrencyMode = .concurrent, failFast: FailFast = .off,
        options: OperationOptions = OperationOptions(), @Builder members: () -> [AnyAsyncOperation]
    ) throws(UsageError) {
        try self.init(name, mode: mode, failFast: failFast, options: options)
        try add(all: members())
    }

    /// Creates a compound operation with a builder that throws; also throws the builder's error.
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
    /// wait for itself, also for a place or a mutex that an enclosing operation holds; and, once it belongs to a
    /// queue, `invalidTimeout`, `nestedMutex`, `invalidUnits` or `poolOfCompound` because of the member's options.
    public func add(_ member: some AsyncOperationProtocol) throws(UsageError) {
        try compound.add([member.erased.core])
    }

    /// Adds members before the operation is visible elsewhere: all or none. Keeps the handles until then, because the
    /// last handle of a free operation abandons it.
    private func add(all members: [AnyAsyncOperation]) throws(UsageError) {
        defer { withExtendedLifetime(members) {} }
        try compound.add(members.map(\.core))
    }

    /// The members, in the order in which they were added. Each call creates new handles; compare them by `id`.
    public var members: [AnyAsyncOperation] { compound.memberCores.map(AnyAsyncOperation.init) }

    /// The reports of the members that have ended, in the order in which they ended.
    public var reports: [OperationReport] { compound.reports }

    /// The result of the compound operation: for a success, the reports in the order in which members were added; for
    /// a failure, a `CompoundOperation.Failure`, which is also the `underlying` error of a cancel or timeout. Waits
    /// for the end, even if the waiting task is cancelled.
    ///
    /// If the wait is refused, the result is `refused`; see `AsyncOperation.result`.
    public var result: Result<[OperationReport], OperationFailure<Failure>> {
        get async {
            do throws(UsageError) {
                return compound.result(of: try await core.awaitEnd())
            } catch {
                return .failure(.refused(error))
            }
        }
    }

    /// The reports, in the order in which members were added. Starts the operation like `result`. Throws for every
    /// other end, and throws `refused` in the cases in which `result` is `refused`.
    ///
    /// Throws `cancelled(.waiter)` when the waiting task is cancelled, which does not affect the operation.
    public var value: [OperationReport] {
        get async throws(OperationFailure<Failure>) {
            let end: OperationEnd?
            do throws(UsageError) { end = try await core.awaitEndUnlessCancelled() } catch { throw .refused(error) }
            guard let end else { throw .cancelled(.waiter) }
            return try compound.result(of: end).get()
        }
    }

    /// Starts the operation on a queue of its own and waits for the reports, in the order in which members were
    /// added. Cancelling the calling task cancels the operation, and the call still waits for its end.
    ///
    /// Bodies have the priority and the task-local values of the caller. `clock` measures timeouts, delays and
    /// back-offs; its `sleep` must throw only when its task is cancelled.
    ///
    /// Throws for every end other than a success, and throws the errors of `start` as `refused`.
    @discardableResult
    public func run(
        clock: any Clock<Duration> = ContinuousClock()
    ) async throws(OperationFailure<Failure>) -> [OperationReport] {
        try await value(in: nil) { () throws(UsageError) in try core.start(clock: clock) }
    }

    /// Adds the operation to `queue` and waits for the reports. Cancelling the calling task cancels the operation,
    /// and the call still waits for its end. Bodies have the priority and the task-local values of the caller.
    ///
    /// Throws for every end other than a success, throws the errors of the queue's `add` as `refused`, and throws
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

extension CompoundOperation {
    /// Builds the list of members: one expression per line, with `if`, `switch`, `for` and arrays.
    @resultBuilder
    public enum Builder {
        /// One operation of any type.
        public static func buildExpression(_ operation: any AsyncOperationProtocol) -> [AnyAsyncOperation] {
            [operation.erased]
        }

        /// Several operations of any types.
        @_disfavoredOverload
        public static func buildExpression(_ operations: [any AsyncOperationProtocol]) -> [AnyAsyncOperation] {
            operations.map(\.erased)
        }

        /// The operations of all lines, in order.
        public static func buildBlock(_ parts: [AnyAsyncOperation]...) -> [AnyAsyncOperation] { parts.flatMap { $0 } }

        /// The operations of the only line.
        public static func buildBlock(_ part: [AnyAsyncOperation]) -> [AnyAsyncOperation] { part }

        /// `if` without `else`.
        public static func buildOptional(_ part: [AnyAsyncOperation]?) -> [AnyAsyncOperation] { part ?? [] }

        /// The first branch of `if` and `else`, and of `switch`.
        public static func buildEither(first: [AnyAsyncOperation]) -> [AnyAsyncOperation] { first }

        /// The other branches.
        public static func buildEither(second: [AnyAsyncOperation]) -> [AnyAsyncOperation] { second }

        /// `for`.
        public static func buildArray(_ parts: [[AnyAsyncOperation]]) -> [AnyAsyncOperation] { parts.flatMap { $0 } }
    }
}

extension CompoundOperation {
    /// The members that did not succeed. Each is in exactly one list, in the order in which they ended.
    public struct Failure: Error, Sendable {
        /// The name of the compound operation; empty if there is none.
        public let name: String
        /// Members that failed or timed out by themselves. A compound operation among them counts once; the `error`
        /// of its report has its own lists. Members that only reacted to a stop are in `cancelled`.
        public let errors: [OperationReport]
        /// Members that failed or timed out, and whose options tolerate that.
        public let tolerated: [OperationReport]
        /// Members that were cancelled, whether they had started or not.
        public let cancelled: [OperationReport]
        /// Members that did not run because of the ends of other operations.
        public let notRun: [OperationReport]

        init(name: String, reports: [OperationReport]) {
            self.name = name
            errors = reports.filter { $0.isFailed && !$0.isTolerated }
            tolerated = reports.filter { $0.isFailed && $0.isTolerated }
            cancelled = reports.filter { $0.outcome == .cancelled }
            notRun = reports.filter { $0.outcome == .notRun || $0.outcome == .skipped }
        }

        /// The errors at any depth, without the compound operations that only pass them on. The errors of each
        /// compound operation are in the order in which they occurred, and their names begin with the names of the
        /// enclosing operations.
        public var leaves: [OperationReport] {
            var leaves: [OperationReport] = []
            var pending = Array(errors.reversed())
            while let next = pending.popLast() {
                if let inner = next.error as? Self, !inner.errors.isEmpty {
                    pending += inner.errors.reversed().map { OperationReport($0, inside: next) }
                } else {
                    leaves.append(next)
                }
            }
            return leaves
        }
    }
}

extension CompoundOperation.Failure: CustomStringConvertible {
    /// The name and the numbers of members that did not succeed, then each of the `leaves` on a line of its own:
    ///
    ///     `nightly`: 2 failed, 1 not run
    ///         compute: Overflow()
    ///         upload.parts: timed out after 10.0 seconds
    public var description: String {
        ([name.isEmpty ? account : "`\(name)`: \(account)"] + leaves.map { "    \($0)" }).joined(separator: "\n")
    }

    /// The numbers of members that did not succeed.
    var account: String {
        let counts = [
            (errors.count, "failed"), (tolerated.count, "failed and tolerated"), (cancelled.count, "cancelled"),
            (notRun.count, "not run"),
        ]
        let words = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return words.isEmpty ? "no member failed" : words.joined(separator: ", ")
    }
}

extension CompoundOperation {
    /// The number of direct members that may be in progress at once. A compound operation among them counts from its
    /// start to its end, but not as one of the operations that its queue runs.
    public enum ConcurrencyMode: Hashable, Sendable {
        /// One at a time, in the order in which they were added; a member that is not ready, or waits for mutexes or
        /// units, is overtaken.
        case serial
        /// All at once.
        case concurrent
        /// At most this many, at least 1.
        case limited(Int)

        var limit: ConcurrencyLimit {
            switch self {
            case .serial: .members(1)
            case .concurrent: .unlimited
            case .limited(let count): .members(count)
            }
        }
    }
}
