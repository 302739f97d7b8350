internal import AsyncOperations
internal import Glibc
package import ProcessExecution
package import RunEvents
internal import SourceDiagnostics
internal import WorkflowModel
package import WorkflowPlanning

/// Runs a plan: maps it onto one compound operation, starts the processes of its steps, and tells reporters everything.
@EventLoopActor
package final class WorkflowRunner {
    private let plan: Plan
    private let options: RunOptions
    private let recorder: EventRecorder
    private let builder: CommandBuilder
    private var executor: GraphExecutor<EventLoopClock>?
    private var tracer: CauseTracer
    private var ledger: RunLedger
    private var running: [Int: StepRun] = [:]
    private var groupStarts: [Int: Duration] = [:]
    private var result = RunResult(outcome: .success)
    /// The first signal that asked for the end, of the run or of what comes after it; nil where none did.
    package private(set) var signal: Int32?

    /// `mayTakeOutput` is asked before steps' output is read; while it says no, the steps wait.
    package init(
        _ plan: Plan, options: RunOptions, reporters: [any Reporter],
        mayTakeOutput: @escaping @EventLoopActor () -> Bool = { true }
    ) {
        self.plan = plan
        self.options = options
        recorder = EventRecorder(reporters, mayTakeOutput: mayTakeOutput)
        builder = CommandBuilder(plan: plan, options: options)
        tracer = CauseTracer(plan: plan, options: options)
        ledger = RunLedger(plan: plan)
    }

    /// Runs to the end, whatever that is. Called once.
    package func run() async -> RunResult {
        recorder.record(
            .runStarted(
                RunStarted(
                    run: options.run, file: plan.workflow.file.name, name: plan.workflow.name, steps: plan.stepCount,
                    jobs: options.jobs, version: options.version)))
        recorder.startTicking()
        var locks = RunLocks()
        let executor = GraphExecutor(
            OperationGraph(plan, options: options, locks: &locks), width: options.jobs, clock: EventLoopClock()
        ) { context in (await self.perform(context), false) }
        self.executor = executor
        // A signal may have come while the plan was turned into operations.
        if signal != nil { executor.cancel() }
        let outcome = await executor.run { command in self.observe(command) }
        if outcome != .success, result.outcome == .success { result.outcome = .failure }
        recorder.record(
            .runFinished(
                RunFinished(
                    outcome: StepOutcome(outcome), duration: recorder.elapsed, counts: ledger.counts,
                    errors: ledger.errors, tolerated: ledger.tolerated, cancelled: ledger.cancelled,
                    notRun: ledger.notRun)))
        return result
    }

    /// A signal to flowrun. The first one cancels everything and leaves steps their grace; the next one takes it away.
    package func interrupt(by signal: Int32) {
        guard self.signal == nil else {
            for step in running.values { step.process?.killAll() }
            return
        }
        self.signal = signal
        tracer.request = "interrupted by \(SignalName.of(signal))"
        executor?.cancel()
    }

    private func perform(_ context: OperationContext) async -> OperationOutcome {
        let row = context.id.row
        let step = StepRun(row: row, step: plan.nodes[row].id, recorder: recorder)
        running[row] = step
        let command: StepStarted.Command =
            switch plan.workflow[plan.nodes[row].definition].body {
            case .script(let script): .script(script.text(in: plan.workflow.file))
            case .arguments(let arguments): .arguments(arguments.map(builder.text))
            case .group: preconditionFailure("row \(row) is a group, not a step")
            }
        let hasSucceeded = await step.run(
            in: context, with: builder, started: command, line: tracer.line(of: row), item: plan.item(of: row))
        if !hasSucceeded { noteFailure(of: step) }
        return hasSucceeded ? .success : .failure
    }

    private func noteFailure(of step: StepRun) {
        switch step.end {
        case .ended(let ending):
            let status = ExitStatus(ending.status)
            tracer.noteFailure(of: step.row, status.exitCode == nil ? .signal : .exit, "\(status)")
        case .refused(let refusal):
            tracer.noteFailure(of: step.row, .spawn, refusal.message)
            if refusal.isOutOfProcesses { result.isOutOfProcesses = true }
        case .stopped, nil:
            break
        }
    }

    // MARK: What the scheduler decides, as events

    private func observe(_ command: OperationScheduler.Command) {
        switch command {
        case .groupStarted(let id, _) where id != .root:
            groupStarts[id.row] = recorder.elapsed
            recorder.record(.groupStarted(group: plan.nodes[id.row].id))
        case .groupStopping(let id, let cause):
            groupIsStopping(id.row, cause)
        case .stop(let id, let cause):
            let cause = tracer.link(id.row, .cancelled, cause)
            recorder.record(.stepCancelRequested(step: plan.nodes[id.row].id, attempt: 1, cause: cause))
        case .finished(let id, let outcome, let cause) where plan.nodes[id.row].role == .step:
            stepHasFinished(id.row, outcome, cause)
        case .finished(let id, let outcome, let cause) where id != .root:
            groupHasFinished(id.row, outcome, cause)
        case .groupStarted, .finished, .start, .wake, .decide, .expand, .conclude, .retrying, .suspended, .resumed,
            .acquired, .released, .waiting, .ready:
            break
        }
    }

    private func groupIsStopping(_ row: Int, _ cause: OperationCause) {
        let traced = tracer.link(row, .cancelled, cause)
        if row == 0 {
            recorder.record(.runCancelRequested(source: source(of: cause), cause: traced))
        } else {
            recorder.record(.groupCancelRequested(group: plan.nodes[row].id, cause: traced))
        }
        guard cause == .deadline(OperationID(row: row)) else { return }
        if row == 0 { result.outcome = .runTimeout }
        ledger.noteFailure(row) {
            RunFinished.Failure(
                step: nil, group: row == 0 ? nil : plan.nodes[row].id, outcome: .timeout, cause: traced,
                file: plan.workflow.file.name, line: traced.line, status: nil, outputTail: [])
        }
    }

    private func source(of cause: OperationCause) -> String {
        switch cause {
        case .request: signal.map(SignalName.of) ?? "request"
        case .deadline: "timeout"
        default: "fail-fast"
        }
    }

    private func stepHasFinished(_ row: Int, _ outcome: OperationOutcome, _ cause: OperationCause) {
        let step = running.removeValue(forKey: row)
        let traced = tracer.trace(row, outcome, cause)
        let outcome = StepOutcome(outcome)
        var ending: ProcessEnding?
        var error: Int32?
        switch step?.end {
        case .ended(let value): ending = value
        case .refused(let refusal): error = refusal.errno
        case .stopped, nil: break
        }
        ledger.noteStep(row, outcome) {
            RunFinished.Failure(
                step: plan.nodes[row].id, group: nil, outcome: outcome,
                cause: traced ?? Cause(kind: .lost, message: "ended without a reason", subject: .run),
                file: plan.workflow.file.name, line: tracer.line(of: row),
                status: (ending?.status).map(ExitStatus.init), outputTail: step?.tail.lines ?? [])
        }
        recorder.record(
            .stepFinished(
                StepFinished(
                    step: plan.nodes[row].id, attempt: ending == nil ? 0 : 1, outcome: outcome,
                    status: (ending?.status).map(ExitStatus.init), duration: ending?.duration, cause: traced,
                    outputBytes: step?.outputBytes ?? 0,
                    usage: ending.map { ResourceUsage(maxResident: $0.maxResident, user: $0.user, system: $0.system) },
                    outputTruncated: ending?.isOutputTruncated == true ? "held_open" : nil,
                    containment: ending == nil ? nil : "session", escaped: ending?.escaped ?? 0, errno: error,
                    isTolerated: ledger.isTolerated(row),
                    item: plan.item(of: row))))
    }

    private func groupHasFinished(_ row: Int, _ outcome: OperationOutcome, _ cause: OperationCause) {
        let lists = ledger.close(row)
        let start = groupStarts.removeValue(forKey: row)
        recorder.record(
            .groupFinished(
                GroupFinished(
                    group: plan.nodes[row].id, outcome: StepOutcome(outcome),
                    duration: start.map { recorder.elapsed - $0 } ?? .zero, cause: tracer.trace(row, outcome, cause),
                    errors: lists.errors, cancelled: lists.cancelled, notRun: lists.notRun)))
    }
}

extension StepOutcome {
    init(_ outcome: OperationOutcome) {
        self =
            switch outcome {
            case .success: .success
            case .failure: .failure
            case .timeout: .timeout
            case .cancelled: .cancelled
            case .skipped: .skipped
            case .notRun: .notRun
            }
    }
}
