/// The jobs of a waterfall, without the types of the values that they pass on.
@usableFromInline struct JobChain: Sendable {
    let name: String
    private var jobs = JobList<WaterfallJob>()
    /// The number of jobs that belong to this chain; longer chains may share the list.
    private(set) var count = 0
    /// The mutexes of all jobs.
    private(set) var mutexes: Set<String> = []
    /// The invalid time limit of a job, which is refused when the operation is started.
    private(set) var invalidTimeout: Duration?

    init(_ name: String) { self.name = name }

    /// The jobs, in order.
    var elements: ArraySlice<WaterfallJob> { jobs.prefix(count) }

    /// Returns the chain with one more job at its end.
    @usableFromInline func appending(_ job: @escaping WaterfallJob.Plain) -> JobChain {
        appending(WaterfallJob(name: "", work: .plain(job)))
    }

    func appending(_ name: String, _ options: JobOptions, plain job: @escaping WaterfallJob.Plain) -> JobChain {
        let work =
            options.isDefault
            ? WaterfallJob.Work.plain(job)
            : .controlled(
                { _, input in do { return .value(try await job(input)) } catch { return .error(error) } }, options)
        return appending(name, options, work)
    }

    func appending(_ name: String, _ options: JobOptions, _ job: @escaping WaterfallJob.Controlled) -> JobChain {
        appending(name, options, .controlled(job, options))
    }

    private func appending(_ name: String, _ options: JobOptions, _ work: WaterfallJob.Work) -> JobChain {
        var longer = appending(WaterfallJob(name: name, work: work))
        longer.mutexes.formUnion(options.mutexes)
        longer.invalidTimeout = invalidTimeout ?? options.limits.first { $0 <= .zero }
        return longer
    }

    private func appending(_ job: WaterfallJob) -> JobChain {
        var longer = self
        longer.jobs = jobs.appending(job, after: count)
        longer.count += 1
        return longer
    }
}

extension JobChain {
    /// Runs the jobs one after another, in the body of the waterfall's operation.
    func run(on input: AnyValueBox, for core: OperationCore, in body: BodyControl) async -> BodyEnd {
        var value = input
        var progress = OperationProgress(completed: 0, total: count)
        for job in elements {
            core.report(progress, by: body)
            if !body.goesOn, await !body.mayGoOn() { return core.stopped(body) }
            switch job.work {
            case .plain(let work):
                do {
                    value = try await work(value)
                } catch {
                    return core.end(with: .error(error))
                }
            case .controlled(let work, let options):
                switch await JobAttempts(body: body, work: work, options: options).run(on: value) {
                case .value(let next): value = next
                case .failure(let error): return core.end(with: .error(error))
                case .timeout(let limit, let error):
                    if let error { core.keep(.error(error)) }
                    return .timeout(limit)
                case .stopped: return core.stopped(body)
                }
            }
            progress.completed += 1
        }
        return core.end(with: .value(value))
    }
}

extension OperationCore {
    /// The end of a body without a result.
    fileprivate func stopped(_ control: BodyControl) -> BodyEnd {
        let end = end(with: .nothing)
        return control.reason.map { .stopped($0) } ?? end
    }
}
