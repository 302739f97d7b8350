extension Waterfall {
    /// The waterfall with one more job at its end, which takes the value of the job before.
    @inlinable public func then<Next: Sendable>(
        _ job: @escaping @Sendable (Output) async throws(Failure) -> Next
    ) -> Waterfall<Input, Next, Failure> {
        Waterfall<Input, Next, Failure>(jobs.appending { ValueBox(try await job($0.value())) })
    }

    /// The waterfall with one more job at its end.
    ///
    /// `timeout` is the longest that one attempt of the job may take; nil means no limit. When it passes, the job's
    /// task is cancelled and waited for. The job is then tried again if `retry` says so, otherwise the operation times
    /// out. `retriesError` says which errors are worth another attempt; nil means all. Back-offs end at once on a
    /// cancel, and no attempt starts while the queue is suspended. `mutexes` are acquired with those of all jobs; see
    /// `operation`.
    ///
    /// A timeout or a deadline of retries that is zero or less is refused when the operation is started.
    @_disfavoredOverload
    public func then<Next: Sendable>(
        _ name: String = "", timeout: Duration? = nil, retry: RetryPolicy? = nil,
        retriesError: (@Sendable (Failure) -> Bool)? = nil, mutexes: Set<String> = [],
        _ job: @escaping @Sendable (Output) async throws(Failure) -> Next
    ) -> Waterfall<Input, Next, Failure> {
        let options = Self.options(timeout, retry, retriesError, mutexes)
        return Waterfall<Input, Next, Failure>(
            jobs.appending(name, options, plain: { ValueBox(try await job($0.value())) }))
    }

    /// The waterfall with one more job at its end, which also takes a context: its name and attempt, requests to stop
    /// it, also because of its own timeout, and everything else that the body of an operation may ask for.
    @_disfavoredOverload
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

    /// The waterfall with one more job at its end, which ends when its `Completion` is called, from any thread, during
    /// or long after `callback`. Dropping the last copy of it ends the operation as `cancelled(.abandoned)`.
    ///
    /// `whenStopped` says what a request to stop does, also because of the job's own timeout: wait for the completion
    /// all the same, or leave the work behind.
    @_disfavoredOverload
    public func then<Next: Sendable>(
        _ name: String = "", timeout: Duration? = nil, retry: RetryPolicy? = nil,
        retriesError: (@Sendable (Failure) -> Bool)? = nil, mutexes: Set<String> = [], whenStopped: StopBehavior,
        callback: @escaping @Sendable (Output, Completion<Next, Failure>) -> Void
    ) -> Waterfall<Input, Next, Failure> {
        then(
            name, timeout: timeout, retry: retry, retriesError: retriesError, mutexes: mutexes, whenStopped: whenStopped
        ) { _, output, completion in callback(output, completion) }
    }

    /// The same for a callback that also takes a context. Do not let an `onCancel` handler of the context capture the
    /// completion; use `Completion.onStop`.
    @_disfavoredOverload
    public func then<Next: Sendable>(
        _ name: String = "", timeout: Duration? = nil, retry: RetryPolicy? = nil,
        retriesError: (@Sendable (Failure) -> Bool)? = nil, mutexes: Set<String> = [], whenStopped: StopBehavior,
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
