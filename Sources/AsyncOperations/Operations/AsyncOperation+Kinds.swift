internal import Platform

extension AsyncOperation {
    /// An operation whose body blocks, such as a call into a C library or a wait for a file: it runs on a thread of its
    /// own, never on one of those that tasks share. The task's cancellation does not reach it; its context does.
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
                            continuation.resume(returning: core.end(with: Made(result), in: context.control))
                        }
                    } catch {
                        continuation.resume(returning: nil)
                    }
                }
                if let end { return end }
                // A passing shortage of threads.
                try? await ContinuousClock().sleep(for: .milliseconds(10))
            }
            return .stopped(.requested)
        }
    }

    /// An operation that ends when its `Completion` is told so, from any thread, however much later `callback` has
    /// returned.
    ///
    /// `whenStopped` says what a request to stop means: to wait until the completion is called all the same, or to leave
    /// whatever goes on behind, so that the operation ends at once and a later call comes too late.
    public convenience init(
        _ name: String = "", options: OperationOptions = OperationOptions(), whenStopped: StopBehavior = .wait,
        callback: @escaping @Sendable (AsyncOperationContext, Completion<Success, Failure>) -> Void
    ) {
        self.init(name, options) { context, core in
            let result = await Completion.result(of: context.control, whenStopped: whenStopped) {
                callback(context, $0)
            }
            let end = core.end(with: result.map { Made($0) }, in: context.control)
            if result == nil, let reason = context.cancellationReason { return .stopped(reason) }
            return end
        }
    }
}

/// What becomes of the work behind a callback when its operation is to stop.
public enum StopBehavior: Sendable, Hashable {
    /// The operation ends when the work does, as everything else here.
    case wait
    /// The operation ends at once. The work goes on unseen; for work that cannot be stopped and harms nobody.
    case leave
}

extension AsyncOperation where Success == Void, Failure == Never {
    /// An operation that lasts at least `time` on its queue's clock, never less, unless it is cancelled. It takes one of
    /// the queue's places.
    public static func delay(
        _ name: String = "", for time: Duration, options: OperationOptions = OperationOptions()
    ) -> AsyncOperation {
        AsyncOperation(name, options) { context, core in
            do {
                if time > .zero { try await context.clock.sleep(for: time.countable) }
                return core.end(with: .value(ValueBox(())), in: context.control)
            } catch {
                return .stopped(.requested)
            }
        }
    }
}
