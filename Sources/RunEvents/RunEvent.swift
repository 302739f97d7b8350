/// One thing that happened in a run. The only thing reporters see; the exit code is computed from the last one.
///
/// Order within a run: `sequence` is gapless from 0, the first event is `runStarted` and the last `runFinished`; a step
/// or group has exactly one finished event and nothing of it comes afterwards. What a step has written is only lent: an
/// event is valid while it is reported.
package struct RunEvent {
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

    /// What is large is held by reference: an event goes through many hands.
    package enum Kind {
        indirect case runStarted(RunStarted)
        /// Nothing new starts from here on. `source` is who asked: `ctl`, `--paused` or the name of a signal.
        case runPaused(source: String)
        case runResumed(source: String)
        /// How many steps may run at once from here on.
        case runJobs(jobs: Int, source: String)
        /// Somebody asked for the end of the whole run: a signal or the run's own timeout.
        indirect case runCancelRequested(RunStopping)
        case groupStarted(group: String)
        case groupCancelRequested(group: String, cause: Cause)
        /// A round of the group has failed, and there will be another after the delay; `round` is the one that failed.
        case groupRetry(group: String, round: Int, delay: Duration)
        indirect case groupFinished(GroupFinished)
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
        indirect case stepStarted(StepStarted)
        /// The writer is a step or the command of one of `vars`.
        case stepOutput(StepOutput)
        case stepCancelRequested(step: String, attempt: Int, cause: Cause)
        /// A signal was sent to the step's processes; `signal` is its name, such as `SIGTERM`.
        case stepSignal(step: String, attempt: Int, signal: String)
        /// The attempt's first process has ended.
        case stepAttempt(step: String, attempt: Int, status: ExitStatus)
        /// The attempt has failed, and there will be another after the delay.
        case stepRetry(step: String, attempt: Int, delay: Duration)
        indirect case stepFinished(StepFinished)
        /// The step is taken over from the run that this one resumes: it has neither started nor finished.
        indirect case stepRestored(StepRestored)
        /// The step is about to start although the run that this one resumes had started it, too.
        case stepRerun(step: String, reason: RerunReason)
        /// The step of a hook is about to start, and counts as undoing something from here on.
        case stepUndoes(step: String, Undoing)
        indirect case valueStarted(ValueStarted)
        indirect case valueFinished(ValueFinished)
        case warning(code: String, message: String)
        indirect case runFinished(RunFinished)
    }
}

/// The steps and groups that count as undone once a step of a hook starts.
package struct Undoing: Sendable, Hashable {
    /// The id of the group that the hook belongs to; empty for the run.
    package let body: String
    /// Ids below it, as its `undoes` says; nil for the whole body.
    package let members: [String]?

    package init(body: String, members: [String]?) {
        self.body = body
        self.members = members
    }

    /// Full ids of steps and groups; empty for the run as a whole.
    package var ids: [String] {
        guard let members else { return [body] }
        return body.isEmpty ? members : members.map { "\(body).\($0)" }
    }
}
