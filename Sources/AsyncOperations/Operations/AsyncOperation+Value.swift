extension AsyncOperation {
    /// Its value, once `begin` has started or added it. Cancelling the calling task, before or after that, cancels the
    /// operation, and the call still waits for its end.
    ///
    /// Throws what `begin` throws, and `wouldWaitForItself`, as `refused`; the operation has then ended without its
    /// body.
    func value(
        in context: TaskContext? = nil, onceBegunBy begin: () throws(UsageError) -> Void
    ) async throws(OperationFailure<Failure>) -> Success {
        core.expectWaiter(context)
        defer { context?.end() }
        let result = await withTaskCancellationHandler { () -> Result<OperationEnd, UsageError> in
            do throws(UsageError) {
                defer { context?.settle(expectsMore: core.mayBegin) }
                try begin()
            } catch {
                // A cancel may have ended it before.
                guard let end = core.end else { return .failure(error) }
                return .success(end)
            }
            do throws(UsageError) {
                return .success(try await core.awaitEndOnceBegun())
            } catch {
                cancel()
                return .failure(error)
            }
        } onCancel: {
            cancel()
        }
        switch result {
        case .success(let end): return try Self.result(of: core, end).get()
        case .failure(let error): throw .refused(error)
        }
    }
}
