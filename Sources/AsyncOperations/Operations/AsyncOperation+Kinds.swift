internal import Basics

extension AsyncOperation {
    /// An operation whose body blocks, such as a call into a C library or a wait for a file: it runs on a thread of its
    /// own, never on one of those that tasks share. The task's cancellation does not reach it; its context does.
    public static func blocking(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        _ body: @escaping @Sendable (AsyncOperationContext) throws(Failure) -> Success
    ) -> AsyncOperation {
        AsyncOperation(name, options) { context, box in
            while !context.isCancelled {
                let end = await withUnsafeContinuation { (continuation: UnsafeContinuation<BodyEnd?, Never>) in
                    do throws(SystemError) {
                        try BlockingThread.run {
                            let result = Result { () throws(Failure) in try body(context) }
                            continuation.resume(returning: box.end(with: result))
                        }
                    } catch {
                        continuation.resume(returning: nil)
                    }
                }
                if let end { return end }
                // A passing shortage of threads.
                try? await context.clock.sleep(for: .milliseconds(10))
            }
            return .stopped(.requested)
        }
    }
}

extension AsyncOperation where Success == Void, Failure == Never {
    /// An operation that lasts at least `time` on its queue's clock, never less, unless it is cancelled. It takes one of
    /// the queue's places.
    public static func delay(
        _ name: String = "", for time: Duration, options: OperationOptions = OperationOptions()
    ) -> AsyncOperation {
        AsyncOperation(name, options) { context, box in
            do {
                if time > .zero { try await context.clock.sleep(for: time) }
                return box.end(with: .success(()))
            } catch {
                return .stopped(.requested)
            }
        }
    }
}
