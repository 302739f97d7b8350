/// Ends a callback operation. It exists only once the operation runs, so nothing can be finished before its start.
///
/// Dropping the last copy without calling `finish` ends the operation as `cancelled(.abandoned)`, because nothing can
/// finish it any more. A copy that an `onCancel` handler captures prevents that; use `onStop`.
public struct Completion<Success: Sendable, Failure: Error>: Sendable {
    private let ending: Ending

    /// `end` is called once, with nil when the last copy is dropped.
    init(of control: BodyControl, _ end: @escaping @Sendable (Result<Success, Failure>?) -> Void) {
        ending = Ending(control, end)
    }

    private init(_ ending: Ending) { self.ending = ending }

    /// Ends the body with `result`. Returns true for the first call, on any thread; later calls have no effect.
    @discardableResult
    public func finish(_ result: Result<Success, Failure>) -> Bool { ending.finish(result) }

    /// Ends the body with a value. Returns true for the first call.
    @discardableResult
    public func succeed(_ value: Success) -> Bool { finish(.success(value)) }

    /// Ends the body with an error. Returns true for the first call.
    @discardableResult
    public func fail(_ error: Failure) -> Bool { finish(.failure(error)) }

    /// Calls `handler` at most once, when the body must stop, and passes it a completion. Unlike an `onCancel`
    /// handler that captures one, it does not keep the operation from being abandoned.
    public func onStop(_ handler: @escaping @Sendable (AsyncOperationContext.CancellationReason, Completion) -> Void) {
        ending.control.onCancel { [weak ending] reason in
            if let ending { handler(reason, Completion(ending)) }
        }
    }

    private var weakEnding: @Sendable () -> Ending? { { [weak ending] in ending } }

    /// Waits until the completion that `callback` gets is called. Returns nil if the last copy is dropped, or if the
    /// body was asked to stop and leaves its work behind.
    static func result(
        of control: BodyControl, whenStopped: StopBehavior, _ callback: (Completion) -> Void
    ) async -> Result<Success, Failure>? {
        await withUnsafeContinuation { continuation in
            let completion = Completion(of: control) { continuation.resume(returning: $0) }
            if whenStopped == .leave {
                control.onCancel { [ending = completion.weakEnding] _ in
                    if ending()?.leave() == true { continuation.resume(returning: nil) }
                }
            }
            callback(completion)
        }
    }

    /// The single end that all copies share.
    final class Ending: Sendable {
        let control: BodyControl
        private let end: Lock<(@Sendable (Result<Success, Failure>?) -> Void)?>

        init(_ control: BodyControl, _ end: @escaping @Sendable (Result<Success, Failure>?) -> Void) {
            self.control = control
            self.end = Lock(end)
        }

        deinit { finish(nil) }

        @discardableResult
        func finish(_ result: Result<Success, Failure>?) -> Bool {
            guard let end = end.withLock({ $0.take() }) else { return false }
            end(result)
            return true
        }

        /// Makes later ends too late. Returns false if an end came before.
        func leave() -> Bool { end.withLock { $0.take() } != nil }
    }
}

extension Completion where Success == Void {
    /// Ends the body. Returns true for the first call.
    @discardableResult
    public func succeed() -> Bool { finish(.success(())) }
}

/// A value without its static type; the code that stores it and the code that reads it must agree on the type.
/// Unchecked because it has a subclass, which adds only a `Sendable` value.
@usableFromInline class AnyValueBox: @unchecked Sendable {
    @usableFromInline init() {}

    @inlinable final func value<Value: Sendable>(as type: Value.Type = Value.self) -> Value {
        guard let box = self as? ValueBox<Value> else {
            preconditionFailure("found \(self) in place of \(type)")
        }
        return box.value
    }
}

@usableFromInline final class ValueBox<Value: Sendable>: AnyValueBox, @unchecked Sendable {
    @usableFromInline let value: Value

    @inlinable init(_ value: Value) { self.value = value }
}
