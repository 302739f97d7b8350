/// The end of an operation in the hands of code that calls back. It exists only while the operation runs, so that
/// nothing can be finished before its start.
///
/// Dropping the last copy without calling `finish` ends the operation as `cancelled(.abandoned)`: nobody is left who
/// could finish it. A handler of the context's `onCancel` that keeps a copy is one who could; `onStop` gives its handler
/// a copy instead.
public struct Completion<Success: Sendable, Failure: Error>: Sendable {
    private let ending: Ending

    /// `end` is called once, with nil when the last copy is dropped.
    init(of control: BodyControl, _ end: @escaping @Sendable (Result<Success, Failure>?) -> Void) {
        ending = Ending(control, end)
    }

    private init(_ ending: Ending) { self.ending = ending }

    /// Ends the body with `result`. True for the first call, from whatever thread; later ones change nothing.
    @discardableResult
    public func finish(_ result: Result<Success, Failure>) -> Bool { ending.finish(result) }

    /// Ends the body with a value. True for the first call.
    @discardableResult
    public func succeed(_ value: Success) -> Bool { finish(.success(value)) }

    /// Ends the body with an error. True for the first call.
    @discardableResult
    public func fail(_ error: Failure) -> Bool { finish(.failure(error)) }

    /// Calls `handler` at most once, when the body is to stop, with a copy that ends it. It keeps no copy itself, so
    /// that a completion that everybody else has dropped is abandoned all the same.
    public func onStop(_ handler: @escaping @Sendable (CancellationReason, Completion) -> Void) {
        ending.control.onCancel { [weak ending] reason in
            if let ending { handler(reason, Completion(ending)) }
        }
    }

    private var weakEnding: @Sendable () -> Ending? { { [weak ending] in ending } }

    /// Waits until `callback` or somebody whom it gives the completion ends it. nil where nobody is left who could, or
    /// where it was told to stop and is left behind.
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

    /// The one end that all copies share.
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

        /// Lets nobody end it any more. True for the first call, if nobody has.
        func leave() -> Bool { end.withLock { $0.take() } != nil }
    }
}

extension Completion where Success == Void {
    /// Ends the body. True for the first call.
    @discardableResult
    public func succeed() -> Bool { finish(.success(())) }
}
