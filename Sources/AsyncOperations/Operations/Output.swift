/// The value of an operation as the input of another: whoever is made `from:` it starts after it, and gets the value.
///
/// However often it is made into something else, it is read in one loop.
public struct Output<Value: Sendable>: Sendable {
    /// nil in and out where there is no value.
    typealias Transform = @Sendable (AnyValueBox?) -> AnyValueBox?

    /// The core of the operation that makes it; nil for a value that is there already.
    private let core: OperationCore?
    /// Which ends of that operation are waited for.
    private let kind: EdgeKind
    private let source: @Sendable () -> AnyValueBox?
    private let transforms: JobList<Transform>
    /// How many of the transforms are its own; others made from it may share the list.
    private let count: Int

    /// What `source` finds once `core` has had an end of that `kind`, made into something else.
    init(
        of core: OperationCore?, _ kind: EdgeKind = .success, source: @escaping @Sendable () -> AnyValueBox?,
        transforms: JobList<Transform> = JobList(), count: Int = 0
    ) {
        self.core = core
        self.kind = kind
        self.source = source
        self.transforms = transforms
        self.count = count
    }

    /// What `read` finds once `core` has had an end of that `kind`.
    init(of core: OperationCore?, _ kind: EdgeKind = .success, read: @escaping @Sendable () -> Value?) {
        self.init(of: core, kind, source: { read().map { ValueBox($0) } })
    }

    /// A value that is there already, in the place of another operation's.
    public init(_ value: Value) {
        self.init(of: nil) { value }
    }

    /// The operation that makes it; nil for a value that is there already.
    public var producer: AsyncOperationID? { core?.id }

    /// The same made into something else, whenever it is read.
    public func map<Other: Sendable>(_ transform: @escaping @Sendable (Value) -> Other) -> Output<Other> {
        appending(kind) { $0.map { ValueBox(transform($0.value())) } }
    }

    /// The same for those who go on without it: they start after any end of the operation, and get nil where it did not
    /// succeed.
    public var optional: Output<Value?> {
        appending(.done) { ValueBox($0.map { $0.value(as: Value.self) }) }
    }

    private func appending<Other: Sendable>(_ kind: EdgeKind, _ transform: @escaping Transform) -> Output<Other> {
        Output<Other>(
            of: core, kind, source: source, transforms: transforms.appending(transform, after: count), count: count + 1)
    }

    /// nil where there is no value, because the operation did not succeed.
    func read() -> Value? {
        var value = source()
        for transform in transforms.prefix(count) { value = transform(value) }
        return value.map { $0.value() }
    }

    var need: OperationCore.Need? {
        core.map { OperationCore.Need(core: $0, kind: kind, carriesData: true) }
    }
}

extension AsyncOperation {
    /// Its value, for operations that are made `from:` it.
    public var output: Output<Success> {
        Output(of: core, source: { [core] in core.value })
    }

    /// How it ended, for operations that are made `from:` it and start after any end.
    public var resultOutput: Output<OperationResult<Success, Failure>> {
        Output(of: core, .done) { [core] in core.lifecycle.latestEnd.map { Self.result(of: core, $0) } }
    }
}

extension CompoundOperation {
    /// How it ended, for operations that are made `from:` it and start after any end.
    public var resultOutput: Output<OperationResult<[ChildReport], CompoundFailure>> {
        Output(of: core, .done) { [compound] in compound.lifecycle.latestEnd.map { compound.result(of: $0) } }
    }
}

extension [OperationCore.Need] {
    /// Adds one that carries data. Of two ends of the same operation, a success is what gives both a value.
    mutating func add(_ need: OperationCore.Need?) {
        guard let need else { return }
        if let index = firstIndex(where: { $0.core === need.core }) {
            if need.kind == .success { self[index].kind = .success }
        } else {
            append(need)
        }
    }
}
