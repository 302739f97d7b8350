/// Jobs one after the other, each of which gets what the one before returned. The types are checked where jobs are put
/// together; the first that throws ends the whole with its error, and the rest is not entered.
///
/// A waterfall is a value that can be run any number of times, each time as one operation. However many jobs it has,
/// they run in one loop, and a job without options costs no more than its call.
public struct Waterfall<Input: Sendable, Output: Sendable, Failure: Error>: Sendable {
    @usableFromInline let jobs: JobChain

    @usableFromInline init(_ jobs: JobChain) { self.jobs = jobs }

    /// A waterfall without jobs, which gives back what it is given.
    public init(
        _ name: String = "", from input: Input.Type = Input.self, failure: Failure.Type = Failure.self
    ) where Input == Output {
        self.init(JobChain(name))
    }

    /// For reports; empty where none was given.
    public var name: String { jobs.name }

    /// The names of its jobs, in their order, empty where none was given: the one that runs is number
    /// `progress.completed` of its operation.
    public var jobNames: [String] { jobs.elements.map(\.name) }

    /// An operation that runs the jobs on `input`. Its progress counts jobs.
    ///
    /// A request to cancel reaches the job that runs, and none starts after it. While its queue is suspended, or the
    /// operation itself where it was started by itself, no job starts either. The mutexes of all jobs are added to
    /// those of `options`: they are taken together when the operation starts and held to its end, because nobody waits
    /// for a mutex while holding another.
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

    /// Runs the jobs on `input`. Cancelling the calling task cancels them, and the call still returns only after the
    /// job that runs has ended. Jobs have the priority and the task-local values of the caller; their mutexes mean
    /// nothing, because they hold within a queue. Throws `refused(.invalidTimeout)` for the limit of a job.
    public func run(
        _ input: Input, clock: any Clock<Duration> = ContinuousClock()
    ) async throws(OperationFailure<Failure>) -> Output {
        let operation = operation(input)
        return try await operation.value { () throws(UsageError) in
            try operation.core.start(clock: clock, inherits: true)
        }
    }
}
