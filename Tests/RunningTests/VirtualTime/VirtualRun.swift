import FlowrunTestSupport
import Planning
import Processes
import RunLog
import Running
import Syntax
import Testing
import Workflow

/// Runs a workflow to its end without a process and without time.
@EventLoopActor
final class VirtualRun {
    let clock = VirtualClock()
    let spawner: FakeSpawner
    let fileReader: FakeFileReader
    let runner: WorkflowRunner
    private let log = Log()

    /// `text` is the file without its first line, `version: 1`; `spoil` does to the plan what no planner would.
    init(
        _ text: String, jobs: Int = 4, startsPaused: Bool = false, past: PastResults? = nil,
        tokens: (any TokenPool)? = nil,
        _ behave: @escaping (String, Int) -> FakeSpawner.Behaviour = { _, _ in FakeSpawner.Behaviour() },
        mayTakeOutput: @escaping @EventLoopActor () -> Bool = { true }, spoil: (inout Plan) -> Void = { _ in }
    ) throws {
        EventLoopThread.ensureRunning()
        let (document, problems) = YAMLParser.parse(SourceFile(name: "flow.yml", text: "version: 1\n" + text))
        let (workflow, mistakes) = WorkflowDecoder.decode(try #require(document, "\(problems)"))
        let (planned, findings) = Planner.plan(try #require(workflow, "\(mistakes.map(\.message))"))
        var plan = try #require(planned, "\(findings.map(\.message))")
        spoil(&plan)
        var options = RunOptions()
        options.jobs = jobs
        options.run = "virtual"
        options.startsPaused = startsPaused
        options.past = past
        spawner = FakeSpawner(clock, behave)
        fileReader = FakeFileReader(clock)
        runner = WorkflowRunner(
            plan, options: options, reporters: [log], spawner: spawner, clock: clock, fileReader: fileReader,
            tokens: tokens, mayTakeOutput: mayTakeOutput)
    }

    /// Does something at a time of the run.
    func at(_ time: Duration, _ action: @escaping @EventLoopActor () -> Void) {
        clock.after(time - clock.elapsed, action)
    }

    /// Runs to the end. Fails where nothing is left that could lead there.
    @discardableResult
    func run() throws -> RunResult {
        var result: RunResult?
        runner.start { result = $0 }
        while result == nil, clock.step() {}
        let end = try #require(result, "nothing goes on: \(lines)")
        #expect(spawner.runningCount == 0)
        return end
    }

    /// All events but output, such as `3 finished build failure`, the time in seconds first.
    var lines: [String] { log.events.compactMap { event in event.line.map { "\(event.elapsed.seconds) \($0)" } } }

    /// Those of one step or group.
    func lines(of id: String) -> [String] {
        lines.filter { $0.split(separator: " ").dropFirst(2).first.map(String.init) == id }
    }

    var events: [RunEvent] { log.events }

    /// The results with which a run that resumes this one begins.
    var results: PastResults {
        var record = PastRecord(outputReads: [])
        record.beginRun("earlier")
        for event in events { record.note(event.kind) }
        return PastResults(run: "earlier", origin: "earlier", record)
    }

    /// Called with each event when it has been noted.
    var whenReported: (RunEvent) -> Void {
        get { log.whenReported }
        set { log.whenReported = newValue }
    }

    /// The last `step.finished` of a step.
    func finish(of step: String) -> StepFinished? {
        log.events.compactMap { if case .stepFinished(let end) = $0.kind, end.step == step { end } else { nil } }.last
    }

    func outcome(of step: String) -> StepOutcome? { finish(of: step)?.outcome }

    /// The messages of a chain, from the victim to the root.
    func causes(of step: String) -> [String] {
        var messages: [String] = []
        var next = finish(of: step)?.cause
        while let cause = next {
            messages.append(cause.message)
            next = cause.cause
        }
        return messages
    }

    /// The last event.
    var end: RunFinished? { if case .runFinished(let end)? = log.events.last?.kind { end } else { nil } }

    private final class Log: Reporter {
        var events: [RunEvent] = []
        var whenReported: (RunEvent) -> Void = { _ in }

        func report(_ event: RunEvent) {
            events.append(event)
            whenReported(event)
        }
    }
}

extension RunEvent {
    fileprivate var line: String? {
        let round = self.round.map { $0 > 0 ? " round \($0)" : "" } ?? ""
        switch kind {
        case .runStarted: return nil
        case .runPaused(let source): return "paused run \(source)"
        case .runResumed(let source): return "resumed run \(source)"
        case .runJobs(let jobs, _): return "jobs run \(jobs)"
        case .runCancelRequested(let stopping): return "cancelling run \(stopping.source)"
        case .groupStarted(let start): return "started \(start.group)\(round)"
        case .groupCancelRequested(let group, _): return "cancelling \(group)"
        case .groupRetry(let retry): return "retry \(retry.group) in \(retry.delay.seconds)"
        case .groupFinished(let end): return "finished \(end.group) \(end.outcome.rawValue)\(round)"
        case .stepAdded(let added): return "added \(added.step) by \(added.fanOut)"
        case .stepStarted(let start):
            return "started \(start.step)\(start.attempt > 1 ? " attempt \(start.attempt)" : "")\(round)"
        case .stepRestored(let restored): return "restored \(restored.step)"
        case .stepRerun(let rerun): return "rerun \(rerun.step) \(rerun.reason.rawValue)"
        case .stepCancelRequested(let step, _, _): return "cancelling \(step)"
        case .stepSignal(let step, _, let signal): return "sent \(step) \(signal)"
        case .stepRetry(let retry): return "retry \(retry.step) in \(retry.delay.seconds)"
        case .stepFinished(let end): return "finished \(end.step) \(end.outcome.rawValue)\(round)"
        case .valueStarted(let start): return "started \(start.value.words)\(round)"
        case .valueFinished(let end): return "finished \(end.value.words) \(end.outcome.rawValue)\(round)"
        case .runFinished(let end): return "finished run \(end.outcome.rawValue)"
        case .ready, .waiting, .lockAcquired, .lockReleased, .stepOutput, .stepAttempt, .stepUndoes, .warning:
            return nil
        }
    }
}

extension Duration {
    /// In seconds, with as many decimals as it takes.
    fileprivate var seconds: String {
        let (seconds, rest) = components
        guard rest != 0 else { return "\(seconds)" }
        return "\(Double(seconds) + Double(rest) * 1e-18)"
    }
}
