extension Waterfall {
    /// The same with one more job at its end, which gets the value that is there.
    @inlinable public func then<Next: Sendable>(
        _ job: @escaping @Sendable (Output) async throws(Failure) -> Next
    ) -> Waterfall<Input, Next, Failure> {
        Waterfall<Input, Next, Failure>(jobs.appending { ValueBox(try await job($0.value())) })
    }

    /// The same with one more job at its end, which gets the value that is there.
    ///
    /// `timeout` is the longest that one attempt of the job may take: when it passes, the job is told to stop, by the
    /// cancellation of its task, and waited for; then it is tried again if `retry` says so, else the operation ends as
    /// timed out. `retriesError` says which errors are worth another attempt, nil meaning all. Back-offs are measured on
    /// the queue's clock and end at once on a cancel, and no attempt starts while the queue is suspended. `mutexes` are
    /// taken with those of all jobs, see `operation`. A timeout of zero or less is refused where the operation starts.
    public func then<Next: Sendable>(
        _ name: String = "", timeout: Duration? = nil, retry: RetryPolicy? = nil,
        retriesError: (@Sendable (Failure) -> Bool)? = nil, mutexes: Set<String> = [],
        _ job: @escaping @Sendable (Output) async throws(Failure) -> Next
    ) -> Waterfall<Input, Next, Failure> {
        let options = Self.options(timeout, retry, retriesError, mutexes)
        return Waterfall<Input, Next, Failure>(
            jobs.appending(name, options, plain: { ValueBox(try await job($0.value())) }))
    }

    /// The same with a job that gets a context too: its name and attempt, requests to stop it, which its own limit may
    /// make as well, and all else that the body of an operation may ask for.
    public func then<Next: Sendable>(
        _ name: String = "", timeout: Duration? = nil, retry: RetryPolicy? = nil,
        retriesError: (@Sendable (Failure) -> Bool)? = nil, mutexes: Set<String> = [],
        _ job: @escaping @Sendable (AsyncOperationContext, Output) async throws(Failure) -> Next
    ) -> Waterfall<Input, Next, Failure> {
        let options = Self.options(timeout, retry, retriesError, mutexes)
        return Waterfall<Input, Next, Failure>(
            jobs.appending(name, options) { control, input in
                let context = AsyncOperationContext(control: control, jobName: name)
                do throws(Failure) {
                    return .value(ValueBox(try await job(context, input.value())))
                } catch {
                    return .error(error)
                }
            })
    }

    /// The same with a job that ends when its `Completion` is told so, once and from any thread, however much later
    /// `callback` has returned. When the last copy is dropped, the operation ends as `cancelled(.abandoned)`.
    ///
    /// `whenStopped` says what a request to stop means, its own limit included: to wait until the completion is called
    /// all the same, or to leave whatever goes on behind.
    public func then<Next: Sendable>(
        _ name: String = "", timeout: Duration? = nil, retry: RetryPolicy? = nil,
        retriesError: (@Sendable (Failure) -> Bool)? = nil, mutexes: Set<String> = [],
        whenStopped: StopBehavior = .wait,
        callback: @escaping @Sendable (AsyncOperationContext, Output, Completion<Next, Failure>) -> Void
    ) -> Waterfall<Input, Next, Failure> {
        let options = Self.options(timeout, retry, retriesError, mutexes)
        return Waterfall<Input, Next, Failure>(
            jobs.appending(name, options) { control, input in
                let context = AsyncOperationContext(control: control, jobName: name)
                let result = await Completion<Next, Failure>.result(of: control, whenStopped: whenStopped) {
                    callback(context, input.value(), $0)
                }
                return Made(result)
            })
    }

    private static func options(
        _ timeout: Duration?, _ retry: RetryPolicy?, _ retriesError: (@Sendable (Failure) -> Bool)?,
        _ mutexes: Set<String>
    ) -> JobOptions {
        var options = JobOptions(timeout: timeout, retry: retry, mutexes: mutexes)
        if let retriesError { options.retriesError = { ($0 as? Failure).map(retriesError) ?? true } }
        return options
    }
}
