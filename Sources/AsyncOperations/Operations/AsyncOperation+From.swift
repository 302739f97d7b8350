// Operations that take the values of one to six others, without a context or with one.
//
// Written out, because the compiler crashes on mistakes in a closure that takes a parameter pack. Where a mistake fits
// both forms alike, the compiler can explain it for one of them only because the other is disfavored.

extension AsyncOperation {
    /// An operation that depends on the producer of `first`, and gets its value. If that does not succeed, `body` never
    /// runs.
    ///
    /// It does not keep its producer from being abandoned: keep a handle of it until it is started or in a queue.
    public convenience init<First: Sendable>(
        _ name: String = "", from first: Output<First>, options: OperationOptions = OperationOptions(),
        body: @escaping @Sendable (First) async throws(Failure) -> Success
    ) {
        self.init(name, from: first, options: options) { (_: AsyncOperationContext, first) async throws(Failure) in
            try await body(first)
        }
    }

    /// The same for a body that also takes a context.
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

    /// An operation that depends on two producers, and gets their values; as with one.
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

    /// The same with two producers, for a body that also takes a context.
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

    /// An operation that depends on three producers, and gets their values; as with one.
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

    /// The same with three producers, for a body that also takes a context.
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

    /// An operation that depends on four producers, and gets their values; as with one.
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

    /// The same with four producers, for a body that also takes a context.
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

    /// An operation that depends on five producers, and gets their values; as with one.
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

    /// The same with five producers, for a body that also takes a context.
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

    /// An operation that depends on six producers, and gets their values; as with one.
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

    /// The same with six producers, for a body that also takes a context.
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
