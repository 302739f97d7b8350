/// An operation without the types of its value and error.
///
/// Dropping the last handle of an operation that was never started ends it as `cancelled(.neverStarted)`.
///
/// Unchecked, because it has subclasses; they add nothing that changes.
public class AnyAsyncOperation: AsyncOperationProtocol, @unchecked Sendable {
    @usableFromInline let core: OperationCore

    @usableFromInline init(_ core: OperationCore) { self.core = core }

    deinit { core.abandon() }

    /// Itself.
    public final var erased: AnyAsyncOperation { self }
}
