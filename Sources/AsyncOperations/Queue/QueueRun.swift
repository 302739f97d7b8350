/// A time in which a queue has something to do, and the scheduler that does it. An idle queue has none: no task, no
/// sleeper and no rows of operations long gone.
struct QueueRun: Sendable {
    let table: OperationTable
    let control: any OperationControl
}
