extension OperationCore {
    /// Its end, once `begin` has started or added it. Cancelling the calling task, before or after that, cancels the
    /// operation, and the call still waits for its end.
    ///
    /// Throws what `begin` throws, and `wouldWaitForItself`; the operation has then ended without its body.
    func end(
        in context: TaskContext?, onceBegunBy begin: () throws(UsageError) -> Void
    ) async throws(UsageError) -> OperationEnd {
        // Begun elsewhere, it is not for this call to cancel.
        guard case .idle = lifecycle else {
            try begin()
            return try await awaitEnd()
        }
        expectWaiter(context)
        defer { context?.end() }
        let result = await withTaskCancellationHandler { () -> Result<OperationEnd, UsageError> in
            do throws(UsageError) {
                defer {
                    let expectsMore = mayBegin
                    let lendsThread = !expectsMore && Worker.mayLendThread
                    context?.settle(expectsMore: expectsMore, lendsThread ? .onThisThread : .inheriting)
                }
                try begin()
            } catch {
                dropContext()
                // A cancel may have ended it before.
                guard let end else { return .failure(error) }
                return .success(end)
            }
            do throws(UsageError) {
                return .success(try await awaitEndOnceBegun())
            } catch {
                cancel(.requested)
                return .failure(error)
            }
        } onCancel: {
            cancel(.requested)
        }
        return try result.get()
    }
}

extension AsyncOperation {
    /// Its value, once `begin` has started or added it; otherwise like `OperationCore.end(in:onceBegunBy:)`, whose
    /// error it throws as `refused`.
    func value(
        in context: TaskContext? = nil, onceBegunBy begin: () throws(UsageError) -> Void
    ) async throws(OperationFailure<Failure>) -> Success {
        let end: OperationEnd
        do throws(UsageError) {
            end = try await core.end(in: context, onceBegunBy: begin)
        } catch {
            throw .refused(error)
        }
        return try Self.result(of: core, end).get()
    }
}
