/// How many parts of an operation or a queue are done.
public struct OperationProgress: Sendable, Hashable {
    /// The parts that have ended, whatever their outcome.
    public var completed: Int
    /// All parts known so far; it may grow.
    public var total: Int

    /// `completed` parts of `total`.
    public init(completed: Int, total: Int) {
        self.completed = completed
        self.total = total
    }
}

extension OperationProgress: CustomStringConvertible {
    /// The parts that have ended, and all of them, such as `2 of 5`.
    public var description: String { "\(completed) of \(total)" }
}
