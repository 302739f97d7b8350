/// The value of an operation as an input of another operation, which is created `from:` it, starts after it and gets
/// the value.
///
/// An output does not keep its producer from being abandoned: keep a handle of the producer until it is started or
/// belongs to a queue or compound operation. Any number of `map` calls are applied in a loop, without recursion.
public struct Output<Value: Sendable>: Sendable {
    /// Takes and returns nil if there is no value.
    typealias Transform = @Sendable (AnyValueBox?) -> AnyValueBox?

    /// The core of the producer; nil for a value that was passed in.
    private let core: OperationCore?
    /// The end that the producer must have.
    private let kind: DependencyKind
    private let source: @Sendable () -> AnyValueBox?
    private let transforms: JobList<Transform>
    /// The number of transforms that belong to this output; outputs made from it may share the list.
    private let count: Int

    /// Creates the output of `core`: the result of `source`, called once `core` has ended as `kind` requires, after
    /// `count` transforms.
    init(
        of core: OperationCore?, _ kind: DependencyKind = .success, source: @escaping @Sendable () -> AnyValueBox?,
        transforms: JobList<Transform> = JobList(), count: Int = 0
    ) {
        self.core = core
        self.kind = kind
        self.source = source
        self.transforms = transforms
        self.count = count
    }

    /// Creates the output of `core`: the result of `read`, called once `core` has ended as `kind` requires.
    init(of core: OperationCore?, _ kind: DependencyKind = .success, read: @escaping @Sendable () -> Value?) {
        self.init(of: core, kind, source: { read().map { ValueBox($0) } })
    }

    /// Creates an output from a known value, in place of an operation's.
    public init(_ value: Value) {
        self.init(of: nil) { value }
    }

    /// The operation that produces the value; nil for a value that was passed in.
    public var producer: AsyncOperationID? { core?.id }

    /// Returns the output after `transform`, which is called each time the value is read.
    public func map<Other: Sendable>(_ transform: @escaping @Sendable (Value) -> Other) -> Output<Other> {
        appending(kind) { $0.map { ValueBox(transform($0.value())) } }
    }

    /// The output for operations that do not require the value: they start after any end of the producer, and get nil
    /// if it did not succeed.
    public var optional: Output<Value?> {
        appending(.done) { ValueBox($0.map { $0.value(as: Value.self) }) }
    }

    private func appending<Other: Sendable>(_ kind: DependencyKind, _ transform: @escaping Transform) -> Output<Other> {
        Output<Other>(
            of: core, kind, source: source, transforms: transforms.appending(transform, after: count), count: count + 1)
    }

    /// Returns the value; nil if there is none because the producer did not succeed.
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
    /// The value, for operations that are created `from:` it. Keep a handle of this operation until it is started:
    /// its output does not keep it from being abandoned.
    public var output: Output<Success> {
        Output(of: core, source: { [core] in core.value })
    }

    /// The result, for operations that are created `from:` it and start after any end.
    public var resultOutput: Output<Result<Success, OperationFailure<Failure>>> {
        Output(of: core, .done) { [core] in core.lifecycle.latestEnd.map { Self.result(of: core, $0) } }
    }
}

extension CompoundOperation {
    /// The result, for operations that are created `from:` it and start after any end.
    public var resultOutput: Output<Result<[OperationReport], OperationFailure<CompoundOperation.Failure>>> {
        Output(of: core, .done) { [compound] in compound.lifecycle.latestEnd.map { compound.result(of: $0) } }
    }
}

extension [OperationCore.Need] {
    /// The dependencies of an operation that takes the values of several others. A nil is a value that was passed in.
    static func all(_ needs: OperationCore.Need?...) -> Self {
        var list: Self = []
        for need in needs { list.add(need) }
        return list
    }

    /// Adds a dependency that carries data. Two dependencies on the same producer become one, which requires a
    /// success if either does, because only then do both get a value.
    mutating func add(_ need: OperationCore.Need?) {
        guard let need else { return }
        if let index = firstIndex(where: { $0.core === need.core }) {
            if need.kind == .success { self[index].kind = .success }
        } else {
            append(need)
        }
    }
}
