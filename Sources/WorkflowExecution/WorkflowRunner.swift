internal import AsyncOperations
internal import Glibc
package import ProcessExecution
package import RunEvents
internal import SourceDiagnostics
internal import WorkflowModel
package import WorkflowPlanning

/// Runs a plan: maps it onto one graph of operations, starts the processes of its steps, and tells reporters everything.
@EventLoopActor
package final class WorkflowRunner {
    let book: RunBook
    let options: RunOptions
    let recorder: EventRecorder
    let results: RunResults
    let facts: RunFacts
    let builder: CommandBuilder
    let tracer: CauseTracer
    let ledger: RunLedger
    let files: OutputFiles
    var executor: GraphExecutor<RunClock>?
    let clock = RunClock()
    var steering: Steering
    /// The last attempt of each step that has begun and not ended.
    var runs: [Int: StepRun] = [:]
    var groupStarts: [Int: Duration] = [:]
    /// Which time a group runs, from 0, by its row; only of groups that may be retried.
    var rounds: [Int: Int] = [:]
    var locks = RunLocks()
    var result = RunResult(outcome: .success)
    /// The first signal that asked for the end, of the run or of what comes after it; nil where none did.
    package internal(set) var signal: Int32?
    /// Whether a second one came, so that nothing gets a grace any more.
    private(set) var hasLostPatience = false

    private let hasRounds: Bool
    /// What the top of the file says of steps that say nothing.
    private let logView: LogView?
    /// The definitions whose standard output somebody may ask for.
    private let keepsStandardOutput: Set<NodeIndex>

    /// `mayTakeOutput` is asked before steps' output is read; while it says no, the steps wait.
    package init(
        _ plan: Plan, options: RunOptions, reporters: [any Reporter],
        mayTakeOutput: @escaping @EventLoopActor () -> Bool = { true }
    ) {
        self.options = options
        book = RunBook(plan)
        recorder = EventRecorder(reporters, mayTakeOutput: mayTakeOutput)
        results = RunResults(count: plan.nodes.count)
        facts = RunFacts(book, results: results, options: options)
        builder = CommandBuilder(facts: facts, options: options)
        tracer = CauseTracer(book: book, options: options)
        ledger = RunLedger(book)
        steering = Steering(jobs: options.jobs)
        files = OutputFiles(in: options.temporaryFolder)
        hasRounds = plan.workflow.nodes.contains { $0.isGroup && $0.settings?.retry != nil }
        logView = plan.workflow.settings(of: .root)?.log
        keepsStandardOutput = plan.standardOutputReads
        facts.readEnvironment = { [unowned builder] in builder.variables() }
        facts.readInherited = { [unowned builder] in builder.inheritedVariables() }
    }

    /// Runs to the end, whatever that is. Called once.
    package func run() async -> RunResult {
        recorder.record(
            .runStarted(
                RunStarted(
                    run: options.run, file: book.workflow.file.name, name: book.workflow.name,
                    steps: book.plan.stepCount, jobs: options.jobs, version: options.version,
                    params: options.parameters.fields.map(logged))))
        recorder.startTicking()
        let graph = OperationGraph(book.plan, options: options, locks: &locks)
        let executor = GraphExecutor(
            graph, width: options.jobs, clock: clock, tellsLocks: options.tellsLocks
        ) { context in await self.perform(context) }
        self.executor = executor
        if options.startsPaused { pause(by: "--paused") }
        // A signal may have come before there was anything to cancel: nothing is to start then.
        if signal != nil { executor.cancel() }
        Signals.hear()
        let outcome = await executor.run(questions: questions) { command in self.observe(command) }
        files.removeFolder()
        if outcome != .success, result.outcome == .success { result.outcome = .failure }
        recorder.record(
            .runFinished(
                RunFinished(
                    outcome: StepOutcome(outcome), duration: recorder.elapsed, counts: ledger.counts,
                    errors: ledger.errors, tolerated: ledger.tolerated, cancelled: ledger.cancelled,
                    notRun: ledger.notRun, outputs: results.details(of: 0).outputs.map(logged))))
        return result
    }

    /// A signal to flowrun. The first one cancels everything but hooks and leaves steps their grace; the next one takes
    /// both away.
    package func interrupt(by signal: Int32) {
        guard self.signal == nil else {
            hasLostPatience = true
            executor?.abort()
            for run in runs.values where run.process?.isStopping ?? false { run.kill() }
            return
        }
        self.signal = signal
        tracer.noteRequest(for: 0, "interrupted by \(SignalName.of(signal))")
        executor?.cancel()
    }

    private func perform(_ context: OperationContext) async -> (outcome: OperationOutcome, mayRetry: Bool) {
        let row = context.id.row
        let settings = book.settings(of: row)
        let run = StepRun(
            StepRun.Frame(
                row: row, step: book.id(row), attempt: context.attempt, round: round(of: row), line: book.line(of: row),
                item: book.item(of: row), view: (settings?.log ?? logView).map(OutputView.init),
                declarations: settings?.outputs ?? [],
                keepsStandardOutput: keepsStandardOutput.contains(book.plan.nodes[row].definition)),
            recorder: recorder, files: files, secrets: options.secrets)
        runs[row] = run
        if steering.isFrozen { run.freeze() }
        run.onStart = { self.noteStarted() }
        let hasSucceeded = await run.run(in: context, with: builder)
        if run.process == nil { noteStarted() }
        noteDetails(of: run)
        guard !hasSucceeded else { return (.success, false) }
        noteFailure(of: run)
        let retry = settings?.retry ?? book.workflow.defaults.retry
        return (.failure, run.isWorthAnother(retry?.reasons ?? []))
    }

    private func noteDetails(of run: StepRun) {
        var details = RunResults.Details(status: run.ending.map { ExitStatus($0.status) }, outputs: run.outputs)
        if run.frame.keepsStandardOutput { details.standardOutput = run.standardOutput }
        guard !details.isPlain else { return }
        results.note(run.frame.row, details)
    }

    private func noteFailure(of run: StepRun) {
        let row = run.frame.row
        if let refusal = run.refusal {
            tracer.noteFailure(of: row, refusal.kind, refusal.message)
            if refusal.isOutOfProcesses { result.isOutOfProcesses = true }
        } else if let ending = run.ending {
            let status = ExitStatus(ending.status)
            tracer.noteFailure(of: row, status.exitCode == nil ? .signal : .exit, "\(status)")
        }
    }

    /// Which time the nearest group around a row that may be retried runs; nil where there is none.
    func round(of row: Int) -> Int? {
        guard hasRounds else { return nil }
        var next = row
        while next != 0 {
            next = book.parent(of: next)
            if let round = rounds[next] { return round }
        }
        return nil
    }

    /// A value as the log may show it.
    func logged(_ field: Value.Field) -> LoggedValue {
        LoggedValue(name: field.name, json: options.secrets.masked(field.value).json)
    }
}

extension OutputView {
    fileprivate init(_ view: LogView) {
        self =
            switch view {
            case .live: .live
            case .grouped: .grouped
            case .quiet: .quiet
            }
    }
}
