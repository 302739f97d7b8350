/// How a queue steers the scheduler that runs its operations, whatever its clock.
protocol OperationControl: AnyObject, Sendable {
    func cancel(_ id: OperationID)
    func setWidth(_ width: Int)
    func suspend()
    func resume()
    func add(_ expansion: OperationGraph, to group: OperationID)
    func close(_ group: OperationID)
    func unlink(dependent: OperationID, prerequisite: OperationID)
}

extension GraphExecutor: OperationControl {}
