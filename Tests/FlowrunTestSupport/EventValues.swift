package import RunLog

// Events with the values that a test gives them.

extension RunStarted {
    package init(
        run: String, file: String, name: String?, steps: Int, fanOuts: [String] = [], jobs: Int, version: String,
        params: [LoggedValue] = [], arguments: [String] = [], resumes: String? = nil, durationsFrom: [String] = []
    ) {
        self.init()
        self.run = run
        self.file = file
        self.name = name
        self.steps = steps
        self.fanOuts = fanOuts
        self.jobs = jobs
        self.version = version
        self.params = params
        self.arguments = arguments
        self.resumes = resumes
        self.durationsFrom = durationsFrom
    }
}

extension StepStarted {
    package init(
        step: String, attempt: Int, pid: Int32, command: Command, line: Int, item: String? = nil,
        view: OutputView? = nil, name: String? = nil
    ) {
        self.init()
        self.step = step
        self.attempt = attempt
        self.pid = pid
        self.command = command
        self.line = line
        self.item = item
        self.view = view
        self.name = name
    }
}

extension StepFinished {
    package init(
        step: String, attempt: Int, outcome: StepOutcome, status: ExitStatus? = nil, duration: Duration? = nil,
        attemptDuration: Duration? = nil, cause: Cause? = nil, outputs: [LoggedValue] = [],
        process: ProcessReport = ProcessReport(), isTolerated: Bool = false, item: String? = nil, name: String? = nil,
        definition: String? = nil
    ) {
        self.init()
        self.step = step
        self.attempt = attempt
        self.outcome = outcome
        self.status = status
        self.duration = duration
        self.attemptDuration = attemptDuration
        self.cause = cause
        self.outputs = outputs
        self.process = process
        self.isTolerated = isTolerated
        self.item = item
        self.name = name
        self.definition = definition
    }
}

extension ProcessReport {
    package init(
        outputBytes: Int = 0, usage: ResourceUsage? = nil, outputTruncated: String? = nil, droppedBytes: Int = 0,
        containment: String? = nil, escaped: Int = 0, leftBehind: Int = 0, isOutOfMemory: Bool = false,
        errno: Int32? = nil
    ) {
        self.init()
        self.outputBytes = outputBytes
        self.usage = usage
        self.outputTruncated = outputTruncated
        self.droppedBytes = droppedBytes
        self.containment = containment
        self.escaped = escaped
        self.leftBehind = leftBehind
        self.isOutOfMemory = isOutOfMemory
        self.errno = errno
    }
}

extension GroupFinished {
    package init(
        group: String, outcome: StepOutcome, duration: Duration, cause: Cause?, errors: [String], cancelled: [String],
        notRun: [String], outputs: [LoggedValue] = [], isExpanded: Bool = true
    ) {
        self.init()
        self.group = group
        self.outcome = outcome
        self.duration = duration
        self.cause = cause
        self.errors = errors
        self.cancelled = cancelled
        self.notRun = notRun
        self.outputs = outputs
        self.isExpanded = isExpanded
    }
}

extension RunFinished.Failure {
    package init(
        step: String?, group: String?, outcome: StepOutcome, cause: Cause, file: String, line: Int?,
        status: ExitStatus?, outputTail: [UInt8], command: FailedCommand? = nil, script: String? = nil,
        outputBytes: Int = 0
    ) {
        self.init()
        self.step = step
        self.group = group
        self.outcome = outcome
        self.cause = cause
        self.file = file
        self.line = line
        self.status = status
        self.outputTail = outputTail
        self.command = command
        self.script = script
        self.outputBytes = outputBytes
    }
}

extension RunFinished {
    package init(
        outcome: StepOutcome, duration: Duration, counts: OutcomeCounts, errors: [Failure], tolerated: [String],
        cancelled: [String], notRun: [String], outputs: [LoggedValue] = []
    ) {
        self.init()
        self.outcome = outcome
        self.duration = duration
        self.counts = counts
        self.errors = errors
        self.tolerated = tolerated
        self.cancelled = cancelled
        self.notRun = notRun
        self.outputs = outputs
    }
}

extension ValueStarted {
    package init(
        value: ValueID, pid: Int32, command: StepStarted.Command, line: Int
    ) {
        self.init()
        self.value = value
        self.pid = pid
        self.command = command
        self.line = line
    }
}

extension ValueFinished {
    package init(
        value: ValueID, outcome: StepOutcome, status: ExitStatus? = nil, duration: Duration? = nil, cause: Cause? = nil,
        process: ProcessReport = ProcessReport()
    ) {
        self.init()
        self.value = value
        self.outcome = outcome
        self.status = status
        self.duration = duration
        self.cause = cause
        self.process = process
    }
}

extension StepRestored {
    package init(
        step: String, outputs: [LoggedValue], item: String?, name: String?, definition: String?,
        standardOutput: [UInt8]?
    ) {
        self.init()
        self.step = step
        self.outputs = outputs
        self.item = item
        self.name = name
        self.definition = definition
        self.standardOutput = standardOutput
    }
}

extension RunStopping {
    package init(
        source: String, cause: Cause, steps: [String] = [], grace: Duration? = nil, finally: Bool = false
    ) {
        self.init()
        self.source = source
        self.cause = cause
        self.steps = steps
        self.grace = grace
        self.finally = finally
    }
}

extension Undoing {
    package init(
        body: String, members: [String]?
    ) {
        self.init()
        self.body = body
        self.members = members
    }
}

extension StepOutput {
    package init(step: String, attempt: Int, stream: Stream, bytes: UnsafeRawBufferPointer, isPartial: Bool) {
        self.init(.step(step), attempt: attempt, stream: stream, bytes: bytes, isPartial: isPartial)
    }
}

extension RunEvent.Kind {
    package static func groupStarted(group: String) -> Self { .groupStarted(GroupStarted { $0.group = group }) }

    package static func groupRetry(group: String, round: Int, delay: Duration) -> Self {
        .groupRetry(GroupRetry { ($0.group, $0.round, $0.delay) = (group, round, delay) })
    }

    package static func stepAdded(step: String, by fanOut: String) -> Self {
        .stepAdded(StepAdded { ($0.step, $0.fanOut) = (step, fanOut) })
    }

    package static func stepAttempt(step: String, attempt: Int, status: ExitStatus) -> Self {
        .stepAttempt(AttemptExit { ($0.step, $0.attempt, $0.status) = (step, attempt, status) })
    }

    package static func stepRetry(step: String, attempt: Int, delay: Duration) -> Self {
        .stepRetry(StepRetry { ($0.step, $0.attempt, $0.delay) = (step, attempt, delay) })
    }

    package static func stepRerun(step: String, reason: RerunReason) -> Self {
        .stepRerun(StepRerun { ($0.step, $0.reason) = (step, reason) })
    }
}

extension TextReporter.Options {
    package init(
        output: OutputMode? = nil, isColored: Bool = false, isVerbose: Bool = false, spoolDirectory: String = "/tmp",
        logFile: String? = nil, why: String? = nil
    ) {
        self.init()
        (self.output, self.isColored, self.isVerbose) = (output, isColored, isVerbose)
        (self.spoolDirectory, self.logFile, self.why) = (spoolDirectory, logFile, why)
    }
}
