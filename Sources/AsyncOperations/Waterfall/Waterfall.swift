/// Jobs one after the other, each of which gets what the one before returned. The types are checked where jobs are put
/// together; the first that throws ends the whole with its error, and the rest is not entered.
///
/// A waterfall is a value that can be run any number of times, each time as one operation. However many jobs it has, they
/// run in one loop, and a job without options costs no more than its call.
public struct Waterfall<Input: Sendable, Output: Sendable, Failure: Error>: Sendable {
    /// For reports; empty where none was given.
    public let name: String
    private let jobs: JobList<WaterfallJob<Failure>>
    /// How many of the jobs are its own; longer waterfalls may share the list.
    private let count: Int
    /// What the jobs ask for together.
    private var mutexes: Set<String> = []
    /// The limit of a job that has to be refused where the operation is started.
    private var invalidTimeout: Duration?

    private init(name: String, jobs: JobList<WaterfallJob<Failure>>, count: Int) {
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

    /// The names of its jobs, in their order, empty where none was given: the one that runs is number
    /// `progress.completed` of its operation.
    public var jobNames: [String] { jobs.prefix(count).map(\.name) }

    func appending<Next: Sendable>(
        _ job: WaterfallJob<Failure>, timeout: Duration?, mutexes: Set<String>
    ) -> Waterfall<Input, Next, Failure> {
        var longer = Waterfall<Input, Next, Failure>(
            name: name, jobs: jobs.appending(job, after: count), count: count + 1)
        longer.mutexes = mutexes.isEmpty ? self.mutexes : self.mutexes.union(mutexes)
        longer.invalidTimeout = invalidTimeout ?? timeout.flatMap { $0 <= .zero ? $0 : nil }
        return longer
    }

    /// An operation that runs the jobs on `input`. Its progress counts jobs.
    ///
    /// A request to cancel reaches the job that runs, and none starts after it. While its queue is suspended, or the
    /// operation itself where it was started by itself, no job starts either. The mutexes of all jobs are added to those
    /// of `options`: they are taken together when the operation starts and held to its end, because nobody waits for a
    /// mutex while holding another.
    public func operation(
        _ input: Input, options: OperationOptions = OperationOptions()
    ) -> AsyncOperation<Output, Failure> {
        let (jobs, count) = (jobs.prefix(count), count)
        var options = options
        if !mutexes.isEmpty { options.mutexes.formUnion(mutexes) }
        options.invalidJobTimeout = invalidTimeout
        let operation = AsyncOperation<Output, Failure>(name, options) { context, core in
            let body = context.control
            var value: AnyValueBox = ValueBox(input)
            var completed = 0
            for job in jobs {
                core.report(OperationProgress(completed: completed, total: count), by: body)
                guard await body.mayGoOn() else { return core.stopped(body) }
                switch job.work {
                case .plain(let work):
                    do throws(Failure) {
                        value = try await work(value)
                    } catch {
                        return core.end(with: .failure(error), in: body)
                    }
                case .controlled(let work, let options):
                    switch await JobAttempts(body: body, work: work, options: options).run(on: value) {
                    case .value(let next): value = next
                    case .failure(let error): return core.end(with: .failure(error), in: body)
                    case .timeout(let limit, let error):
                        _ = core.end(with: error.map { .failure($0) }, in: body)
                        return .timeout(limit)
                    case .stopped: return core.stopped(body)
                    }
                }
                completed += 1
            }
            return core.end(with: .success(value.value()), in: body)
        }
        if count > 0 { operation.core.expect(count) }
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

extension BodyCore {
    /// The end of a body that makes nothing.
    fileprivate func stopped(_ control: BodyControl) -> BodyEnd {
        let end = end(with: nil, in: control)
        return control.reason.map { .stopped($0) } ?? end
    }
}
