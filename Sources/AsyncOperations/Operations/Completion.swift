internal import Synchronization

/// The end of an operation in the hands of code that calls back. It exists only while the operation runs, so that
/// nothing can be finished before its start.
///
/// Dropping the last copy without calling `finish` ends the operation as `cancelled(.abandoned)`: nobody is left who
/// could finish it.
public struct Completion<Success: Sendable, Failure: Error>: Sendable {
    private let ending: Ending

    /// `end` is called once, with nil when the last copy is dropped.
    init(_ end: @escaping @Sendable (Result<Success, Failure>?) -> Void) { ending = Ending(end) }

    /// Ends the body with `result`. True for the first call, from whatever thread; later ones change nothing.
    @discardableResult
    public func finish(_ result: Result<Success, Failure>) -> Bool { ending.finish(result) }

    /// Ends the body with a value. True for the first call.
    @discardableResult
    public func succeed(_ value: Success) -> Bool { finish(.success(value)) }

    /// Ends the body with an error. True for the first call.
    @discardableResult
    public func fail(_ error: Failure) -> Bool { finish(.failure(error)) }

    private final class Ending: Sendable {
        private let end: Mutex<(@Sendable (Result<Success, Failure>?) -> Void)?>

        init(_ end: @escaping @Sendable (Result<Success, Failure>?) -> Void) { self.end = Mutex(end) }

        deinit { finish(nil) }

        @discardableResult
        func finish(_ result: Result<Success, Failure>?) -> Bool {
            guard let end = end.withLock({ $0.take() }) else { return false }
            end(result)
            return true
        }
    }
}

extension Completion where Success == Void {
    /// Ends the body. True for the first call.
    @discardableResult
    public func succeed() -> Bool { finish(.success(())) }
}
