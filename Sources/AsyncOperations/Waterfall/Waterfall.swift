/// A chain of jobs, each of which takes what the one before returned. The compiler checks the types between them. The
/// first job that throws ends the chain with its error, and later ones do not run.
///
/// A waterfall is a value that can be run any number of times, each time as one operation. All its jobs run in one
/// loop, and a job without options costs no more than its call.
public struct Waterfall<Input: Sendable, Output: Sendable, Failure: Error>: Sendable {
    @usableFromInline let jobs: JobChain

    @usableFromInline init(_ jobs: JobChain) { self.jobs = jobs }

    /// A waterfall without jobs, which returns its input.
    public init(
        _ name: String = "", from input: Input.Type = Input.self, failure: Failure.Type = Failure.self
    ) where Input == Output {
        self.init(JobChain(name))
    }

    /// Its name for reports; empty if it has none.
    public var name: String { jobs.name }

    /// The names of its jobs, in order; empty for a job without a name. The job that runs has the index
    /// `progress.completed` of the operation.
    public var jobNames: [String] { jobs.elements.map(\.name) }

    /// An operation that runs the jobs on `input`. Its progress counts jobs.
    ///
    /// A request to cancel reaches the job that runs, and no other starts. While the operation or its queue is
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

    /// Runs the jobs on `input`. Cancelling the calling task cancels them, and the call still waits for the job that
    /// runs.
    ///
    /// Jobs have the priority and the task-local values of the caller. Their mutexes have no effect, because they hold
    /// within a queue only. `clock` measures timeouts and back-offs; its `sleep` must throw only when its task is
    /// cancelled.
    ///
    /// Throws for every end but a success, and `refused(.invalidTimeout)` because of a job's timeout.
    public func run(
        _ input: Input, clock: any Clock<Duration> = ContinuousClock()
    ) async throws(OperationFailure<Failure>) -> Output {
        let operation = operation(input)
        return try await operation.value { () throws(UsageError) in
            try operation.core.start(clock: clock)
        }
    }
}
