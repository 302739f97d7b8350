/// How much of something is done.
public struct OperationProgress: Sendable, Hashable {
    /// The parts that are over, however they ended.
    public var completed: Int
    /// All parts that are known by now.
    public var total: Int

    /// So many parts of so many.
    public init(completed: Int, total: Int) {
        self.completed = completed
        self.total = total
    }
}
