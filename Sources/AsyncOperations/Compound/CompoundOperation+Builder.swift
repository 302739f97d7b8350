extension CompoundOperation {
    /// Builds the list of members: one expression per line, with `if`, `switch`, `for` and arrays.
    @resultBuilder
    public enum Builder {
        /// One operation of any type.
        public static func buildExpression(_ operation: any AsyncOperationProtocol) -> [AnyAsyncOperation] {
            [operation.erased]
        }

        /// Several operations of any types.
        @_disfavoredOverload
        public static func buildExpression(_ operations: [any AsyncOperationProtocol]) -> [AnyAsyncOperation] {
            operations.map(\.erased)
        }

        /// The operations of all lines, in order.
        public static func buildBlock(_ parts: [AnyAsyncOperation]...) -> [AnyAsyncOperation] { parts.flatMap { $0 } }

        /// `if` without `else`.
        public static func buildOptional(_ part: [AnyAsyncOperation]?) -> [AnyAsyncOperation] { part ?? [] }

        /// The first branch of `if` and `else`, and of `switch`.
        public static func buildEither(first: [AnyAsyncOperation]) -> [AnyAsyncOperation] { first }

        /// The other branches.
        public static func buildEither(second: [AnyAsyncOperation]) -> [AnyAsyncOperation] { second }

        /// `for`.
        public static func buildArray(_ parts: [[AnyAsyncOperation]]) -> [AnyAsyncOperation] { parts.flatMap { $0 } }
    }
}
