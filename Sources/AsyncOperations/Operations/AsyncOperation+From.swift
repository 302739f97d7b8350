// Operations that take the values of one to six others, with or without a context.
//
// The overloads are written out because the compiler crashes on mistakes in a closure that takes a parameter pack.
// One form is disfavored, because only then can the compiler explain a mistake that fits both.

extension AsyncOperation {
    /// Creates an operation that depends on the producer of `first` and passes its value to `body`. If the producer
    /// does not succeed, `body` never runs.
    ///
    /// The operation does not keep its producer from being abandoned: keep a handle of the producer until it is
    /// started or in a queue.
    public convenience init<First: Sendable>(
        _ name: String = "", from first: Output<First>, options: OperationOptions = OperationOptions(),
        body: @escaping @Sendable (First) async throws(Failure) -> Success
    ) {
        self.init(name, from: first, options: options) { (_: AsyncOperationContext, first) async throws(Failure) in
            try await body(first)
        }
    }

    /// Creates an operation that depends on the producer of `first`, with a body that also takes a context.
    @_disfavoredOverload
    public convenience init<First: Sendable>(
        _ name: String = "", from first: Output<First>, options: OperationOptions = OperationOptions(),
        body: @escaping @Sendable (AsyncOperationContext, First) async throws(Failure) -> Success
    ) {
        self.init(name, options, needs: .all(first.need)) { context, core in
            guard let first = first.read() else { return .stopped(.abandoned) }
            return await core.end { () async throws(Failure) in try await body(context, first) }
        }
    }

    /// Creates an operation that depends on two producers and passes their values to `body`, which never runs if one
    /// of them does not succeed.
    public convenience init<First: Sendable, Second: Sendable>(
        _ name: String = "", from first: Output<First>, _ second: Output<Second>,
        options: OperationOptions = OperationOptions(),
        body: @escaping @Sendable (First, Second) async throws(Failure) -> Success
    ) {
        self.init(
            name, from: first, second, options: options
        ) { (_: AsyncOperationContext, first, second) async throws(Failure) in
            try await body(first, second)
        }
    }

    /// Creates an operation that depends on two producers, with a body that also takes a context.
    @_disfavoredOverload
    public convenience init<First: Sendable, Second: Sendable>(
        _ name: String = "", from first: Output<First>, _ second: Output<Second>,
        options: OperationOptions = OperationOptions(),
        body: @escaping @Sendable (AsyncOperationContext, First, Second) async throws(Failure) -> Success
    ) {
        self.init(name, options, needs: .all(first.need, second.need)) { context, core in
            guard let first = first.read(), let second = second.read() else { return .stopped(.abandoned) }
            return await core.end { () async throws(Failure) in try await body(context, first, second) }
        }
    }

    /// Creates an operation that depends on three producers and passes their values to `body`, which never runs if
    /// one of them does not succeed.
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable>(
        _ name: String = "", from first: Output<First>, _ second: Output<Second>, _ third: Output<Third>,
        options: OperationOptions = OperationOptions(),
        body: @escaping @Sendable (First, Second, Third) async throws(Failure) -> Success
    ) {
        self.init(
            name, from: first, second, third, options: options
        ) { (_: AsyncOperationContext, first, second, third) async throws(Failure) in
            try await body(first, second, third)
        }
    }

    /// Creates an operation that depends on three producers, with a body that also takes a context.
    @_disfavoredOverload
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable>(
        _ name: String = "", from first: Output<First>, _ second: Output<Second>, _ third: Output<Third>,
        options: OperationOptions = OperationOptions(),
        body: @escaping @Sendable (AsyncOperationContext, First, Second, Third) async throws(Failure) -> Success
    ) {
        self.init(name, options, needs: .all(first.need, second.need, third.need)) { context, core in
            guard let first = first.read(),
                let second = second.read(),
                let third = third.read()
            else { return .stopped(.abandoned) }
            return await core.end { () async throws(Failure) in try await body(context, first, second, third) }
        }
    }

    /// Creates an operation that depends on four producers and passes their values to `body`, which never runs if one
    /// of them does not succeed.
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable>(
        _ name: String = "", from first: Output<First>, _ second: Output<Second>, _ third: Output<Third>,
        _ fourth: Output<Fourth>, options: OperationOptions = OperationOptions(),
        body: @escaping @Sendable (First, Second, Third, Fourth) async throws(Failure) -> Success
    ) {
        self.init(
            name, from: first, second, third, fourth, options: options
        ) { (_: AsyncOperationContext, first, second, third, fourth) async throws(Failure) in
            try await body(first, second, third, fourth)
        }
    }

    /// Creates an operation that depends on four producers, with a body that also takes a context.
    @_disfavoredOverload
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable>(
        _ name: String = "", from first: Output<First>, _ second: Output<Second>, _ third: Output<Third>,
        _ fourth: Output<Fourth>, options: OperationOptions = OperationOptions(),
        body: @escaping @Sendable (AsyncOperationContext, First, Second, Third, Fourth) async throws(Failure) -> Success
    ) {
        self.init(name, options, needs: .all(first.need, second.need, third.need, fourth.need)) { context, core in
            guard let first = first.read(),
                let second = second.read(),
                let third = third.read(),
                let fourth = fourth.read()
            else { return .stopped(.abandoned) }
            return await core.end { () async throws(Failure) in
                try await body(context, first, second, third, fourth)
            }
        }
    }

    /// Creates an operation that depends on five producers and passes their values to `body`, which never runs if one
    /// of them does not succeed.
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable>(
        _ name: String = "", from first: Output<First>, _ second: Output<Second>, _ third: Output<Third>,
        _ fourth: Output<Fourth>, _ fifth: Output<Fifth>, options: OperationOptions = OperationOptions(),
        body: @escaping @Sendable (First, Second, Third, Fourth, Fifth) async throws(Failure) -> Success
    ) {
        self.init(
            name, from: first, second, third, fourth, fifth, options: options
        ) { (_: AsyncOperationContext, first, second, third, fourth, fifth) async throws(Failure) in
            try await body(first, second, third, fourth, fifth)
        }
    }

    /// Creates an operation that depends on five producers, with a body that also takes a context.
    @_disfavoredOverload
    public convenience init<First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable>(
        _ name: String = "", from first: Output<First>, _ second: Output<Second>, _ third: Output<Third>,
        _ fourth: Output<Fourth>, _ fifth: Output<Fifth>, options: OperationOptions = OperationOptions(),
        body:
            @escaping @Sendable (AsyncOperationContext, First, Second, Third, Fourth, Fifth)
            async throws(Failure) -> Success
    ) {
        self.init(
            name, options, needs: .all(first.need, second.need, third.need, fourth.need, fifth.need)
        ) { context, core in
            guard let first = first.read(),
                let second = second.read(),
                let third = third.read(),
                let fourth = fourth.read(),
                let fifth = fifth.read()
            else { return .stopped(.abandoned) }
            return await core.end { () async throws(Failure) in
                try await body(context, first, second, third, fourth, fifth)
            }
        }
    }

    /// Creates an operation that depends on six producers and passes their values to `body`, which never runs if one
    /// of them does not succeed.
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable
    >(
        _ name: String = "", from first: Output<First>, _ second: Output<Second>, _ third: Output<Third>,
        _ fourth: Output<Fourth>, _ fifth: Output<Fifth>, _ sixth: Output<Sixth>,
        options: OperationOptions = OperationOptions(),
        body: @escaping @Sendable (First, Second, Third, Fourth, Fifth, Sixth) async throws(Failure) -> Success
    ) {
        self.init(
            name, from: first, second, third, fourth, fifth, sixth, options: options
        ) { (_: AsyncOperationContext, first, second, third, fourth, fifth, sixth) async throws(Failure) in
            try await body(first, second, third, fourth, fifth, sixth)
        }
    }

    /// Creates an operation that depends on six producers, with a body that also takes a context.
    @_disfavoredOverload
    public convenience init<
        First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable, Sixth: Sendable
    >(
        _ name: String = "", from first: Output<First>, _ second: Output<Second>, _ third: Output<Third>,
        _ fourth: Output<Fourth>, _ fifth: Output<Fifth>, _ sixth: Output<Sixth>,
        options: OperationOptions = OperationOptions(),
        body:
            @escaping @Sendable (AsyncOperationContext, First, Second, Third, Fourth, Fifth, Sixth)
            async throws(Failure) -> Success
    ) {
        self.init(
            name, options, needs: .all(first.need, second.need, third.need, fourth.need, fifth.need, sixth.need)
        ) { context, core in
            guard let first = first.read(),
                let second = second.read(),
                let third = third.read(),
                let fourth = fourth.read(),
                let fifth = fifth.read(),
                let sixth = sixth.read()
            else { return .stopped(.abandoned) }
            return await core.end { () async throws(Failure) in
                try await body(context, first, second, third, fourth, fifth, sixth)
            }
        }
    }
}
