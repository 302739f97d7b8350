/// Work that takes its time, and what it makes: started by itself or by a queue, once, with exactly one end.
///
/// The body runs in a task of the library, whose cancellation tells it to stop. It learns more, and can ask for more,
/// through its context. Errors are typed: `Failure` is `Never` for a body that cannot fail, and has to be spelt in a
/// closure that throws something else than `any Error` (`async throws(LoadError) in`).
///
/// An operation goes on when its last handle is dropped, if it was started.
public final class AsyncOperation<Success: Sendable, Failure: Error>: AnyAsyncOperation, @unchecked Sendable {
    convenience init(
        _ name: String, _ options: OperationOptions, needs: [OperationCore.Need] = [],
        storing body: @escaping StoringBodyCore.Body
    ) {
        self.init(StoringBodyCore(name, options, needs: needs, body: body))
    }

    /// An operation whose end is the end of `body`.
    public convenience init(
        _ name: String = "", options: OperationOptions = OperationOptions(),
        body: @escaping @Sendable (AsyncOperationContext) async throws(Failure) -> Success
    ) {
        self.init(BodyCore(name, options, body: body))
    }

    /// An operation that starts when `first` and `rest` have their values and gets them; where one of them does not
    /// come about, `body` is not entered.
    public convenience init<First: Sendable, each Rest: Sendable>(
        _ name: String = "", from first: Output<First>, _ rest: repeat Output<each Rest>,
        options: OperationOptions = OperationOptions(),
        body: @escaping @Sendable (AsyncOperationContext, First, repeat each Rest) async throws(Failure) -> Success
    ) {
        var needs: [OperationCore.Need] = []
        needs.add(first.need)
        repeat needs.add((each rest).need)
        self.init(name, options, needs: needs) { context, core in
            guard let value = first.read(), let values = Self.values(repeat each rest) else {
                return .stopped(.abandoned)
            }
            let made: Made
            do throws(Failure) {
                made = .value(ValueBox(try await body(context, value, repeat each values)))
            } catch {
                made = .error(error)
            }
            return core.end(with: made, in: context.control)
        }
    }

    private static func values<each Input: Sendable>(_ outputs: repeat Output<each Input>) -> (repeat each Input)? {
        func read<One: Sendable>(_ output: Output<One>) throws(MissingValue) -> One {
            guard let value = output.read() else { throw MissingValue() }
            return value
        }
        return try? (repeat read(each outputs))
    }

    /// How it ended, with what it made. Waits for the end, even if the waiting task is cancelled; any number may wait.
    ///
    /// In the task of a body that would wait for itself by this, the answer is `cancelled(.wouldWaitForItself)`, at once.
    @inlinable public var result: OperationResult<Success, Failure> {
        get async {
            do throws(UsageError) {
                return result(of: try await core.awaitEnd())
            } catch {
                return .cancelled(.wouldWaitForItself, underlying: nil)
            }
        }
    }

    /// What its body returned; throws for every other end, and `cancelled(.waiter)` when the waiting task is cancelled,
    /// which leaves the operation alone. Throws `refused(.wouldWaitForItself)` in a body that would wait for itself.
    @inlinable public var value: Success {
        get async throws(OperationFailure<Failure>) {
            let end: OperationEnd?
            do throws(UsageError) { end = try await core.awaitEndUnlessCancelled() } catch { throw .refused(error) }
            guard let end else { throw .cancelled(.waiter) }
            return try result(of: end).get()
        }
    }

    /// Calls `completion` once, with the result: in the order in which completions were added, before waiters wake and
    /// before anything that needs the operation starts; at once where the operation is over. It must not block, but it
    /// may cancel, add and start whatever it likes.
    public func addCompletion(_ completion: @escaping @Sendable (OperationResult<Success, Failure>) -> Void) {
        core.addCompletion { [core] in completion(Self.result(of: core, $0)) }
    }
}

private struct MissingValue: Error {}
