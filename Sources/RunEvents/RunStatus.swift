/// Where a live run stands, as it answers whoever asks.
package struct RunStatus: Sendable {
    package struct RunningStep: Sendable, Hashable {
        package enum State: String, Sendable, Hashable {
            case running
            /// Its processes are stopped where they are, until the run goes on.
            case frozen
            /// It has been asked to end and is still awaited.
            case stopping
        }

        package let step: String
        /// From 1.
        package let attempt: Int
        /// Since the attempt began.
        package let duration: Duration
        package let state: State
        /// nil where there is no process yet.
        package let pid: Int32?

        package init(step: String, attempt: Int, duration: Duration, state: State, pid: Int32?) {
            self.step = step
            self.attempt = attempt
            self.duration = duration
            self.state = state
            self.pid = pid
        }
    }

    /// A running command of one of `vars`.
    package struct RunningValue: Sendable, Hashable {
        package let value: ValueID
        /// Since its process was started.
        package let duration: Duration
        package let state: RunningStep.State
        package let pid: Int32

        package init(value: ValueID, duration: Duration, state: RunningStep.State, pid: Int32) {
            self.value = value
            self.duration = duration
            self.state = state
            self.pid = pid
        }
    }

    package let run: String
    /// The workflow file as the user named it.
    package let file: String
    package let name: String?
    /// How the run ended; nil before its end. After it the log is still being written.
    package let outcome: StepOutcome?
    /// Since the run started.
    package let elapsed: Duration
    /// How many steps may run at once.
    package let jobs: Int
    /// Steps, instances counted one by one.
    package let steps: Int
    package let isPaused: Bool
    /// Whether the whole run has been asked to end.
    package let isStopping: Bool
    /// Of the steps that have ended.
    package let counts: OutcomeCounts
    /// Those that have been running longest first.
    package let running: [RunningStep]
    /// The running commands of `vars`, in the order of their starts.
    package let values: [RunningValue]
    /// Ids of the steps that have neither ended nor started, in the order of the file.
    package let waiting: [String]

    package init(
        run: String, file: String, name: String?, outcome: StepOutcome?, elapsed: Duration, jobs: Int, steps: Int,
        isPaused: Bool, isStopping: Bool, counts: OutcomeCounts, running: [RunningStep],
        values: [RunningValue] = [], waiting: [String]
    ) {
        self.run = run
        self.file = file
        self.name = name
        self.outcome = outcome
        self.elapsed = elapsed
        self.jobs = jobs
        self.steps = steps
        self.isPaused = isPaused
        self.isStopping = isStopping
        self.counts = counts
        self.running = running
        self.values = values
        self.waiting = waiting
    }
}
