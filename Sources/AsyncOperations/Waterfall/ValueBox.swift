/// What one job of a waterfall passes to the next, its type erased: the jobs on both sides agree on it. Unchecked,
/// because it has a subclass, which adds a value that is `Sendable`.
class AnyValueBox: @unchecked Sendable {
    func value<Value: Sendable>(as type: Value.Type = Value.self) -> Value {
        guard let box = self as? ValueBox<Value> else {
            preconditionFailure("a job of a waterfall was passed \(self) in place of \(type)")
        }
        return box.value
    }
}

final class ValueBox<Value: Sendable>: AnyValueBox, @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
