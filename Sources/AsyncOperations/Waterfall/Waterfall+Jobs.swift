extension Waterfall {
    /// The same with one more job at its end, which gets the value that is there.
    public func then<Next: Sendable>(
        _ job: @escaping @Sendable (Output) async throws(Failure) -> Next
    ) -> Waterfall<Input, Next, Failure> {
        then("", job)
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
        let plain: WaterfallJob<Failure>.Plain = { (input: AnyValueBox) async throws(Failure) -> AnyValueBox in
            ValueBox(try await job(input.value()))
        }
        let options = JobOptions(timeout: timeout, retry: retry, retriesError: retriesError)
        let work: WaterfallJob<Failure>.Work =
            options.isDefault
            ? .plain(plain)
            : .controlled(
                { _, input in
                    do throws(Failure) { return .success(try await plain(input)) } catch { return .failure(error) }
                }, options)
        return appending(WaterfallJob(name: name, work: work), timeout: timeout, mutexes: mutexes)
    }

    /// The same with a job that gets a context too: its name and attempt, requests to stop it, which its own limit may
    /// make as well, and all else that the body of an operation may ask for.
    public func then<Next: Sendable>(
        _ name: String = "", timeout: Duration? = nil, retry: RetryPolicy? = nil,
        retriesError: (@Sendable (Failure) -> Bool)? = nil, mutexes: Set<String> = [],
        _ job: @escaping @Sendable (AsyncOperationContext, Output) async throws(Failure) -> Next
    ) -> Waterfall<Input, Next, Failure> {
        let options = JobOptions(timeout: timeout, retry: retry, retriesError: retriesError)
        let work: WaterfallJob<Failure>.Controlled = { control, input in
            let context = AsyncOperationContext(control: control, jobName: name)
            do throws(Failure) {
                return .success(ValueBox(try await job(context, input.value())))
            } catch {
                return .failure(error)
            }
        }
        return appending(
            WaterfallJob(name: name, work: .controlled(work, options)), timeout: timeout, mutexes: mutexes)
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
        let options = JobOptions(timeout: timeout, retry: retry, retriesError: retriesError)
        let work: WaterfallJob<Failure>.Controlled = { control, input in
            let context = AsyncOperationContext(control: control, jobName: name)
            let result = await Completion<Next, Failure>.result(of: control, whenStopped: whenStopped) {
                callback(context, input.value(), $0)
            }
            return result?.map { ValueBox($0) as AnyValueBox }
        }
        return appending(
            WaterfallJob(name: name, work: .controlled(work, options)), timeout: timeout, mutexes: mutexes)
    }
}
