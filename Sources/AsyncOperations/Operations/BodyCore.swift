/// The core of an operation with a body, and what the body made in its last attempt. Unchecked like its superclass.
final class BodyCore<Success: Sendable, Failure: Error>: OperationCore, @unchecked Sendable {
    typealias ThrowingBody = @Sendable (AsyncOperationContext) async throws(Failure) -> Success
    /// Stores what it makes itself.
    typealias StoringBody = @Sendable (AsyncOperationContext, BodyCore) async -> BodyEnd

    // One of the two forms of a body is there until the end, which comes once: whoever brings it about lets go of the
    // body, when nobody runs it any more. So it needs no lock.
    private nonisolated(unsafe) var throwingBody: ThrowingBody?
    private nonisolated(unsafe) var storingBody: StoringBody?
    /// Under the lock of the operation.
    private nonisolated(unsafe) var made: Result<Success, Failure>?

    init(_ name: String, _ options: OperationOptions, body: @escaping ThrowingBody) {
        throwingBody = body
        super.init(AsyncOperationID(name), options)
    }

    init(_ name: String, _ options: OperationOptions, needs: [Need] = [], storing body: @escaping StoringBody) {
        storingBody = body
        super.init(AsyncOperationID(name), options, needs: needs)
        for need in needs { need.core.noteNeed() }
    }

    override func perform(_ control: BodyControl) async -> BodyEnd {
        let context = AsyncOperationContext(control: control)
        if control.attempt > 1 { forgetMade() }
        // Only the end takes it away, and there is none while it runs.
        if let body = throwingBody {
            do throws(Failure) {
                return end(with: .success(try await body(context)), in: control)
            } catch {
                return end(with: .failure(error), in: control)
            }
        }
        guard let body = storingBody else { return .stopped(.abandoned) }
        return await body(context, self)
    }

    private func forgetMade() {
        var last: Result<Success, Failure>?
        state.withLock { _ in swap(&made, &last) }
    }

    override func releaseBody() {
        throwingBody = nil
        storingBody = nil
    }

    override var error: (any Error)? {
        if case .failure(let error)? = state.withLock({ _ in made }) { error } else { nil }
    }

    /// Keeps what an attempt made, unless it was left behind; nil: the one who could have told is gone. A
    /// `CancellationError` is a request to cancel, not a failure.
    func end(with result: Result<Success, Failure>?, in control: BodyControl) -> BodyEnd {
        guard !control.isOver else { return .stopped(.abandoned) }
        // What an earlier attempt made is freed after the lock is.
        var last = result
        state.withLock { _ in swap(&made, &last) }
        switch result {
        case .success?: return .success
        case .failure(let error)? where error is CancellationError: return .stopped(.requested)
        case .failure(let error)?: return .failure(error)
        case nil: return .stopped(.abandoned)
        }
    }

    /// What it made, if its latest end is a success.
    var value: Success? {
        state.withLock { state -> Success? in
            guard state.lifecycle.latestEnd == .success, case .success(let value)? = made else { return nil }
            return value
        }
    }

    /// The result of an operation that ended like this.
    func result(of end: OperationEnd) -> OperationResult<Success, Failure> {
        let last = state.withLock { _ in made }
        let error: Failure? = if case .failure(let error)? = last { error } else { nil }
        switch end {
        case .success:
            if case .success(let value)? = last { return .success(value) }
            return .cancelled(.abandoned, underlying: nil)
        case .failure: return error.map { .failure($0) } ?? .cancelled(.abandoned, underlying: nil)
        case .timeout(let limit, let scope): return .timeout(limit: limit, scope: scope, underlying: error)
        case .cancelled(let reason): return .cancelled(reason, underlying: error)
        case .skipped: return .skipped
        case .notRun(let rootCause): return .notRun(rootCause: rootCause)
        }
    }
}
