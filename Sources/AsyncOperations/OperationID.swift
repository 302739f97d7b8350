/// The row of an operation or group in its `OperationGraph`.
public struct OperationID: Hashable, Comparable, Sendable {
    let value: UInt32

    init(_ row: Int) { value = UInt32(row) }

    /// The operation or group that was added as number `row`, the outermost group being 0.
    public init(row: Int) { value = UInt32(row) }

    /// The row, from 0, in the order in which the graph was built.
    public var row: Int { Int(value) }

    /// The outermost group, which every graph has.
    public static let root = OperationID(0)

    /// The order in which the graph was built.
    public static func < (left: OperationID, right: OperationID) -> Bool { left.value < right.value }
}

extension OperationID: CustomStringConvertible {
    /// The row, such as `#12`.
    public var description: String { "#\(value)" }
}
