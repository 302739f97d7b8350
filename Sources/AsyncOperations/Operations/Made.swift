/// The value or error of the last attempt of a body. Its type is known in the code that creates and queries the
/// operation, which is compiled for it: looking up types at run time would take longer than anything else in a short
/// operation.
@usableFromInline enum Made: Sendable {
    /// No attempt has ended, or nothing can deliver a result any more.
    case nothing
    case value(AnyValueBox)
    case error(any Error)

    init<Success: Sendable, Failure: Error>(_ result: Result<Success, Failure>?) {
        switch result {
        case .success(let value)?: self = .value(ValueBox(value))
        case .failure(let error)?: self = .error(error)
        case nil: self = .nothing
        }
    }
}

extension OperationCore {
    @usableFromInline var made: Made { state.withLock { $0.made } }

    /// The value, if the latest end is a success.
    var value: AnyValueBox? {
        state.withLock { state in
            guard state.lifecycle.latestEnd == .success, case .value(let box) = state.made else { return nil }
            return box
        }
    }

    /// Runs `body` and stores its value or error.
    @inlinable func end<Success: Sendable, Failure: Error>(
        with body: () async throws(Failure) -> Success
    ) async -> BodyEnd {
        let made: Made
        do throws(Failure) { made = .value(ValueBox(try await body())) } catch { made = .error(error) }
        return end(with: made)
    }

    /// Stores the result of an attempt.
    @usableFromInline func end(with made: Made) -> BodyEnd {
        keep(made)
        switch made {
        case .value: return .success
        case .error(let error): return .failure(error)
        case .nothing: return .stopped(.abandoned)
        }
    }

    /// Replaces the result of an earlier attempt, which is released outside the lock.
    func keep(_ made: Made) {
        var last = made
        state.withLock { swap(&$0.made, &last) }
    }
}

extension AsyncOperation {
    /// The result of an operation for this end.
    @inlinable static func result(
        of core: OperationCore, _ end: OperationEnd
    ) -> Result<Success, OperationFailure<Failure>> {
        let made = core.made
        let error: Failure? = if case .error(let error) = made { error as? Failure } else { nil }
        switch end {
        case .success:
            if case .value(let box) = made { return .success(box.value()) }
            return .failure(.cancelled(.abandoned))
        case .failure: return .failure(error.map { .failed($0) } ?? .cancelled(.abandoned))
        case .timeout(let limit, let scope): return .failure(.timedOut(limit: limit, scope: scope, underlying: error))
        case .cancelled(let reason): return .failure(.cancelled(reason, underlying: error))
        case .skipped: return .failure(.skipped)
        case .notRun(let rootCause): return .failure(.notRun(rootCause: rootCause))
        }
    }
}
