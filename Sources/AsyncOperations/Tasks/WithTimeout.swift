/// Runs `body` for at most `limit` and returns its value.
///
/// The body runs in the caller's isolation, with its priority and task-local values, and may use what the caller may:
/// the state of its actor, and values that are not `Sendable`. It runs in a child task, so that it can be cancelled
/// alone.
///
/// When the limit passes, the body's task is cancelled, and the call throws `timedOut` **after the body has ended**.
/// The call waits even for a body that ignores cancellation, because the body must not outlive its caller. The limit
/// never passes early. With a limit of zero or less, the call throws `timedOut` and the body never runs.
///
/// Cancelling the calling task cancels the body, which then decides: its value is returned, a `CancellationError` is
/// thrown as `cancelled`, any other error as `failed`. Without such a cancel, a `CancellationError` is thrown as
/// `failed` too.
///
/// `clock` measures the limit; its `sleep` must throw only when its task is cancelled.
public func withTimeout<Value, Failure: Error>(
    _ limit: Duration, clock: any Clock<Duration> = ContinuousClock(),
    _ body: nonisolated(nonsending) () async throws(Failure) -> Value
) async throws(OperationFailure<Failure>) -> Value {
    guard limit > .zero else { throw .timedOut(limit: limit, scope: nil) }
    let result = await timedResult(of: body, within: limit, clock, isolation: #isolation)
    switch result {
    case .success(let value)?: return value
    case .failure(let error)? where error is CancellationError && Task.isCancelled: throw .cancelled(.requested)
    case .failure(let error)?: throw .failed(error)
    case nil: throw .timedOut(limit: limit, scope: nil)
    }
}

/// Returns nil if the limit passed before the body ended.
private func timedResult<Value, Failure: Error>(
    of body: () async throws(Failure) -> Value, within limit: Duration, _ clock: any Clock<Duration>,
    isolation: isolated (any Actor)?
) async -> Result<Value, Failure>? {
    await withoutActuallyEscaping(body) { body in
        // The closure stays in the isolation only if it uses it.
        _ = isolation
        return await TimedBody(run: body).result(within: limit, clock, isolation: isolation)
    }
}

/// A body that a child task runs for its parent.
///
/// `@unchecked Sendable`: only one task at a time accesses the state that the body shares with its surroundings. The
/// child enters the body in the isolation of the parent, which only waits until the child has ended.
private struct TimedBody<Value, Failure: Error>: @unchecked Sendable {
    /// The result that the child hands to its parent; `@unchecked` for the same reason.
    struct End: @unchecked Sendable {
        let result: Result<Value, Failure>
    }

    let run: () async throws(Failure) -> Value

    func result(
        within limit: Duration, _ clock: any Clock<Duration>, isolation: isolated (any Actor)?
    ) async -> Result<Value, Failure>? {
        await withTaskGroup(of: End.self) { group in
            let body = StoppableTask()
            let operation = Worker.runningBody
            group.addTask {
                await body.run {
                    await Worker.runPart(of: operation) { await end(isolation: isolation) }
                }
            }
            let ring = Ring(after: limit, on: clock) { body.stop() }
            let answer = await group.next()
            ring.cancel()
            return body.isStopped ? nil : answer?.result
        }
    }

    private func end(isolation: isolated (any Actor)?) async -> End {
        let result: Result<Value, Failure>
        do throws(Failure) { result = .success(try await run()) } catch { result = .failure(error) }
        return End(result: result)
    }
}

/// A child task that any thread may cancel, alone.
private final class StoppableTask: Sendable {
    /// Unchecked: the task is only cancelled, and only while it runs.
    private struct State: @unchecked Sendable {
        var task: UnsafeCurrentTask?
        var isStopped = false
        var isOver = false
    }

    private let state = Lock(State())

    /// True if it was stopped before it ended.
    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Runs `body` in the calling task.
    func run<Answer: Sendable>(_ body: () async -> Answer) async -> Answer {
        let isStopped = state.withLock { state in
            state.task = withUnsafeCurrentTask { $0 }
            return state.isStopped
        }
        if isStopped { withUnsafeCurrentTask { $0?.cancel() } }
        let answer = await body()
        state.withLock { state in
            state.task = nil
            state.isOver = true
        }
        return answer
    }

    /// Cancels the task, unless it has ended or was cancelled before. The end of the task waits until that is done.
    func stop() {
        state.withLock { state in
            guard !state.isOver, state.task?.isCancelled != true else { return }
            state.isStopped = true
            cancelling { state.task?.cancel() }
        }
    }
}
