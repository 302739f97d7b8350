internal import Platform

/// Asynchronous work with a result. It runs once, by itself or in a queue, and has exactly one end.
///
/// The body runs in a task of the library, and a request to stop cancels that task; the context gives the body more
/// information and control. Errors are typed: `Failure` is `Never` for a body that cannot fail. It must be written
/// out in a closure that throws anything but `any Error` (`async throws(LoadError) in`).
///
/// A started operation goes on when its last handle is dropped. If it was started by `start()` and is suspended, it
/// can no longer be resumed and ends as `cancelled(.abandoned)`.
public final class AsyncOperation<Success: Sendable, Failure: Error>: AnyAsyncOperation, @unchecked Sendable {
    convenience init(
        _ name: String, _ options: OperationOptions, needs: [OperationCore.Need] = [],
        storing body: @escaping OperationCore.Body
    ) {
        self.init(OperationCore(name, options, needs: needs, body: body))
    }

    /// Creates an operation that ends when `body` does.
    @inlinable public convenience init(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        body: @escaping @Sendable () async throws(Failure) -> Success
    ) {
        self.init(OperationCore(name, options) { _, core in await core.end { () throws(Failure) in try await body() } })
    }

    /// Creates an operation that ends when `body` does. The body takes a context.
    @inlinable public convenience init(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        body: @escaping @Sendable (AsyncOperationContext) async throws(Failure) -> Success
    ) {
        self.init(
            OperationCore(name, options) { context, core in
                await core.end { () throws(Failure) in try await body(context) }
            })
    }

    /// The result of the operation, with its value or error. Waits for the end, even if the waiting task is
    /// cancelled.
    ///
    /// Starts an operation that belongs to no queue, as `start()` does, along with its dependencies and its enclosing
    /// compound operation if they have not been started. If their options do not let them start, the result is
    /// `refused` with the error that `start()` throws.
    ///
    /// If a body would wait for itself, over any number of steps and queues, the result is
    /// `refused(.wouldWaitForItself)`, at once or as soon as that is certain. This is recognised only in the task of
    /// the body itself, including inside `withTimeout`. The same wait in another child task of the body (`async let`,
    /// a task group) never ends.
    @inlinable public var result: Result<Success, OperationFailure<Failure>> {
        get async {
            do throws(UsageError) {
                return Self.result(of: core, try await core.awaitEnd())
            } catch {
                return .failure(.refused(error))
            }
        }
    }

    /// The value that the body returned. Starts the operation like `result`. Throws for every other end, and throws
    /// `refused` in the cases in which `result` is `refused`.
    ///
    /// Throws `cancelled(.waiter)` when the waiting task is cancelled, which does not affect the operation.
    @inlinable public var value: Success {
        get async throws(OperationFailure<Failure>) {
            let end: OperationEnd?
            do throws(UsageError) { end = try await core.awaitEndUnlessCancelled() } catch { throw .refused(error) }
            guard let end else { throw .cancelled(.waiter) }
            return try Self.result(of: core, end).get()
        }
    }

    /// Calls `completion` once with the result. Completions are called in the order in which they were added, before
    /// waiting tasks wake and before any dependent starts. If all that has happened already, it is called within this
    /// call.
    ///
    /// The completion must not block, but it may cancel, add and start operations.
    public func addCompletion(_ completion: @escaping @Sendable (Result<Success, OperationFailure<Failure>>) -> Void) {
        core.addCompletion { [core] in completion(Self.result(of: core, $0)) }
    }
}

extension AsyncOperation {
    /// Creates an operation whose body blocks, such as a call into a C library or a wait for a file. The body runs on
    /// a thread of its own, never on one that tasks share, and so without task-local values.
    public static func blocking(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        _ body: @escaping @Sendable () throws(Failure) -> Success
    ) -> AsyncOperation {
        blocking(name, options: options) { _ throws(Failure) in try body() }
    }

    /// Creates an operation with a blocking body that takes a context. Only the context reports a request to stop;
    /// there is no task to cancel.
    public static func blocking(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        _ body: @escaping @Sendable (AsyncOperationContext) throws(Failure) -> Success
    ) -> AsyncOperation {
        AsyncOperation(name, options) { context, core in
            while !context.isCancelled {
                let end = await withUnsafeContinuation { (continuation: UnsafeContinuation<BodyEnd?, Never>) in
                    do throws(Platform.NoThreadError) {
                        try Platform.startThread {
                            let result = Result { () throws(Failure) in try body(context) }
                            continuation.resume(returning: core.end(with: Made(result)))
                        }
                    } catch {
                        continuation.resume(returning: nil)
                    }
                }
                if let end { return end }
                // The system is temporarily out of threads.
                try? await ContinuousClock().sleep(for: .milliseconds(10))
            }
            return .stopped(.requested)
        }
    }

    /// Creates an operation that ends when its `Completion` is called, from any thread, during or long after
    /// `callback`.
    ///
    /// `whenStopped` determines the effect of a request to stop: keep waiting for the completion, or end the
    /// operation at once and ignore a later call. `Completion.onStop` can call off the work:
    ///
    ///     let task = session.dataTask(with: request) { data, _, error in … }
    ///     completion.onStop { _, completion in
    ///         task.cancel()
    ///         completion.fail(URLError(.cancelled))
    ///     }
    public convenience init(
        _ name: String = "", options: OperationOptions = OperationOptions(), whenStopped: StopBehavior,
        callback: @escaping @Sendable (Completion<Success, Failure>) -> Void
    ) {
        self.init(name, options: options, whenStopped: whenStopped) { _, completion in callback(completion) }
    }

    /// Creates an operation that ends when its `Completion` is called, with a callback that also takes a context.
    ///
    /// Do not capture the completion in an `onCancel` handler of the context: the handler retains it until it is
    /// called. If the callback then lost its completion, the operation would hang instead of ending as abandoned. Use
    /// `Completion.onStop`, which passes a completion to its handler.
    public convenience init(
        _ name: String = "", options: OperationOptions = OperationOptions(), whenStopped: StopBehavior,
        callback: @escaping @Sendable (AsyncOperationContext, Completion<Success, Failure>) -> Void
    ) {
        self.init(name, options) { context, core in
            let result = await Completion.result(of: context.control, whenStopped: whenStopped) {
                callback(context, $0)
            }
            let end = core.end(with: Made(result))
            if result == nil, let reason = context.cancellationReason { return .stopped(reason) }
            return end
        }
    }
}

/// The behavior of a callback operation that is asked to stop: wait for the work behind its callback, or leave it.
public enum StopBehavior: Sendable, Hashable {
    /// The operation ends when the work ends, like every other operation.
    case wait
    /// The operation ends at once, and the work goes on unobserved. For work that cannot be stopped and does no harm.
    case leave
}

extension AsyncOperation where Success == Void, Failure == Never {
    /// Creates an operation that lasts at least `time` on its queue's clock, unless it is cancelled. Zero or less
    /// ends at once. While it waits, it counts as a running operation.
    public static func delay(
        _ name: String = "", for time: Duration, options: OperationOptions = OperationOptions()
    ) -> AsyncOperation {
        AsyncOperation(name, options) { context, core in
            do {
                if time > .zero { try await context.clock.sleep(for: time.countable) }
                return core.end(with: .value(ValueBox(())))
            } catch {
                return .stopped(.requested)
            }
        }
    }
}

extension OperationCore {
    /// Waits for the end after `begin` has started or added the operation. Cancelling the calling task, before or
    /// after that, cancels the operation; the call still waits for its end.
    ///
    /// Throws the error of `begin`, or `wouldWaitForItself`; in either case the operation has ended without its body.
    func end(
        in context: TaskContext?, onceBegunBy begin: () throws(UsageError) -> Void
    ) async throws(UsageError) -> OperationEnd {
        // If it was begun elsewhere, this call must not cancel it.
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
                // A cancel may have ended it first.
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
    /// The value, once `begin` has started or added the operation. Otherwise like
    /// `OperationCore.end(in:onceBegunBy:)`, whose error it throws as `refused`.
    func value(
        onceBegunBy begin: () throws(UsageError) -> Void
    ) async throws(OperationFailure<Failure>) -> Success {
        let end: OperationEnd
        do throws(UsageError) { end = try await core.end(in: nil, onceBegunBy: begin) } catch { throw .refused(error) }
        return try Self.result(of: core, end).get()
    }
}
