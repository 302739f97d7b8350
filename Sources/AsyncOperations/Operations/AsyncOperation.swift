internal import Synchronization

/// Work that takes its time, and what it makes: started by itself or by a queue, once, with exactly one end.
///
/// The body runs in a task of its own, whose cancellation tells it to stop. It learns more, and can ask for more, through
/// its context. Errors are typed: `Failure` is `Never` for a body that cannot fail, and has to be spelt in a closure that
/// throws something else than `any Error` (`async throws(LoadError) in`).
///
/// An operation goes on when its last handle is dropped, if it was started.
public final class AsyncOperation<Success: Sendable, Failure: Error>: AsyncOperationProtocol {
    /// The operation without the types of what it makes.
    public let erased: AnyAsyncOperation
    let box: ResultBox<Success, Failure>

    init(
        _ name: String, _ options: OperationOptions, needs: [OperationCore.Need] = [],
        body: @escaping @Sendable (AsyncOperationContext, ResultBox<Success, Failure>) async -> BodyEnd
    ) {
        let box = ResultBox<Success, Failure>()
        for need in needs { need.core.state.withLock { $0.isNeeded = true } }
        let core = OperationCore(name, options, needs: needs) { context in
            await body(context, box)
        } bodyError: {
            box.error
        }
        self.box = box
        erased = AnyAsyncOperation(core)
    }

    /// An operation whose end is the end of `body`.
    public convenience init(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        body: @escaping @Sendable (AsyncOperationContext) async throws(Failure) -> Success
    ) {
        self.init(name, options) { context, box in
            await box.storeResult { () async throws(Failure) in try await body(context) }
        }
    }

    /// An operation that starts when `first` and `rest` have their values and gets them; where one of them does not
    /// succeed, `body` is not entered.
    public convenience init<First: Sendable, each Rest: Sendable>(
        _ name: String = "", from first: Output<First>, _ rest: repeat Output<each Rest>,
        options: OperationOptions = OperationOptions(),
        body: @escaping @Sendable (AsyncOperationContext, First, repeat each Rest) async throws(Failure) -> Success
    ) {
        var needs: [OperationCore.Need] = []
        func add(_ need: OperationCore.Need?) {
            guard let need, !needs.contains(where: { $0.core === need.core }) else { return }
            needs.append(need)
        }
        add(first.need)
        repeat add((each rest).need)
        self.init(name, options, needs: needs) { context, box in
            guard let value = first.read(), let values = Self.values(repeat each rest) else {
                return .stopped(.abandoned)
            }
            return await box.storeResult { () async throws(Failure) in
                try await body(context, value, repeat each values)
            }
        }
    }

    private static func values<each Input: Sendable>(_ outputs: repeat Output<each Input>) -> (repeat each Input)? {
        func read<One: Sendable>(_ output: Output<One>) throws(MissingValue) -> One {
            guard let value = output.read() else { throw MissingValue() }
            return value
        }
        return try? (repeat read(each outputs))
    }

    /// An operation that ends when its `Completion` is told so, from any thread, however much later `callback` has
    /// returned.
    public convenience init(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        callback: @escaping @Sendable (AsyncOperationContext, Completion<Success, Failure>) -> Void
    ) {
        self.init(name, options) { context, box in
            await withUnsafeContinuation { continuation in
                callback(context, Completion { continuation.resume(returning: box.end(with: $0)) })
            }
        }
    }

    /// Its value, for operations that are made `from:` it.
    public var output: Output<Success> {
        Output(of: erased.core) { [box, core = erased.core] in core.end == .success ? box.value : nil }
    }

    /// How it ended, with what it made. Waits for the end, even if the waiting task is cancelled; any number may wait.
    public var result: OperationResult<Success, Failure> {
        get async { box.result(of: await erased.core.wait()) }
    }

    /// What its body returned; throws for every other end, and `cancelled(.waiter)` when the waiting task is cancelled,
    /// which leaves the operation alone.
    public var value: Success {
        get async throws(OperationFailure<Failure>) {
            guard let end = await erased.core.waitUnlessCancelled() else { throw .cancelled(.waiter) }
            return try box.result(of: end).get()
        }
    }

    /// Calls `completion` once, with the result: in the order in which completions were added, before waiters wake and
    /// before anything that needs the operation starts; at once where the operation is over. It must not block, but it
    /// may cancel, add and start whatever it likes.
    public func addCompletion(_ completion: @escaping @Sendable (OperationResult<Success, Failure>) -> Void) {
        erased.core.addCompletion { [box] in completion(box.result(of: $0)) }
    }
}

private struct MissingValue: Error {}

extension ResultBox {
    /// Runs `body` and keeps what it returns or throws. A `CancellationError` is a request to cancel, no failure.
    func storeResult(_ body: () async throws(Failure) -> Success) async -> BodyEnd {
        let result: Result<Success, Failure>
        do throws(Failure) { result = .success(try await body()) } catch { result = .failure(error) }
        return end(with: result)
    }

    /// nil: the one who could have told is gone.
    func end(with result: Result<Success, Failure>?) -> BodyEnd {
        store(result)
        switch result {
        case .success?: return .success
        case .failure(let error)? where error is CancellationError: return .stopped(.requested)
        case .failure(let error)?: return .failure(error)
        case nil: return .stopped(.abandoned)
        }
    }
}
