/// Asynchronous work with a result. It runs once, by itself or in a queue, and has exactly one end.
///
/// The body runs in a task of the library and is told to stop by the cancellation of that task; its context tells it
/// more and lets it ask for more. Errors are typed: `Failure` is `Never` for a body that cannot fail, and must be
/// written out in a closure that throws anything but `any Error` (`async throws(LoadError) in`).
///
/// A started operation goes on when its last handle is dropped. If it was started by `start()` and is suspended, nobody
/// could resume it any more, and it ends as `cancelled(.abandoned)`.
public final class AsyncOperation<Success: Sendable, Failure: Error>: AnyAsyncOperation, @unchecked Sendable {
    convenience init(
        _ name: String, _ options: OperationOptions, needs: [OperationCore.Need] = [],
        storing body: @escaping StoringBodyCore.Body
    ) {
        self.init(StoringBodyCore(name, .made(of: options), needs: needs, body: body))
    }

    /// An operation that ends when `body` does.
    @inlinable public convenience init(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        body: @escaping @Sendable () async throws(Failure) -> Success
    ) {
        self.init(
            BodyCore(name, options) { _ in
                do throws(Failure) { return .value(ValueBox(try await body())) } catch { return .error(error) }
            })
    }

    /// An operation that ends when `body` does, and whose body takes a context.
    @inlinable public convenience init(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        body: @escaping @Sendable (AsyncOperationContext) async throws(Failure) -> Success
    ) {
        self.init(
            BodyCore(name, options) { context in
                do throws(Failure) { return .value(ValueBox(try await body(context))) } catch { return .error(error) }
            })
    }

    /// How it ended, with its value or error. Waits for the end, even if the waiting task is cancelled.
    ///
    /// An operation that belongs to no queue is started, as by `start()`; so is what it depends on, and the compound
    /// operation around it, as far as nothing else has. If their options do not let them start, the result is `refused`
    /// with what `start()` throws.
    ///
    /// For a body that would wait for itself, over however many steps and queues, the result is
    /// `refused(.wouldWaitForItself)`: at once, or as soon as that is certain. Only the task of the body itself is
    /// recognised, inside `withTimeout` too. The same wait in another child task of it (`async let`, a task group)
    /// never ends.
    @inlinable public var result: Result<Success, OperationFailure<Failure>> {
        get async {
            do throws(UsageError) {
                return Self.result(of: core, try await core.awaitEnd())
            } catch {
                return .failure(.refused(error))
            }
        }
    }

    /// The value that its body returned. Starts it like `result`. Throws for every other end, and `refused` like
    /// `result`.
    ///
    /// Throws `cancelled(.waiter)` when the waiting task is cancelled, which leaves the operation alone.
    @inlinable public var value: Success {
        get async throws(OperationFailure<Failure>) {
            let end: OperationEnd?
            do throws(UsageError) { end = try await core.awaitEndUnlessCancelled() } catch { throw .refused(error) }
            guard let end else { throw .cancelled(.waiter) }
            return try Self.result(of: core, end).get()
        }
    }

    /// Calls `completion` once with the result: in the order in which completions were added, before waiting tasks
    /// wake, and before anything that depends on the operation starts. If all that has happened already, it is called
    /// within this call.
    ///
    /// It must not block, but it may cancel, add and start whatever it likes.
    public func addCompletion(_ completion: @escaping @Sendable (Result<Success, OperationFailure<Failure>>) -> Void) {
        core.addCompletion { [core] in completion(Self.result(of: core, $0)) }
    }
}
