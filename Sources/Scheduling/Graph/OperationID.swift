/// The row of an operation or group in its `OperationGraph`. Inlined everywhere, so that it costs what the number in it
/// would.
@usableFromInline
package struct OperationID: Hashable, Comparable, Sendable {
    @usableFromInline let value: UInt32

    init(_ row: Int) { value = UInt32(row) }

    /// The operation or group that was added as number `row`, the outermost group being 0.
    @inlinable
    package init(row: Int) { value = UInt32(row) }

    /// The row, from 0, in the order in which the graph was built.
    @inlinable package var row: Int { Int(value) }

    /// The outermost group, which every graph has.
    package static let root = OperationID(0)

    @inlinable
    package static func == (left: OperationID, right: OperationID) -> Bool { left.value == right.value }

    /// The order in which the graph was built.
    @inlinable
    package static func < (left: OperationID, right: OperationID) -> Bool { left.value < right.value }
}

extension OperationID: CustomStringConvertible {
    /// The row, such as `#12`.
    @usableFromInline package var description: String { "#\(value)" }
}
