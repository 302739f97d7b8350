/// The value of an operation as the input of another: whoever is made `from:` it starts after it, and gets the value.
public struct Output<Value: Sendable>: Sendable {
    /// The core of the operation that makes it; nil for a value that is there already.
    let core: OperationCore?
    /// nil where there is no value, because the operation did not succeed.
    let read: @Sendable () -> Value?

    init(of core: OperationCore?, read: @escaping @Sendable () -> Value?) {
        self.core = core
        self.read = read
    }

    /// A value that is there already, in the place of another operation's.
    public init(_ value: Value) {
        self.init(of: nil) { value }
    }

    /// The operation that makes it; nil for a value that is there already.
    public var producer: AsyncOperationID? { core?.id }

    /// The same made into something else, whenever it is read.
    public func map<Other: Sendable>(_ transform: @escaping @Sendable (Value) -> Other) -> Output<Other> {
        Output<Other>(of: core) { [read] in read().map(transform) }
    }

    var need: OperationCore.Need? {
        core.map { OperationCore.Need(core: $0, kind: .success, carriesData: true) }
    }
}
