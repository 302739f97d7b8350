package import Basics

extension JSONWriter {
    /// All fields of an event's record, in the order of the log.
    package mutating func fields(of event: RunEvent) {
        head(of: event)
        fields(of: event.kind)
    }

    /// The fields that every record has.
    package mutating func head(of event: RunEvent) {
        field("v", 1)
        field("seq", event.sequence)
        timestamp("time", microseconds: event.wallClock)
        field("t", event.elapsed)
        field("event", event.kind.name)
        // The end of a round says itself which one it was.
        if case .groupRetry = event.kind { return }
        if let round = event.round { field("round", round) }
    }

    /// The fields of an event beside those that every record has.
    mutating func fields(of kind: RunEvent.Kind) {
        switch kind {
        case .runStarted(let run): fields(of: run)
        case .runPaused(let source), .runResumed(let source): field("source", source)
        case .runJobs(let jobs, let source):
            field("n", jobs)
            field("source", source)
        case .runCancelRequested(let stopping):
            field("source", stopping.source)
            self.cause("cause", stopping.cause)
            field("steps", stopping.steps)
            field("grace", stopping.grace)
        case .groupStarted(let group): field("group", group)
        case .groupCancelRequested(let group, let cause):
            field("group", group)
            self.cause("cause", cause)
        case .groupFinished(let group): fields(of: group)
        case .groupRetry(let group, let round, let delay):
            field("group", group)
            field("round", round)
            field("delay", delay)
        case .stepAdded(let step, let by):
            field("step", step)
            field("by", by)
        case .ready(let subject): own(subject)
        case .waiting(let subject, let lock):
            own(subject)
            field("on", lock)
        case .lockAcquired(let name, let by), .lockReleased(let name, let by):
            field("name", name)
            either(by)
        case .stepStarted(let step): fields(of: step)
        case .stepOutput(let output): fields(of: output)
        case .stepCancelRequested(let step, let attempt, let cause):
            field("step", step)
            field("attempt", attempt)
            self.cause("cause", cause)
        case .stepSignal(let step, let attempt, let signal):
            field("step", step)
            field("attempt", attempt)
            field("signal", signal)
        case .stepAttempt(let step, let attempt, let status):
            field("step", step)
            field("attempt", attempt)
            self.status(status)
        case .stepRetry(let step, let attempt, let delay):
            field("step", step)
            field("attempt", attempt)
            field("delay", delay)
        case .stepFinished(let step): fields(of: step)
        case .stepRestored(let step): fields(of: step)
        case .stepRerun(let step, let reason):
            field("step", step)
            field("reason", reason.rawValue)
        case .stepUndoes(let step, let undoing):
            field("step", step)
            field("body", undoing.body)
            if let members = undoing.members { field("undoes", members) } else { null("undoes") }
        case .valueStarted(let value): fields(of: value)
        case .valueFinished(let value): fields(of: value)
        case .warning(let code, let message):
            field("code", code)
            field("message", message)
        case .runFinished(let run): fields(of: run)
        }
    }

    private mutating func fields(of run: RunStarted) {
        field("run", run.run)
        field("file", run.file)
        field("name", run.name)
        field("steps", run.steps)
        field("fan_outs", run.fanOuts)
        field("jobs", run.jobs)
        field("version", run.version)
        values("params", run.params)
        field("args", run.arguments)
        field("resumes", run.resumes)
        field("durations_from", run.durationsFrom)
    }

    private mutating func fields(of step: StepRestored) {
        field("step", step.step)
        values("outputs", step.outputs)
        field("item", step.item)
        field("name", step.name)
    }

    private mutating func fields(of step: StepStarted) {
        field("step", step.step)
        field("attempt", step.attempt)
        fields(of: step.command, step.pid)
        field("line", step.line)
        field("item", step.item)
        field("name", step.name)
    }

    private mutating func fields(of command: StepStarted.Command, _ pid: Int32) {
        field("pid", Int(pid))
        switch command {
        case .arguments(let arguments):
            field("argv", arguments)
            null("script")
        case .script(let script):
            null("argv")
            field("script", script)
        }
    }

    /// The fields that name one of `vars`.
    private mutating func fields(of value: ValueID) {
        field("var", value.name)
        field("group", value.group)
    }

    private mutating func fields(of value: ValueStarted) {
        fields(of: value.value)
        fields(of: value.command, value.pid)
        field("line", value.line)
    }

    private mutating func fields(of value: ValueFinished) {
        fields(of: value.value)
        field("outcome", value.outcome.rawValue)
        status(value.status)
        field("duration", value.duration)
        cause("cause", value.cause)
        fields(of: value.process)
    }

    private mutating func fields(of process: ProcessReport) {
        field("output_bytes", process.outputBytes)
        field("output_truncated", process.outputTruncated)
        field("dropped_bytes", process.droppedBytes)
        field("max_rss", process.usage.map { $0.maxResident * 1024 })
        field("user", process.usage?.user)
        field("sys", process.usage?.system)
        field("containment", process.containment)
        field("escaped", process.escaped)
        field("left_behind", process.leftBehind)
        field("oom_killed", process.isOutOfMemory)
        field("errno", process.errno.map(Int.init))
    }

    /// The fields that name the writer of an output.
    package mutating func writer(of output: StepOutput) {
        switch output.writer {
        case .step(let step):
            field("step", step)
            field("attempt", output.attempt)
        case .value(let value): fields(of: value)
        }
    }

    private mutating func fields(of output: StepOutput) {
        writer(of: output)
        field("stream", output.stream.rawValue)
        field("text", repairing: output.bytes)
        field("partial", output.isPartial)
    }

    private mutating func fields(of step: StepFinished) {
        field("step", step.step)
        field("attempt", step.attempt)
        field("outcome", step.outcome.rawValue)
        status(step.status)
        field("duration", step.duration)
        field("attempt_duration", step.attemptDuration)
        cause("cause", step.cause)
        field("tolerated", step.isTolerated)
        values("outputs", step.outputs)
        fields(of: step.process)
        field("item", step.item)
        field("name", step.name)
    }

    private mutating func fields(of group: GroupFinished) {
        field("group", group.group)
        field("outcome", group.outcome.rawValue)
        field("duration", group.duration)
        cause("cause", group.cause)
        field("errors", group.errors)
        field("cancelled", group.cancelled)
        field("not_run", group.notRun)
        values("outputs", group.outputs)
        field("expanded", group.isExpanded)
    }

    private mutating func fields(of run: RunFinished) {
        field("outcome", run.outcome.rawValue)
        field("duration", run.duration)
        object("counts") { json in
            run.counts.forEach { outcome, count in
                json.key(outcome.rawValue)
                json.value(count)
            }
        }
        array("errors") { json in for failure in run.errors { json.value(failure) } }
        field("tolerated", run.tolerated)
        field("cancelled", run.cancelled)
        field("not_run", run.notRun)
        values("outputs", run.outputs)
    }

    /// Of an event whose name says which of the two it is about.
    private mutating func own(_ subject: Subject) {
        switch subject {
        case .step(let id): field("step", id)
        case .group(let id): field("group", id)
        }
    }

    /// One of the two is null.
    private mutating func either(_ subject: Subject) {
        switch subject {
        case .step(let id):
            field("step", id)
            null("group")
        case .group(let id):
            null("step")
            field("group", id)
        }
    }

    private mutating func values(_ key: StaticString, _ values: [LoggedValue]) {
        object(key) { json in
            for value in values {
                json.key(value.name)
                json.value(json: value.json)
            }
        }
    }

    private mutating func value(_ failure: RunFinished.Failure) {
        object { json in
            json.field("step", failure.step)
            json.field("group", failure.group)
            json.field("outcome", failure.outcome.rawValue)
            json.cause("cause", failure.cause)
            json.field("file", failure.file)
            json.field("line", failure.line)
            json.status(failure.status)
            json.field("command", failure.command?.text)
            json.field("command_file", failure.command?.file)
            json.field("command_line", failure.command?.line)
            json.field("output_tail", repairing: failure.outputTail)
        }
    }

    package mutating func status(_ status: ExitStatus?) {
        field("exit_code", status?.exitCode)
        field("signal", status?.signalName)
    }

    /// A chain as nested objects, the root innermost.
    package mutating func cause(_ key: StaticString, _ cause: Cause?) {
        guard let cause else { return null(key) }
        object(key) { json in json.fields(of: cause) }
    }

    package mutating func fields(of cause: Cause) {
        field("kind", cause.kind.rawValue)
        field("message", cause.message)
        switch cause.subject {
        case .step(let step):
            field("step", step)
            null("group")
            null("var")
        case .group(let group):
            null("step")
            field("group", group)
            null("var")
        case .sharedValue(let name):
            null("step")
            null("group")
            field("var", name)
        case .run:
            null("step")
            null("group")
            null("var")
        }
        field("file", cause.file)
        field("line", cause.line)
        self.cause("cause", cause.cause)
    }
}
