internal import Basics
internal import Planning
internal import Processes
internal import Running

extension Run {
    /// Shows what would run and, if a run would be resumed, what would be taken over. Starts and changes nothing: takes
    /// no lock, counts no run, and ends nothing that a dead run has left.
    func printDryRun(of plan: Plan, with values: RunValues) throws(CommandError) {
        var printer = PlanPrinter(plan, jobs: request.options.jobs, known: values.known)
        printer.estimate(from: pastDurations)
        if request.isResumed { printer.resume(try forecast(of: plan, with: values)) }
        try StandardStream.output.deliver(request.log == .json ? .json(printer.json()) : .lines(printer.text()))
    }

    private func forecast(of plan: Plan, with values: RunValues) throws(CommandError) -> ExpectedResume {
        let (resumed, key) = try resumedRun(of: plan)
        guard let past = resumed?.results else {
            return ExpectedResume(run: nil, notes: [resumed?.note ?? ResumedRun.nothing], steps: [:])
        }
        try demandInstances(of: plan, in: past)
        var options = options(with: values)
        options.past = past
        options.definitionKey = key.flatMap { KeyedHash.Key($0) }
        // A dry run makes no file.
        options.temporaryFolder = "/dev/null"
        let notes = [resumed?.note].compactMap(\.self)
        let nothing = ExpectedResume(run: past.run, notes: notes, steps: [:])
        return EventLoop.shared.result(before: nothing) {
            let runner = WorkflowRunner(plan, options: options, reporters: [])
            let forecast = runner.forecast { row in
                var next = row
                while !values.known.rulesOut(next, of: plan), next != .root { next = plan.nodes[next].parent }
                return values.known.rulesOut(next, of: plan)
            }
            let steps = forecast.map { (plan.nodes[$0.key].id, $0.value) }
            return ExpectedResume(
                run: past.run, notes: notes + runner.undoingHooks, steps: Dictionary(uniqueKeysWithValues: steps))
        }
    }

    /// The run that would be resumed, and the key of the state directory; nil if there is no such folder.
    private func resumedRun(of plan: Plan) throws(CommandError) -> (ResumedRun?, key: [UInt8]?) {
        let place = StatePlace(file: request.file, explicit: request.stateDirectory)
        for candidate in [place.preferred, place.fallback].compactMap(\.self) {
            let directory: StateDirectory
            do throws(StateError) {
                directory = try .existing(candidate.path)
            } catch {
                if !error.isAbsence { throw .unable(error.message) }
                continue
            }
            let name = place.name(in: directory)
            let key = directory.existingKey()
            let history = RunHistory(in: directory)
            let resume = ResumeRequest(
                run: request.resumedRun, targets: request.choice.steps, workflow: name,
                lastHolder: name.flatMap { RunLock.holder(of: $0, in: directory) }, key: key,
                outputReads: plan.outputReads)
            return (try ResumedRun(ResumedRun.find(resume, in: history), resume, in: history), key)
        }
        if let run = request.resumedRun {
            throw .failed("`\(place.preferred.path)` has no journal of a run `\(run)` of this file")
        }
        return (nil, nil)
    }
}
