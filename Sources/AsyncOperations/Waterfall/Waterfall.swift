/// Jobs one after the other, each of which gets what the one before returned. The types are checked where jobs are put
/// together; the first that throws ends the whole with its error, and the rest is not entered.
///
/// A waterfall is a value that can be run any number of times, each time as one operation. However many jobs it has, they
/// run in one loop.
public struct Waterfall<Input: Sendable, Output: Sendable, Failure: Error>: Sendable {
    typealias Job = @Sendable (AnyValueBox) async throws(Failure) -> AnyValueBox

    /// For reports; empty where none was given.
    public let name: String
    private let jobs: JobList<Job>
    /// How many of the jobs are its own; longer waterfalls may share the list.
    private let count: Int

    private init(name: String, jobs: JobList<Job>, count: Int) {
        self.name = name
        self.jobs = jobs
        self.count = count
    }

    /// A waterfall without jobs, which gives back what it is given.
    public init(
        _ name: String = "", from input: Input.Type = Input.self, failure: Failure.Type = Failure.self
    ) where Input == Output {
        self.init(name: name, jobs: JobList(), count: 0)
    }

    /// The same with one more job at its end.
    public func then<Next: Sendable>(
        _ job: @escaping @Sendable (Output) async throws(Failure) -> Next
    ) -> Waterfall<Input, Next, Failure> {
        let step: Job = { (input: AnyValueBox) async throws(Failure) -> AnyValueBox in
            ValueBox(try await job(input.value()))
        }
        return Waterfall<Input, Next, Failure>(name: name, jobs: jobs.appending(step, after: count), count: count + 1)
    }

    /// An operation that runs the jobs on `input`.
    ///
    /// A request to cancel reaches the job that runs, and none starts after it. While its queue is suspended, or the
    /// operation itself where it was started by itself, no job starts either.
    public func operation(
        _ input: Input, options: OperationOptions = OperationOptions()
    ) -> AsyncOperation<Output, Failure> {
        let jobs = jobs.prefix(count)
        return AsyncOperation(name, options) { context, box in
            var value: AnyValueBox = ValueBox(input)
            for job in jobs {
                await context.waitWhileSuspended()
                if let reason = context.cancellationReason { return .stopped(reason) }
                do throws(Failure) {
                    value = try await job(value)
                } catch {
                    return box.end(with: .failure(error))
                }
            }
            return box.end(with: .success(value.value()))
        }
    }

    /// Runs the jobs on `input`. Cancelling the calling task cancels them, and the call still returns only after the
    /// job that runs has ended.
    public func run(
        _ input: Input, clock: any Clock<Duration> = ContinuousClock()
    ) async throws(OperationFailure<Failure>) -> Output {
        let operation = operation(input)
        let result = await withTaskCancellationHandler {
            // A new operation can be started.
            try? operation.start(clock: clock)
            return await operation.result
        } onCancel: {
            operation.cancel()
        }
        return try result.get()
    }
}
