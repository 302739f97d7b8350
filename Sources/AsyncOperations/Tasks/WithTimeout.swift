/// Runs `body` for at most `limit` and returns what it returns.
///
/// When the limit passes, the body's task is cancelled, and the call throws `timedOut` **after the body has ended**: a
/// body that does not listen to cancellation is waited for, because leaving it behind would let it outlive its caller.
/// The limit is never early. A limit of zero or less throws `timedOut` and does not run the body.
///
/// Cancelling the calling task cancels the body, whose answer then decides: a value is returned, a `CancellationError`
/// is thrown as `cancelled`, another error as `failed`.
public func withTimeout<Value: Sendable, Failure: Error>(
    _ limit: Duration, clock: any Clock<Duration> = ContinuousClock(),
    _ body: @escaping @Sendable () async throws(Failure) -> Value
) async throws(OperationFailure<Failure>) -> Value {
    guard limit > .zero else { throw .timedOut(limit) }
    let result: Result<Value, Failure>? = await withTaskGroup(of: TimedStep<Value, Failure>.self) { race in
        race.addTask {
            do throws(Failure) { return .ended(.success(try await body())) } catch { return .ended(.failure(error)) }
        }
        race.addTask {
            do {
                try await clock.sleep(for: limit)
                return .timePassed
            } catch {
                return .woken
            }
        }
        var isLate = false
        while let step = await race.next() {
            switch step {
            case .ended(let result):
                race.cancelAll()
                return isLate ? nil : result
            case .timePassed:
                isLate = true
                race.cancelAll()
            case .woken:
                break
            }
        }
        return nil
    }
    switch result {
    case .success(let value)?: return value
    case .failure(let error)? where error is CancellationError: throw .cancelled(.requested)
    case .failure(let error)?: throw .failed(error)
    case nil: throw .timedOut(limit)
    }
}

private enum TimedStep<Value: Sendable, Failure: Error>: Sendable {
    case ended(Result<Value, Failure>)
    case timePassed
    /// The sleeper was cancelled: the body has ended or the caller was cancelled.
    case woken
}
