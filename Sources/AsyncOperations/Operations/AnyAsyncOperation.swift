/// An operation without the types of what it makes.
///
/// Dropping the last handle of an operation that was never started ends it as `cancelled(.abandoned)`. Unchecked, because
/// it has subclasses, which add nothing that could change.
public class AnyAsyncOperation: AsyncOperationProtocol, @unchecked Sendable {
    @usableFromInline let core: OperationCore

    init(_ core: OperationCore) { self.core = core }

    deinit { core.abandon() }

    /// Itself.
    public final var erased: AnyAsyncOperation { self }
}
