internal import Platform

extension AsyncOperation {
    /// An operation whose body blocks, such as a call into a C library or a wait for a file. It runs on a thread of its
    /// own, never on one that tasks share.
    public static func blocking(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        _ body: @escaping @Sendable () throws(Failure) -> Success
    ) -> AsyncOperation {
        blocking(name, options: options) { _ throws(Failure) in try body() }
    }

    /// The same for a body that takes a context. It learns from that that it is to stop; there is no task to cancel.
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
                // The system is short of threads for the moment.
                try? await ContinuousClock().sleep(for: .milliseconds(10))
            }
            return .stopped(.requested)
        }
    }

    /// An operation that ends when its `Completion` is called, from any thread, during or long after `callback`.
    ///
    /// `whenStopped` says what a request to stop does: wait for the completion all the same, or end the operation at
    /// once and ignore a later call. `Completion.onStop` calls the work off:
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

    /// The same for a callback that also takes a context.
    ///
    /// Do not let an `onCancel` handler of the context capture the completion: the handler keeps it until it is called,
    /// so a callback that forgot the completion would no longer end as abandoned, and the operation would hang. Use
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

/// Whether an operation that is to stop waits for the work behind its callback.
public enum StopBehavior: Sendable, Hashable {
    /// The operation ends when the work does, like every other operation.
    case wait
    /// The operation ends at once, and the work goes on unobserved. For work that cannot be stopped and does no harm.
    case leave
}

extension AsyncOperation where Success == Void, Failure == Never {
    /// An operation that lasts at least `time` on its queue's clock, unless it is cancelled. Zero or less ends at once.
    /// It counts as one of the operations that run.
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
