internal import Basics
internal import Glibc
package import Planning
internal import Processes
internal import RunLog
internal import Running
internal import Syntax
internal import Workflow

/// One `flowrun run`: from the request to the exit status.
package struct Run {
    let request: RunRequest
    private let alterPlan: @Sendable (inout Plan) -> Void
    private let standardError = StandardStream.error

    /// `alterPlan` may change the plan into one that no planner makes, to see how the run handles it.
    package init(_ request: RunRequest, alterPlan: @escaping @Sendable (inout Plan) -> Void = { _ in }) {
        self.request = request
        self.alterPlan = alterPlan
    }

    /// Runs the workflow on the calling thread, which becomes the event loop's. Does not return if a signal ended the
    /// run: the process then dies of that signal.
    func callAsFunction() throws(CommandError) -> ExitStatus {
        let folder = folder(of: request.file)
        var (plan, values, choice) = try request.choice.plan(
            color: request.color, mayList: true, given: request.parameters
        ) { workflow, words in
            RunValues(words, for: workflow, folder: folder, areOnlyShown: request.isDryRun)
        }
        guard !choice.lists(plan) else {
            try values.check()
            try request.list(plan)
            return .success
        }
        alterPlan(&plan)
        var chosen = request
        chosen.choice = choice
        chosen.options.again = request.options.again.map(plan.workflow.withoutAliases)
        return try Run(chosen, alterPlan: alterPlan).run(plan, checking: values)
    }

    private func run(_ plan: Plan, checking values: RunValues) throws(CommandError) -> ExitStatus {
        try values.demand(by: plan)
        if !request.options.arguments.isEmpty, !plan.takesArguments { throw .usage(request.noTaker) }
        for id in request.options.again where !plan.has(id) {
            throw .usage("--from \(id): the run has no step or group of this id; `flowrun list` shows them")
        }
        guard !request.isDryRun else {
            try printDryRun(of: plan, with: values)
            return .success
        }
        if let path = request.logFile,
            let words = InputFiles(of: plan, folder: folder(of: request.file)).words(of: path)
        {
            throw RunRequest.refusal(ofLogFile: path, words)
        }
        return run(plan, with: values)
    }

    private func run(_ plan: Plan, with values: RunValues) -> ExitStatus {
        let (status, signal) = EventLoop.shared.result(before: (ExitStatus.unable, nil)) {
            await run(plan, with: values)
        }
        Guard.announceEnd()
        if let signal {
            Signals.die(by: signal)
            exit(128 + signal)  // Only PID 1 survives the signal.
        }
        return status
    }

    @EventLoopActor
    private func run(_ plan: Plan, with values: RunValues) async -> (ExitStatus, signal: Int32?) {
        var options = options(with: values)
        let descriptors = DescriptorLimit.raise()
        guard descriptors >= DescriptorLimit.least else {
            standardError.say(
                "only \(descriptors) descriptors are allowed (ulimit -n); a run needs \(DescriptorLimit.least)")
            return (.unable, nil)
        }
        if let warning = request.jobserver.warning { standardError.say(warning) }
        var files: RunFiles?
        let journal: JournalWriter?
        let logs: RunLogs
        let view = RunView()
        do throws(CommandError) {
            files = try RunFiles.enter(request, run: options.run, claims: plan)
            if let path = request.logFile, files?.owns(path) == true {
                throw RunRequest.refusal(ofLogFile: path, "a file of flowrun's own state")
            }
            try prepare(&options, of: plan, with: files)
            if let past = options.past { try demandInstances(of: plan, in: past) }
            journal = try openJournal(in: files, options, values, outputLimit: plan.workflow.outputLimit)
            findTreeCopies(for: plan, &options, in: files)
            let order = expectedOrder(of: plan, &options, values)
            logs = try RunLogs(request, hiding: values.secrets, journal: journal, view: view) {
                estimate(of: plan, options, values, order)
            }
        } catch {
            files?.forgetRun()
            error.messages.forEach(standardError.say)
            return (error.status, nil)
        }
        let prompt = TerminalPrompt(say: logs.say)
        logs.show(prompt)
        var reporters: [any Reporter] = [view] + logs.reporters
        if let journal { reporters.insert(journal, at: 0) }
        let runner = WorkflowRunner(
            plan, options: options, reporters: reporters, prompt: prompt, tokens: request.jobserver.tokens
        ) { logs.mayTakeOutput }
        logs.follow(runner)
        runner.terminalHost = StepTerminal(logs) { standStill(by: $0, runner, logs, files) }
        runner.tellTemporaryFolder { path in
            Guard.note(temporaryFolder: path)
            if let path { files?.note(temporaryFolder: path) }
        }
        takeSignals(for: runner, logs, files)
        let handler = ControlRequestHandler(runner: runner, view: view) { run, body in
            if let files { files.whenGone(run, body) } else { body() }
        }
        guard listen(for: handler, in: files, logs) else {
            files?.forgetRun()
            await logs.close()
            return (.unable, nil)
        }
        write(journal, logs, of: runner)
        let result = await runner.run()
        let failure = await logs.deliver { runner.signal != nil || result.outcome == .cancelled }
        files?.close()
        if let journal { files?.removeOldRuns(outputSize: journal.outputSize) }
        if let failure { logs.say("the log is incomplete: \(failure)") }
        if let failure = journal?.failure { logs.say("the journal is incomplete: \(failure.words)") }
        let fault = result.signal == nil ? fault(of: result) : nil
        if let fault { logs.say(fault) }
        await logs.close()
        // If an end was requested before the log was delivered, the exit status does not report an outcome.
        if let signal = result.signal ?? (failure == nil ? nil : runner.signal) { return (.failure, signal) }
        let isUnable = failure != nil || fault != nil || journal?.failure != nil
        return (isUnable ? .unable : result.outcome.exitStatus, nil)
    }

    /// Returns the reason why flowrun itself could not continue; nil if it could.
    private func fault(of result: RunResult) -> String? {
        if result.isOutOfProcesses {
            return "no process could be started for 30 s: the machine has none left, or no memory"
        }
        return result.stall.map { "\($0); this is a fault of flowrun, not of the workflow" }
    }

    /// The durations of the last runs; nil if there are none, or if the request does not use them.
    private var pastDurations: PastDurations? {
        request.usesHistory ? PastDurations(ofFile: request.file, stateDirectory: request.stateDirectory) : nil
    }

    /// Sets the priorities of steps by the durations of the last runs. Returns nil, and reads no past run, if every
    /// ready step can start at once, or if steps run one at a time.
    private func expectedOrder(
        of plan: Plan, _ options: inout RunOptions, _ values: RunValues
    ) -> ExpectedRun? {
        guard options.jobs > 1, request.usesHistory, plan.mayWait(jobs: options.jobs) else { return nil }
        let outline = plan.outline
        guard let run = expectedRun(of: outline, options, values) else { return nil }
        options.priorities = run.order.priorities(of: plan, outline: outline)
        options.durationSources = run.durations.sources
        return run
    }

    /// Returns an estimate from the last runs; nil unless they know all steps.
    private func estimate(
        of plan: Plan, _ options: RunOptions, _ values: RunValues, _ order: ExpectedRun?
    ) -> RunEstimate? {
        (order ?? expectedRun(of: plan.outline, options, values))?.estimate
    }

    private func expectedRun(of outline: Plan, _ options: RunOptions, _ values: RunValues) -> ExpectedRun? {
        pastDurations.flatMap { ExpectedRun(outline, jobs: options.jobs, from: $0, known: values.known) }
    }

    /// Rejects a name in `--from` that is an instance of a fan-out and that the resumed run did not have.
    func demandInstances(of plan: Plan, in past: PastResults) throws(CommandError) {
        for id in request.options.again {
            guard let (all, meant) = plan.instances(inPlaceOf: id, among: past.steps.keys) else { continue }
            let shown =
                all.prefix(Self.instancesShown).joined(separator: ", ") + (all.count > Self.instancesShown ? ", …" : "")
            throw .usage(
                "--from \(id): the run `\(past.run)` had no such copy; "
                    + (meant.map { "did you mean `\($0)`?" } ?? "it had \(shown)"))
        }
    }

    private static let instancesShown = 12

    /// Registers the run, and restores the results of the run to resume.
    @EventLoopActor
    private func prepare(
        _ options: inout RunOptions, of plan: Plan, with files: RunFiles?
    ) throws(CommandError) {
        if request.keepsJournal || request.isResumed {
            files?.count()
            options.definitionKey = files?.key
        }
        guard request.isResumed else { return }
        let resumed = try files?.resume(
            request.resumedRun, targets: request.choice.steps, outputReads: plan.outputReads)
        options.past = resumed?.results
        options.note = resumed == nil ? ResumedRun.nothing : resumed?.note
    }

    /// Finds the place for the copies of the tree that isolated groups run in, and judges what a resuming run finds
    /// there. Without a journal no resume could use the copies, so they go with the run's temporary files.
    @EventLoopActor
    private func findTreeCopies(for plan: Plan, _ options: inout RunOptions, in files: RunFiles?) {
        guard plan.workflow.has(.isolate) else { return }
        options.treeCopies = files?.treeCopies(
            keptByJournal: request.keepsJournal, targets: request.choice.steps, resuming: options.past)
        guard options.past != nil else { return }
        let copies = options.treeCopies ?? TreeCopies(in: nil, state: nil)
        options.treeCopies = copies.judged(for: plan, options: options)
    }

    /// Returns nil if no journal is to be kept, or if there is no place for it.
    @EventLoopActor
    private func openJournal(
        in files: RunFiles?, _ options: RunOptions, _ values: RunValues, outputLimit: Int?
    ) throws(CommandError) -> JournalWriter? {
        guard request.keepsJournal, let files else { return nil }
        let outputLimit = request.outputLimit ?? outputLimit ?? JournalWriter.standardOutputLimit
        return try files.openJournal(isDurable: request.isDurable, outputLimit: outputLimit) { header in
            header.file = request.file
            header.path = path
            header.time = MachineClock().wallClock
            header.parent = options.runsAbove.first
            header.targets = request.choice.steps
            header.params = values.parameters.allGiven.map { values.secrets.masked("\($0.name)=\($0.text)") }
            header.resumes = options.past?.run
            header.first = options.past?.origin
            header.mark = Guard.mark
            header.logFile = request.logFile
            header.why = request.why
        }
    }

    /// Writes journal and logs before every wait. Once the journal cannot be written, nothing new starts.
    @EventLoopActor
    private func write(_ journal: JournalWriter?, _ logs: RunLogs, of runner: WorkflowRunner) {
        let endTurn: Poller.Handler = {
            journal?.flush(isGoingOn: true)
            logs.endTurn()
        }
        runner.writeAhead = endTurn
        Poller.shared.beforeWaiting = endTurn
        guard let journal else { return }
        var isLimitTold = false
        Poller.shared.beforeWaiting = {
            // Also what is reported here.
            defer { endTurn() }
            journal.flush(isGoingOn: true)
            if journal.isOverLimit, !isLimitTold {
                isLimitTold = true
                runner.warn(code: "output-limit", outputLimitWords)
            }
            guard let failure = journal.failure else { return }
            Poller.shared.beforeWaiting = endTurn
            runner.windDown(because: "the journal cannot be written: \(failure.words)")
        }
    }

    private var outputLimitWords: String {
        """
        the steps wrote more than `output-limit` keeps: of some, only the end can be shown again; raise it with \
        --output-limit
        """
    }

    @EventLoopActor
    private func takeSignals(for runner: WorkflowRunner, _ logs: RunLogs, _ files: RunFiles?) {
        ProcessSpawner.shared.closeAllOnExec()
        Signals.take { signal in
            switch signal {
            case SIGWINCH: logs.redrawDisplay()
            case SIGTSTP: standStill(by: "SIGTSTP", runner, logs, files)
            default: runner.interrupt(by: signal)
            }
        }
        // The guard was killed, and the signal was meant for the run.
        Guard.whenGone { runner.abort(by: SIGKILL) }
    }

    /// Stops the running steps and then flowrun, until SIGCONT. `source` is the name of the signal that requests it.
    @EventLoopActor
    private func standStill(by source: String, _ runner: WorkflowRunner, _ logs: RunLogs, _ files: RunFiles?) {
        files?.startService()
        runner.standStill(by: source, until: "SIGCONT") {
            logs.clearDisplay()
            Signals.stop()
        }
    }

    /// Listens for `flowrun ctl`. Returns false if a paused run could never be resumed.
    @EventLoopActor
    private func listen(for handler: ControlRequestHandler, in files: RunFiles?, _ logs: RunLogs) -> Bool {
        let stuck = "--paused needs the control socket, because nothing else can resume the run"
        guard let files else {
            if request.options.startsPaused { logs.say(stuck) }
            return !request.options.startsPaused
        }
        guard request.options.startsPaused else {
            files.serveSoon(handler.answer) { message in
                logs.say("\(message); continuing, but `ctl` will not find the run")
            }
            return true
        }
        guard let message = files.serve(handler.answer) else { return true }
        logs.say("\(message); \(stuck)")
        return false
    }

    func options(with values: RunValues) -> RunOptions {
        var options = request.options
        options.parameters = values.parameters
        options.secrets = values.secrets
        options.folder = folder(of: request.file)
        options.run = RunID.make()
        if environmentVariable("MAKEFLAGS") != nil {
            options.replacedVariables = ["MAKEFLAGS", "MFLAGS"].compactMap { name in
                environmentVariable(name).map { (name: name, value: MakeFlags($0).withoutJobs) }
            }
        }
        options.forcesColors = request.log == .text && request.colorsOutput
        options.temporaryFolder = Self.absolute(environmentVariable("TMPDIR") ?? "/tmp")
        return options
    }

    /// Returns the absolute path of the workflow file's folder; nil if that is the current one.
    func folder(of file: String) -> String? {
        guard file != "-", let slash = file.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return Self.absolute(slash == file.startIndex ? "/" : String(file[..<slash]))
    }

    /// The absolute path of the workflow file; nil for standard input.
    private var path: String? { request.file == "-" ? nil : Self.absolute(request.file) }

    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let current = WorkflowChoice.currentFolder else { return path }
        return "\(current)/\(path)"
    }
}

extension EventLoop {
    /// Runs the loop on the calling thread for `body` alone, and returns its result.
    func result<Result>(before: Result, _ body: @escaping @EventLoopActor () async -> Result) -> Result {
        var result = before
        withUnsafeMutablePointer(to: &result) { result in
            // Only the task writes to it, and `run` below returns only after the task has called `stop`.
            nonisolated(unsafe) let result = result
            // The only task without an owner.
            Task(executorPreference: self) { @EventLoopActor in
                result.pointee = await body()
                self.stop()
            }
            run()
        }
        return result
    }
}
