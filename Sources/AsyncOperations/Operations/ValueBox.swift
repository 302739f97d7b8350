/// A value without its type: those who put it in and those who take it out agree on that. Unchecked, because it has a
/// subclass, which adds a value that is `Sendable`.
@usableFromInline class AnyValueBox: @unchecked Sendable {
    @usableFromInline init() {}

    @inlinable final func value<Value: Sendable>(as type: Value.Type = Value.self) -> Value {
        guard let box = self as? ValueBox<Value> else {
            preconditionFailure("found \(self) in place of \(type)")
        }
        return box.value
    }
}

@usableFromInline final class ValueBox<Value: Sendable>: AnyValueBox, @unchecked Sendable {
    @usableFromInline let value: Value

    @inlinable init(_ value: Value) { self.value = value }
}
