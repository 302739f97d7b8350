internal import Synchronization

/// What the last attempt of a body made, for as long as somebody may ask for it.
final class ResultBox<Success: Sendable, Failure: Error>: Sendable {
    private let state = Mutex<Result<Success, Failure>?>(nil)

    /// Replaces what an earlier attempt made.
    func store(_ result: Result<Success, Failure>?) { state.withLock { $0 = result } }

    var value: Success? {
        guard case .success(let value)? = state.withLock({ $0 }) else { return nil }
        return value
    }

    var error: Failure? {
        guard case .failure(let error)? = state.withLock({ $0 }) else { return nil }
        return error
    }

    /// The result of an operation that ended like this.
    func result(of end: OperationEnd) -> OperationResult<Success, Failure> {
        switch (end, state.withLock { $0 }) {
        case (.success, .success(let value)?): .success(value)
        case (.failure, .failure(let error)?): .failure(error)
        case (.timeout(let limit, let scope), _): .timeout(limit: limit, scope: scope)
        case (.skipped, _): .skipped
        case (.notRun(let rootCause), _): .notRun(rootCause: rootCause)
        case (.cancelled(let reason), .failure(let error)?): .cancelled(reason, underlying: error)
        case (.cancelled(let reason), _): .cancelled(reason, underlying: nil)
        case (.success, _), (.failure, _): .cancelled(.abandoned, underlying: nil)
        }
    }
}
