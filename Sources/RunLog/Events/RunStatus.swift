/// The state of a live run: the answer to `flowrun ctl status`.
package struct RunStatus: RecordFields, Sendable {
    package enum State: String, RecordWord, Sendable {
        case running
        /// Its processes are stopped until the run continues.
        case frozen
        /// It was asked to end and has not ended yet.
        case stopping
    }

    package struct RunningStep: RecordFields, RecordElement, Sendable {
        package var step = ""
        /// From 1.
        package var attempt = 1
        /// nil if there is no process yet.
        package var pid: Int32?
        /// The time since the attempt began.
        package var duration = Duration.zero
        package var state = State.running

        package init() {}

        package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
            visitor.step(&step)
            visitor.attempt(&attempt)
            visitor.field("pid", &pid, "process id; null before there is a process")
            visitor.field("seconds", &duration, "since the attempt began")
            visitor.field("state", &state, "what it does")
        }
    }

    /// A running command of one of `vars`.
    package struct RunningValue: RecordFields, RecordElement, Sendable {
        package var value = ValueID(name: "", group: nil)
        package var pid: Int32 = 0
        /// The time since its process was started.
        package var duration = Duration.zero
        package var state = State.running

        package init() {}

        package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
            value.fields(&visitor)
            visitor.field("pid", &pid, "process id")
            visitor.field("seconds", &duration, "since the process was started")
            visitor.field("state", &state, "what it does")
        }
    }

    package var run = ""
    /// The workflow file as the user named it.
    package var file = ""
    package var name: String?
    /// nil before the end of the run. After the end, the log is still being written.
    package var outcome: StepOutcome?
    /// The time since the run started.
    package var elapsed = Duration.zero
    /// The number of steps that may run at once.
    package var jobs = 0
    /// The number of steps, each instance counted.
    package var steps = 0
    package var isPaused = false
    /// True once the whole run has been asked to end.
    package var isStopping = false
    /// The outcomes of the steps that have ended.
    package var counts = OutcomeCounts()
    /// Running steps, the longest running first.
    package var running: [RunningStep] = []
    /// The running commands of `vars`, in the order of their starts.
    package var values: [RunningValue] = []
    /// Ids of the steps that have neither ended nor started, in the order of the file.
    package var waiting: [String] = []

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.field("run", &run, "id of the run")
        visitor.field("file", &file, "the workflow file as it was named on the command line")
        visitor.field("name", &name, "`name` of the workflow")
        visitor.field("outcome", &outcome, "how the run ended; null before its end")
        visitor.field("elapsed", &elapsed, "seconds since the run started")
        visitor.field("jobs", &jobs, "how many steps may run at once")
        visitor.field("steps", &steps, "steps of the run, copies of fan-outs counted one by one")
        visitor.field("paused", &isPaused, "whether nothing new starts")
        visitor.field("stopping", &isStopping, "whether the whole run has been asked to end")
        visitor.field("counts", &counts, "steps by outcome")
        visitor.field("running", &running, "running steps, the longest running first")
        visitor.field("values", &values, "running commands of `vars`")
        visitor.field("waiting", &waiting, "ids of the steps that have neither ended nor started")
    }
}
