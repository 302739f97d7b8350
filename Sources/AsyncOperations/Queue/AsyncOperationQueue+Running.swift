// Operations that a queue makes of a body: to wait for, or to keep.

extension AsyncOperationQueue {
    /// Adds an operation with this body, and waits for what the body returns. Cancelling the calling task cancels the
    /// operation, and the call still waits for its end; in a task that is cancelled already, the body never runs.
    ///
    /// Throws for every end but a success, and what `add` throws as `refused`. In the body of an operation of this
    /// queue that must end before the new one could start, throws `refused(.wouldWaitForItself)`; the new one is then
    /// cancelled.
    public func run<Success: Sendable, Failure: Error>(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        _ body: @escaping @Sendable () async throws(Failure) -> Success
    ) async throws(OperationFailure<Failure>) -> Success {
        try await run(AsyncOperation(name, options: options, body: body))
    }

    /// The same for a body that takes a context.
    @_disfavoredOverload
    public func run<Success: Sendable, Failure: Error>(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        _ body: @escaping @Sendable (AsyncOperationContext) async throws(Failure) -> Success
    ) async throws(OperationFailure<Failure>) -> Success {
        try await run(AsyncOperation(name, options: options, body: body))
    }

    /// Adds `operation`, and waits for its value; otherwise like `run` with a body.
    public func run<Success: Sendable, Failure: Error>(
        _ operation: AsyncOperation<Success, Failure>
    ) async throws(OperationFailure<Failure>) -> Success {
        try await operation.value(in: TaskContext()) { () throws(UsageError) in try add(operation) }
    }

    /// Tells of a body whose type is not the one that is asked for, which the compiler cannot with more than one `run`.
    @available(*, unavailable, message: "the body returns a value of another type than the one that is expected here")
    @_disfavoredOverload @_documentation(visibility: private)
    public func run<Success, Other>(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        _ body: @escaping @Sendable () async throws -> Other
    ) async throws -> Success { fatalError() }

    /// The same for a body that takes a context.
    @available(*, unavailable, message: "the body returns a value of another type than the one that is expected here")
    @_disfavoredOverload @_documentation(visibility: private)
    public func run<Success, Other>(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        _ body: @escaping @Sendable (AsyncOperationContext) async throws -> Other
    ) async throws -> Success { fatalError() }

    /// The same for what is neither a body nor an operation with a value.
    @available(*, unavailable, message: "`run` takes a body or an AsyncOperation; a CompoundOperation has `run(on:)`")
    @_disfavoredOverload @_documentation(visibility: private)
    public func run(_ other: any AsyncOperationProtocol) async throws -> Never { fatalError() }

    /// Adds an operation with this body, and returns it. Throws what `add` of several operations throws.
    @discardableResult
    public func add<Success: Sendable, Failure: Error>(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        _ body: @escaping @Sendable () async throws(Failure) -> Success
    ) throws(UsageError) -> AsyncOperation<Success, Failure> {
        let operation = AsyncOperation(name, options: options, body: body)
        try add(operation)
        return operation
    }

    /// The same for a body that takes a context.
    @discardableResult @_disfavoredOverload
    public func add<Success: Sendable, Failure: Error>(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        _ body: @escaping @Sendable (AsyncOperationContext) async throws(Failure) -> Success
    ) throws(UsageError) -> AsyncOperation<Success, Failure> {
        let operation = AsyncOperation(name, options: options, body: body)
        try add(operation)
        return operation
    }
}
