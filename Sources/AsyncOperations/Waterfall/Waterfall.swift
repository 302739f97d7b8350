/// A chain of jobs, each of which takes the value that the one before returned. The compiler checks the types between
/// them. The first job that throws ends the chain with its error, and later jobs do not run.
///
/// A waterfall is a value that can be run any number of times, each time as one operation. All its jobs run in one
/// loop, and a job without options costs no more than its call.
public struct Waterfall<Input: Sendable, Output: Sendable, Failure: Error>: Sendable {
    @usableFromInline let jobs: JobChain

    @usableFromInline init(_ jobs: JobChain) { self.jobs = jobs }

    /// Creates a waterfall without jobs, which returns its input.
    public init(
        _ name: String = "", from input: Input.Type = Input.self, failure: Failure.Type = Failure.self
    ) where Input == Output {
        self.init(JobChain(name))
    }

    /// The name for reports; empty if there is none.
    public var name: String { jobs.name }

    /// The names of its jobs, in order; empty for a job without a name. The running job has the index
    /// `progress.completed` of the operation.
    public var jobNames: [String] { jobs.elements.map(\.name) }

    /// Returns an operation that runs the jobs on `input`. Its progress counts jobs.
    ///
    /// A request to cancel reaches the running job, and no other job starts. While the operation or its queue is
    /// suspended, no further job starts. The mutexes of all jobs are added to those of `options`: the operation
    /// acquires them together when it starts and holds them to its end, because nothing may wait for a mutex while
    /// holding another.
    public func operation(
        _ input: Input, options: OperationOptions = OperationOptions()
    ) -> AsyncOperation<Output, Failure> {
        var options = options
        options.mutexes.formUnion(jobs.mutexes)
        options.invalidJobTimeout = jobs.invalidTimeout
        let operation = AsyncOperation<Output, Failure>(name, options) { [jobs] context, core in
            await jobs.run(on: ValueBox(input), for: core, in: context.control)
        }
        if jobs.count > 0 { operation.core.expect(jobs.count) }
        return operation
    }

    /// Runs the jobs on `input`. Cancelling the calling task cancels them, and the call still waits for the running
    /// job.
    ///
    /// Jobs have the priority and the task-local values of the caller. Their mutexes have no effect, because mutexes
    /// apply only within a queue. `clock` measures timeouts and back-offs; its `sleep` must throw only when its task
    /// is cancelled.
    ///
    /// Throws for every end other than a success, and throws `refused(.invalidTimeout)` because of a job's timeout.
    public func run(
        _ input: Input, clock: any Clock<Duration> = ContinuousClock()
    ) async throws(OperationFailure<Failure>) -> Output {
        let operation = operation(input)
        return try await operation.value { () throws(UsageError) in
            try operation.core.start(clock: clock)
        }
    }
}

extension Waterfall {
    /// Returns the waterfall with one more job at its end, which takes the value of the job before.
    @inlinable public func then<Next: Sendable>(
        _ job: @escaping @Sendable (Output) async throws(Failure) -> Next
    ) -> Waterfall<Input, Next, Failure> {
        Waterfall<Input, Next, Failure>(jobs.appending { ValueBox(try await job($0.value())) })
    }

    /// Returns the waterfall with one more job at its end.
    ///
    /// `timeout` is the longest time that one attempt of the job may take; nil means no limit. When it passes, the
    /// job's task is cancelled and awaited. The job is then tried again if `retry` allows it; otherwise the operation
    /// times out. `retriesError` selects the errors that are worth another attempt; nil means all. A cancel ends
    /// back-offs at once, and no attempt starts while the queue is suspended. `mutexes` are acquired with those of
    /// all jobs; see `operation`.
    ///
    /// A timeout or retry deadline of zero or less is refused when the operation is started.
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

    /// Returns the waterfall with one more job at its end, which also takes a context: its name and attempt, requests
    /// to stop it (also because of its own timeout), and everything else that the context of a body offers.
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

    /// Returns the waterfall with one more job at its end, which ends when its `Completion` is called, from any
    /// thread, during or long after `callback`. Dropping the last copy of the completion ends the operation as
    /// `cancelled(.abandoned)`.
    ///
    /// `whenStopped` determines the effect of a request to stop, also because of the job's own timeout: keep waiting
    /// for the completion, or leave the work behind.
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

    /// Returns the waterfall with one more job at its end, whose callback also takes a context. Do not capture the
    /// completion in an `onCancel` handler of the context; use `Completion.onStop`.
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

/// A job of a waterfall. It does not know the types of its input, value and error: the adjacent jobs agree on them.
@usableFromInline struct WaterfallJob: Sendable {
    /// A job that takes only a value. It costs one call.
    @usableFromInline typealias Plain = @Sendable (AnyValueBox) async throws -> AnyValueBox
    /// A job that reacts to requests to stop itself. Its result is `nothing` if it was left behind, or if nothing can
    /// finish it any more.
    typealias Controlled = @Sendable (BodyControl, AnyValueBox) async -> Made

    enum Work: Sendable {
        case plain(Plain)
        case controlled(Controlled, JobOptions)
    }

    let name: String
    let work: Work
}

/// The settings of a waterfall's job, apart from its work.
struct JobOptions: Sendable {
    /// The longest time that one attempt may take.
    var timeout: Duration?
    var retry: RetryPolicy?
    /// Selects the errors that are worth another attempt; nil for all.
    var retriesError: (@Sendable (any Error) -> Bool)?
    var mutexes: Set<String> = []

    /// The timeout and the retry deadline, as far as they are set.
    var limits: [Duration] { [timeout, retry?.deadline].compactMap(\.self) }

    var isDefault: Bool { timeout == nil && retry == nil }
}
