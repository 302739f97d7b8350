extension AsyncOperationQueue {
    /// Adds an operation with this body, and waits for what the body returns. Cancelling the calling task cancels the
    /// operation, and the call still waits for its end; in a task that is cancelled already, the body never runs.
    ///
    /// Throws for every end but a success, and what `add` throws as `refused`. In the body of an operation of this
    /// queue that must end before the new one could start, throws `refused(.wouldWaitForItself)`; the new one is then
    /// cancelled.
    public func run<Success: Sendable, Failure: Error>(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        _ body: @escaping @Sendable (AsyncOperationContext) async throws(Failure) -> Success
    ) async throws(OperationFailure<Failure>) -> Success {
        let operation = AsyncOperation(name, options: options, body: body)
        return try await operation.value(in: TaskContext()) { () throws(UsageError) in try add(operation) }
    }
}
