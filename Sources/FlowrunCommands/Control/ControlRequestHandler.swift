internal import Basics
internal import ProcessExecution
internal import Reporting
internal import RunEvents
internal import WorkflowExecution

/// Answers the requests that reach a live run.
@EventLoopActor
struct ControlRequestHandler {
    private let runner: WorkflowRunner
    private let record: RunRecord

    init(runner: WorkflowRunner, record: RunRecord) {
        self.runner = runner
        self.record = record
    }

    /// One line of JSON for one line of JSON, both without the end of the line.
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
            guard record.writeStep(step, to: &json) else { return try writeProgress(of: step, to: &json) }
            // The tail of what a root wrote is only in the record once the run is over.
            if let tail = runner.outputTail(of: step) { json.field("output_tail", repairing: tail) }
        }
    }

    /// A run that is over still answers while its log is written.
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

    private func writeProgress(of step: String, to json: inout JSONWriter) throws(ControlRequestError) {
        guard let progress = runner.progress(of: step) else { throw unknown(step, runner.suggestion(for: step)) }
        json.field("step", step)
        switch progress {
        case .ended(let outcome): json.field("outcome", outcome.rawValue)
        case .running(let attempt):
            json.field("state", "running")
            json.field("attempt", attempt)
        case .waiting(let needs):
            json.field("state", "waiting")
            json.field("waiting_for", needs)
        }
    }

    private func unknown(_ step: String, _ suggestion: String?) -> ControlRequestError {
        ControlRequestError(
            message: "no step or group `\(step)`" + (suggestion.map { "; did you mean `\($0)`?" } ?? ""))
    }
}

extension JSONWriter {
    /// Where a run stands: the answer of `ctl status --format json`.
    fileprivate mutating func fields(of status: RunStatus) {
        field("run", status.run)
        field("file", status.file)
        field("name", status.name)
        field("outcome", status.outcome?.rawValue)
        field("elapsed", status.elapsed)
        field("jobs", status.jobs)
        field("steps", status.steps)
        field("paused", status.isPaused)
        field("stopping", status.isStopping)
        object("counts") { json in
            for outcome in StepOutcome.allCases {
                json.key(outcome.rawValue)
                json.value(status.counts[outcome])
            }
        }
        array("running") { json in
            for step in status.running {
                json.object { json in
                    json.field("step", step.step)
                    json.field("attempt", step.attempt)
                    json.field("pid", step.pid.map(Int.init))
                    json.field("seconds", step.duration)
                    json.field("state", step.state.rawValue)
                }
            }
        }
        array("values") { json in
            for value in status.values {
                json.object { json in
                    json.field("var", value.value.name)
                    json.field("group", value.value.group)
                    json.field("pid", Int(value.pid))
                    json.field("seconds", value.duration)
                    json.field("state", value.state.rawValue)
                }
            }
        }
        field("waiting", status.waiting)
    }
}
