internal import Basics
internal import Processes
internal import RunLog
internal import Running

/// Answers the requests to a live run.
@EventLoopActor
struct ControlRequestHandler {
    private let runner: WorkflowRunner
    private let view: RunView

    init(runner: WorkflowRunner, view: RunView) {
        self.runner = runner
        self.view = view
    }

    /// Returns one line of JSON for one line of JSON, both without a line feed.
    func answer(_ line: [UInt8]) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("v", ControlRequest.version)
            do throws(ControlRequestError) {
                try carryOut(ControlRequest(line: line), into: &json)
            } catch {
                json.field("error", error.message)
            }
        }
        return json.bytes
    }

    private func carryOut(
        _ request: ControlRequest, into json: inout JSONWriter
    ) throws(ControlRequestError) {
        switch request {
        case .status: json.fields(of: runner.status)
        case .pause(let freezing):
            try requireLiveRun()
            guard !runner.isStopping else { throw ControlRequestError(message: "the run is being cancelled") }
            let isNew = runner.pause(by: "ctl", freezing: freezing)
            json.field("message", isNew ? freezing ? "paused, and stopped what runs" : "paused" : "paused already")
        case .resume:
            try requireLiveRun()
            json.field("message", runner.resume(by: "ctl") ? "resumed" : "not paused")
        case .cancel(let step):
            json.field("message", try cancel(step))
        case .jobs(let number):
            try requireLiveRun()
            runner.setJobs(number, by: "ctl")
            json.field("message", "up to \(number.counted("step")) at once")
        case .why(let step):
            json.fields(of: try report(of: step))
        }
    }

    /// Throws if the run is over, which still answers while its log is written.
    private func requireLiveRun() throws(ControlRequestError) {
        guard let outcome = runner.outcome else { return }
        throw ControlRequestError(message: "the run has ended already: \(outcome.rawValue)")
    }

    private func cancel(_ step: String?) throws(ControlRequestError) -> String {
        let subject = step.map { "`\($0)`" } ?? "the run"
        switch runner.cancel(step) {
        case .accepted: return "cancelling \(subject)"
        case .isEndingAlready: return "\(subject) is being cancelled already"
        case .hasEnded(let outcome): return "\(subject) has ended already: \(outcome.rawValue)"
        case .unknown(let suggestion): throw unknown(step ?? "", suggestion)
        }
    }

    private func report(of step: String) throws(ControlRequestError) -> StepReport {
        var report = view.report(of: step) ?? StepReport(step, outcome: nil)
        switch runner.progress(of: step) {
        case nil: if report.outcome == nil { throw unknown(step, runner.suggestion(for: step)) }
        case .ended(let outcome):
            report.outcome = outcome
            // The view has the output only once the run is over.
            if report.outputTail == nil { report.outputTail = runner.outputTail(of: step) }
        case .running(let attempt):
            report = StepReport(step, state: "running")
            report.attempt = attempt
        case .waiting(let needs):
            report = StepReport(step, state: "waiting")
            report.needs = needs
        }
        return report
    }

    private func unknown(_ step: String, _ suggestion: String?) -> ControlRequestError {
        ControlRequestError(
            message: "no step or group `\(step)`" + (suggestion.map { "; did you mean `\($0)`?" } ?? ""))
    }
}
