/// What one job of a waterfall hands to the next. Which type it holds, the jobs on both its sides agree on.
class Parcel {
    func contents<Value>(as type: Value.Type = Value.self) -> Value {
        guard let parcel = self as? ParcelOf<Value> else {
            preconditionFailure("a job of a waterfall was handed \(self) in place of \(type)")
        }
        return parcel.value
    }
}

final class ParcelOf<Value>: Parcel {
    let value: Value

    init(_ value: Value) { self.value = value }
}
