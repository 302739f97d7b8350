/// One thing that happened in a run. The only thing reporters see; the exit code is computed from the last one.
///
/// Order within a run (invariants I1-I10, research/seeds.md): `seq` is gapless from 0, the first event is `runStarted`
/// and the last `runFinished`; a step or group has exactly one finished event and nothing of it comes afterwards.
package struct RunEvent: Sendable {
    package let sequence: Int
    /// Wall clock, microseconds since 1970 in UTC; a label only, never used for arithmetic.
    package let wallClock: Int64
    /// Since the run started, monotonic.
    package let elapsed: Duration
    package let kind: Kind
    /// Of an event of a step or group inside a group that may be retried: which time that group runs, from 0.
    package let round: Int?

    package init(sequence: Int, wallClock: Int64, elapsed: Duration, kind: Kind, round: Int? = nil) {
        self.sequence = sequence
        self.wallClock = wallClock
        self.elapsed = elapsed
        self.kind = kind
        self.round = round
    }

    package enum Kind: Sendable {
        case runStarted(RunStarted)
        /// Nothing new starts from here on. `source` is who asked: `ctl`, `--paused` or the name of a signal.
        case runPaused(source: String)
        case runResumed(source: String)
        /// How many steps may run at once from here on.
        case runJobs(jobs: Int, source: String)
        /// Somebody asked for the end of the whole run: a signal or the run's own timeout.
        case runCancelRequested(source: String, cause: Cause)
        case groupStarted(group: String)
        case groupCancelRequested(group: String, cause: Cause)
        /// A round of the group has failed, and there will be another after the delay; `round` is the one that failed.
        case groupRetry(group: String, round: Int, delay: Duration)
        case groupFinished(GroupFinished)
        /// The run has learned that it has this step: `by` is the fan-out that made it.
        case stepAdded(step: String, by: String)
        /// Everything a step or group (`id`) needs has ended, and nothing but a free place is missing. Only told where
        /// somebody asks for it, as are the next three.
        case ready(Subject)
        /// It could start but for a lock, by name, or for a limit (nil).
        case waiting(Subject, on: String?)
        case lockAcquired(name: String, by: Subject)
        case lockReleased(name: String, by: Subject)
        /// The process of an attempt exists.
        case stepStarted(StepStarted)
        case stepOutput(StepOutput)
        case stepCancelRequested(step: String, attempt: Int, cause: Cause)
        /// A signal was sent to the step's processes; `signal` is its name, such as `SIGTERM`.
        case stepSignal(step: String, attempt: Int, signal: String)
        /// The attempt's first process has ended.
        case stepAttempt(step: String, attempt: Int, status: ExitStatus)
        /// The attempt has failed, and there will be another after the delay.
        case stepRetry(step: String, attempt: Int, delay: Duration)
        case stepFinished(StepFinished)
        case warning(code: String, message: String)
        case runFinished(RunFinished)
    }
}

/// A step or group by its full id.
package enum Subject: Sendable, Hashable {
    case step(String)
    case group(String)
}

/// One of a step's or group's outputs, or of a run's parameters, as the log shows it.
package struct LoggedValue: Sendable, Hashable {
    package let name: String
    /// The value as JSON, secrets masked.
    package let json: String

    package init(name: String, json: String) {
        self.name = name
        self.json = json
    }
}

/// The first event of every run.
package struct RunStarted: Sendable {
    /// The run's id, unique on this machine.
    package let run: String
    /// The workflow file as the user named it.
    package let file: String
    package let name: String?
    /// How many steps the run has, instances counted one by one.
    package let steps: Int
    /// How many may run at once.
    package let jobs: Int
    /// flowrun's own version.
    package let version: String
    /// The values of all parameters in the order of their declarations, secrets masked.
    package let params: [LoggedValue]

    package init(
        run: String, file: String, name: String?, steps: Int, jobs: Int, version: String, params: [LoggedValue] = []
    ) {
        self.params = params
        self.run = run
        self.file = file
        self.name = name
        self.steps = steps
        self.jobs = jobs
        self.version = version
    }
}

package struct StepStarted: Sendable {
    package enum Command: Sendable {
        case script(String)
        case arguments([String])
    }

    package let step: String
    /// From 1.
    package let attempt: Int
    package let pid: Int32
    package let command: Command
    /// Where the step stands in the workflow file.
    package let line: Int
    /// The values of the innermost fan-out around the step, in axis order, with commas between them; the id has only
    /// their number where one of them is no plain word. Nil outside of a fan-out.
    package let item: String?
    /// How people are to be shown what it writes; nil where the file does not say.
    package let view: OutputView?

    package init(
        step: String, attempt: Int, pid: Int32, command: Command, line: Int, item: String? = nil,
        view: OutputView? = nil
    ) {
        self.item = item
        self.view = view
        self.step = step
        self.attempt = attempt
        self.pid = pid
        self.command = command
        self.line = line
    }
}

/// What the file says of how a step's output is shown; nothing is left out of what is recorded.
package enum OutputView: Sendable, Hashable {
    /// Each line as it comes.
    case live
    /// As one block when the step ends.
    case grouped
    /// Only of a step that does not succeed.
    case quiet
}

/// Bytes a step has written: whole lines with their ends, unless `isPartial`.
package struct StepOutput: Sendable {
    package enum Stream: String, Sendable {
        case stdout, stderr
    }

    package let step: String
    package let attempt: Int
    package let stream: Stream
    /// As written, not checked for UTF-8. Joining the events of one stream gives exactly what the step wrote. A piece
    /// that stops inside a line does not stop inside a UTF-8 sequence unless the output ends there, so that each piece
    /// can be repaired by itself.
    package let bytes: [UInt8]
    /// Whether the bytes stop in the middle of a line: the line is longer than the cap, or the output ended there.
    package let isPartial: Bool

    package init(step: String, attempt: Int, stream: Stream, bytes: [UInt8], isPartial: Bool) {
        self.step = step
        self.attempt = attempt
        self.stream = stream
        self.bytes = bytes
        self.isPartial = isPartial
    }
}

/// What the kernel counted for a step's processes that were waited for.
package struct ResourceUsage: Sendable, Hashable {
    /// Kibibytes.
    package let maxResident: Int
    /// CPU time.
    package let user: Duration
    package let system: Duration

    package init(maxResident: Int, user: Duration, system: Duration) {
        self.maxResident = maxResident
        self.user = user
        self.system = system
    }
}

package struct StepFinished: Sendable {
    package let step: String
    /// 0 where the step never started.
    package let attempt: Int
    package let outcome: StepOutcome
    /// nil where no process was started, or none could be.
    package let status: ExitStatus?
    /// From the start of the process to its end; nil where no process was started.
    package let duration: Duration?
    /// nil for a success, a chain down to a root for everything else.
    package let cause: Cause?
    /// What it hands on, in the order of the file; empty unless it succeeded.
    package let outputs: [LoggedValue]
    /// Bytes on both streams together.
    package let outputBytes: Int
    package let usage: ResourceUsage?
    /// Why the output may be incomplete, such as `held_open`; nil where it is whole.
    package let outputTruncated: String?
    /// Which container held the step's processes, such as `session`; nil where no process was started.
    package let containment: String?
    /// How many processes outlived the step's first one and had to be killed.
    package let escaped: Int
    /// The failed system call's error number where the process could not be started.
    package let errno: Int32?
    /// Whether a failure of this step is tolerated (`continue-on-error`).
    package let isTolerated: Bool
    /// As in `StepStarted`.
    package let item: String?

    package init(
        step: String, attempt: Int, outcome: StepOutcome, status: ExitStatus? = nil, duration: Duration? = nil,
        cause: Cause? = nil, outputs: [LoggedValue] = [], outputBytes: Int = 0, usage: ResourceUsage? = nil,
        outputTruncated: String? = nil,
        containment: String? = nil, escaped: Int = 0, errno: Int32? = nil, isTolerated: Bool = false,
        item: String? = nil
    ) {
        self.item = item
        self.step = step
        self.attempt = attempt
        self.outcome = outcome
        self.status = status
        self.duration = duration
        self.cause = cause
        self.outputs = outputs
        self.outputBytes = outputBytes
        self.usage = usage
        self.outputTruncated = outputTruncated
        self.containment = containment
        self.escaped = escaped
        self.errno = errno
        self.isTolerated = isTolerated
    }
}

package struct GroupFinished: Sendable {
    package let group: String
    package let outcome: StepOutcome
    package let duration: Duration
    package let cause: Cause?
    /// Ids of the members, at any depth, that failed or timed out and are not tolerated, in order of their end.
    package let errors: [String]
    package let cancelled: [String]
    package let notRun: [String]
    /// As in `StepFinished`.
    package let outputs: [LoggedValue]

    package init(
        group: String, outcome: StepOutcome, duration: Duration, cause: Cause?, errors: [String], cancelled: [String],
        notRun: [String], outputs: [LoggedValue] = []
    ) {
        self.outputs = outputs
        self.group = group
        self.outcome = outcome
        self.duration = duration
        self.cause = cause
        self.errors = errors
        self.cancelled = cancelled
        self.notRun = notRun
    }
}

/// The last event of every run.
package struct RunFinished: Sendable {
    /// A failure or timeout of a step; of a group or the run where `step` is nil.
    package struct Failure: Sendable {
        package let step: String?
        package let group: String?
        package let outcome: StepOutcome
        package let cause: Cause
        package let file: String
        /// nil where the file does not say it, as for a `--timeout` of the run.
        package let line: Int?
        package let status: ExitStatus?
        /// The last lines the step wrote, both streams in the order they arrived.
        package let outputTail: [UInt8]

        package init(
            step: String?, group: String?, outcome: StepOutcome, cause: Cause, file: String, line: Int?,
            status: ExitStatus?, outputTail: [UInt8]
        ) {
            self.step = step
            self.group = group
            self.outcome = outcome
            self.cause = cause
            self.file = file
            self.line = line
            self.status = status
            self.outputTail = outputTail
        }
    }

    package let outcome: StepOutcome
    package let duration: Duration
    package let counts: OutcomeCounts
    /// Root causes in order of occurrence.
    package let errors: [Failure]
    package let tolerated: [String]
    package let cancelled: [String]
    package let notRun: [String]
    /// The workflow's own, as in `StepFinished`.
    package let outputs: [LoggedValue]

    package init(
        outcome: StepOutcome, duration: Duration, counts: OutcomeCounts, errors: [Failure], tolerated: [String],
        cancelled: [String], notRun: [String], outputs: [LoggedValue] = []
    ) {
        self.outputs = outputs
        self.outcome = outcome
        self.duration = duration
        self.counts = counts
        self.errors = errors
        self.tolerated = tolerated
        self.cancelled = cancelled
        self.notRun = notRun
    }
}
