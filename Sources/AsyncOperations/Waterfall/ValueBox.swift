/// What one job of a waterfall passes to the next, its type erased: the jobs on both sides agree on it.
class AnyValueBox {
    func value<Value>(as type: Value.Type = Value.self) -> Value {
        guard let box = self as? ValueBox<Value> else {
            preconditionFailure("a job of a waterfall was passed \(self) in place of \(type)")
        }
        return box.value
    }
}

final class ValueBox<Value>: AnyValueBox {
    let value: Value

    init(_ value: Value) { self.value = value }
}
