extension AsyncOperation {
    /// Its value, once `begin` has started or added it. Cancelling the calling task, also before, cancels the operation,
    /// and its end is waited for all the same.
    ///
    /// Throws as `refused` what `begin` throws, and `wouldWaitForItself`; then the operation has ended without its body.
    func value(
        onceBegunBy begin: () throws(UsageError) -> Void
    ) async throws(OperationFailure<Failure>) -> Success {
        let result = await withTaskCancellationHandler { () -> Result<OperationEnd, UsageError> in
            do throws(UsageError) {
                try begin()
            } catch {
                // A cancel that came first has ended it already.
                guard let end = core.end else { return .failure(error) }
                return .success(end)
            }
            do throws(UsageError) {
                return .success(try await core.awaitEnd())
            } catch {
                cancel()
                return .failure(error)
            }
        } onCancel: {
            cancel()
        }
        switch result {
        case .success(let end): return try self.result(of: end).get()
        case .failure(let error): throw .refused(error)
        }
    }
}
