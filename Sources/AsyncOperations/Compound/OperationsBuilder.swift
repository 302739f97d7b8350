/// Lists the members of a compound operation, one a line, with `if`, `for` and arrays among them.
@resultBuilder
public enum OperationsBuilder {
    /// One operation, of whatever type.
    public static func buildExpression(_ operation: any AsyncOperationProtocol) -> [AnyAsyncOperation] {
        [operation.erased]
    }

    /// Several operations, of one type or of many.
    public static func buildExpression(_ operations: [any AsyncOperationProtocol]) -> [AnyAsyncOperation] {
        operations.map(\.erased)
    }

    /// What the lines list, in their order.
    public static func buildBlock(_ parts: [AnyAsyncOperation]...) -> [AnyAsyncOperation] { parts.flatMap { $0 } }

    /// `if` without `else`.
    public static func buildOptional(_ part: [AnyAsyncOperation]?) -> [AnyAsyncOperation] { part ?? [] }

    /// `if`, with `else`.
    public static func buildEither(first: [AnyAsyncOperation]) -> [AnyAsyncOperation] { first }

    /// `else`.
    public static func buildEither(second: [AnyAsyncOperation]) -> [AnyAsyncOperation] { second }

    /// `for`.
    public static func buildArray(_ parts: [[AnyAsyncOperation]]) -> [AnyAsyncOperation] { parts.flatMap { $0 } }
}
