extension AsyncOperationQueue {
    /// Adds an operation and waits for what `body` returns. Cancelling the calling task cancels the operation, whose end
    /// is waited for all the same; called in a task that is cancelled already, it does not enter the body.
    ///
    /// Throws `refused` with what `add` throws, and `refused(.wouldWaitForItself)` in the body of an operation of the
    /// queue that has to end before this one could start, because it holds the only place, a mutex that this one wants,
    /// or up a barrier; then nothing stays behind.
    public func run<Success: Sendable, Failure: Error>(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        _ body: @escaping @Sendable (AsyncOperationContext) async throws(Failure) -> Success
    ) async throws(OperationFailure<Failure>) -> Success {
        let operation = AsyncOperation(name, options: options, body: body)
        return try await operation.value { () throws(UsageError) in try add(operation) }
    }
}
