package import Basics

extension RunEvent {
    /// The event that a record tells of: the inverse of what `JSONWriter` writes of one, the rest included. `output` is
    /// what the event lends if it is one of output. Nil if a field is missing or the event is not known.
    package init?(_ record: JSONObject, lending output: UnsafeRawBufferPointer) {
        guard record.int("v") == 1, let sequence = record.int("seq"),
            let time = record.string("time").flatMap(Timestamp.microseconds), let elapsed = record.duration("t"),
            let kind = Kind(record, lending: output)
        else { return nil }
        self.init(
            sequence: sequence, wallClock: time, elapsed: elapsed, kind: kind, round: record.int("round"))
    }
}

extension RunEvent.Kind {
    fileprivate init?(_ record: JSONObject, lending output: UnsafeRawBufferPointer) {
        guard let name = record.string("event") else { return nil }
        let found: RunEvent.Kind? =
            switch name.prefix(while: { $0 != "." }) {
            case "run": Self.ofRun(name, record)
            case "group": Self.ofGroup(name, record)
            case "step": Self.ofStep(name, record, lending: output)
            case "value": Self.ofValue(name, record, lending: output)
            default: Self.ofNone(name, record)
            }
        guard let found else { return nil }
        self = found
    }

    private static func ofRun(_ name: String, _ record: JSONObject) -> Self? {
        switch name {
        case "run.started": return RunStarted(record).map(Self.runStarted)
        case "run.paused": return record.string("source").map { .runPaused(source: $0) }
        case "run.resumed": return record.string("source").map { .runResumed(source: $0) }
        case "run.jobs":
            guard let jobs = record.int("n"), let source = record.string("source") else { return nil }
            return .runJobs(jobs: jobs, source: source)
        case "run.cancel_requested":
            guard let source = record.string("source"), let cause = Cause(record.object("cause")),
                let steps = record.strings("steps")
            else { return nil }
            return .runCancelRequested(
                RunStopping(source: source, cause: cause, steps: steps, grace: record.duration("grace")))
        case "run.finished": return RunFinished(record).map(Self.runFinished)
        default: return nil
        }
    }

    private static func ofGroup(_ name: String, _ record: JSONObject) -> Self? {
        guard let group = record.string("group") else { return nil }
        switch name {
        case "group.started": return .groupStarted(group: group)
        case "group.cancel_requested":
            return Cause(record.object("cause")).map { .groupCancelRequested(group: group, cause: $0) }
        case "group.finished": return GroupFinished(record, of: group).map(Self.groupFinished)
        case "group.retry":
            guard let round = record.int("round"), let delay = record.duration("delay") else { return nil }
            return .groupRetry(group: group, round: round, delay: delay)
        case "group.ready": return .ready(.group(group))
        case "group.waiting": return .waiting(.group(group), on: record.string("on"))
        default: return nil
        }
    }

    private static func ofStep(_ name: String, _ record: JSONObject, lending output: UnsafeRawBufferPointer) -> Self? {
        guard let step = record.string("step") else { return nil }
        switch name {
        case "step.added": return record.string("by").map { .stepAdded(step: step, by: $0) }
        case "step.ready": return .ready(.step(step))
        case "step.waiting": return .waiting(.step(step), on: record.string("on"))
        case "step.restored": return StepRestored(record, of: step).map(Self.stepRestored)
        case "step.rerun":
            return record.string("reason").flatMap(RerunReason.init).map { .stepRerun(step: step, reason: $0) }
        case "step.undoes":
            return record.string("body").map {
                .stepUndoes(step: step, Undoing(body: $0, members: record.strings("undoes")))
            }
        default: break
        }
        guard let attempt = record.int("attempt") else { return nil }
        switch name {
        case "step.started": return StepStarted(record, of: step, attempt).map(Self.stepStarted)
        case "step.output":
            return StepOutput(record, of: .step(step), attempt, lending: output).map(Self.stepOutput)
        case "step.cancel_requested":
            return Cause(record.object("cause")).map { .stepCancelRequested(step: step, attempt: attempt, cause: $0) }
        case "step.signal":
            return record.string("signal").map { .stepSignal(step: step, attempt: attempt, signal: $0) }
        case "step.attempt":
            return ExitStatus(record).map { .stepAttempt(step: step, attempt: attempt, status: $0) }
        case "step.retry":
            return record.duration("delay").map { .stepRetry(step: step, attempt: attempt, delay: $0) }
        case "step.finished": return StepFinished(record, of: step, attempt).map(Self.stepFinished)
        default: return nil
        }
    }

    private static func ofValue(_ name: String, _ record: JSONObject, lending output: UnsafeRawBufferPointer) -> Self? {
        guard let value = ValueID(record) else { return nil }
        switch name {
        case "value.started": return ValueStarted(record, of: value).map(Self.valueStarted)
        case "value.output": return StepOutput(record, of: .value(value), 1, lending: output).map(Self.stepOutput)
        case "value.finished": return ValueFinished(record, of: value).map(Self.valueFinished)
        default: return nil
        }
    }

    private static func ofNone(_ name: String, _ record: JSONObject) -> Self? {
        if name == "warning" {
            guard let code = record.string("code"), let message = record.string("message") else { return nil }
            return .warning(code: code, message: message)
        }
        guard let lock = record.string("name"),
            let subject = record.string("step").map(Subject.step) ?? record.string("group").map(Subject.group)
        else { return nil }
        switch name {
        case "lock.acquired": return .lockAcquired(name: lock, by: subject)
        case "lock.released": return .lockReleased(name: lock, by: subject)
        default: return nil
        }
    }
}
