internal import OperationScheduling

/// What rows are added to: the graph of a run, and the rows that join it later.
protocol OperationRows {
    @discardableResult
    mutating func addOperation(_ options: OperationGraph.Options) -> OperationID

    @discardableResult
    mutating func beginGroup(
        _ options: OperationGraph.Options, limit: ConcurrencyLimit, failFast: FailFast?, isExpandable: Bool,
        concludes: Bool, isOpen: Bool
    ) -> OperationID

    @discardableResult
    mutating func beginHook(_ kind: Hook) -> OperationID

    mutating func endGroup()

    mutating func addDependency(of dependent: OperationID, on prerequisite: OperationID, _ kind: EdgeKind)
}

extension OperationGraph: OperationRows {}
extension OperationGraph.Expansion: OperationRows {}
