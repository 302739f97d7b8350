internal import Basics

/// The last event of every run.
package struct RunFinished: RecordFields, Sendable {
    package var outcome = StepOutcome.success
    package var duration = Duration.zero
    package var counts = OutcomeCounts()
    /// Root causes in order of occurrence.
    package var errors: [Failure] = []
    package var tolerated: [String] = []
    package var cancelled: [String] = []
    package var notRun: [String] = []
    /// The outputs of the workflow itself, as in `StepFinished`.
    package var outputs: [LoggedValue] = []

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.outcome(&outcome)
        visitor.field("duration", &duration, "seconds")
        visitor.field("counts", &counts, "steps by outcome")
        visitor.field("errors", &errors, "what went wrong, root causes only, in order of occurrence")
        visitor.field("tolerated", &tolerated, "steps whose failure is tolerated")
        visitor.field(
            "cancelled", &cancelled, "steps that were cancelled, and fan-outs before their copies were known")
        visitor.field(
            "not_run", &notRun, "steps that something upstream ruled out, and fan-outs before their copies were known")
        visitor.field("outputs", &outputs, "the workflow's outputs by name")
    }

    /// A failure or timeout of a step; of a group or the run where `step` is nil.
    package struct Failure: RecordFields, RecordElement, Sendable {
        package var step: String?
        package var group: String?
        package var outcome = StepOutcome.failure
        package var cause = Cause()
        package var file = ""
        /// nil if the file is not to blame, as for a `--timeout` of the run.
        package var line: Int?
        package var status: ExitStatus?
        /// The command at which the step's script failed; nil if unknown, and for everything but failures.
        package var command: FailedCommand?
        /// The last lines that the step wrote, both streams in the order of arrival.
        package var outputTail: [UInt8] = []
        /// The step's script with secrets masked; nil if it has none. Not in the log.
        package var script: String?
        /// The number of bytes that the step wrote in its last attempt. Not in the log.
        package var outputBytes = 0

        package init() {}

        package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
            visitor.field("step", &step, "the step")
            visitor.field("group", &group, "the group")
            visitor.outcome(&outcome)
            visitor.field("cause", &cause, "why")
            visitor.field("file", &file, "the workflow file")
            visitor.field(
                "line", &line,
                FieldRule("its line in the file, from 1; null where the file does not say it", least: 1))
            visitor.status(&status)
            FailedCommand.fields(of: &command, &visitor)
            visitor.field(
                "output_tail", &outputTail, "the last lines the step wrote, both streams in the order they came")
            let isText = String(validating: outputTail, as: UTF8.self) != nil
            var exactTail = isText ? nil : Base64.text(of: outputTail)
            visitor.kept("tail_base64", &exactTail)
            if Visitor.isReader, let exactTail {
                if let bytes = Base64.bytes(of: exactTail) { outputTail = bytes } else { visitor.fail() }
            }
            visitor.kept("script", &script)
            var size = Optional(outputBytes)
            visitor.kept("output_bytes", &size)
            if Visitor.isReader { outputBytes = size ?? 0 }
        }
    }
}

/// A request to stop the whole run, with the steps that it stops.
package struct RunStopping: RecordFields, Sendable {
    /// The origin of the request, such as `SIGINT`, `ctl` or `timeout`.
    package var source = ""
    package var cause = Cause()
    /// The running steps that are asked to end; hooks continue.
    package var steps: [String] = []
    /// The longest grace of these steps; nil if none is asked to end.
    package var grace: Duration?
    /// True if `finally` is still to run; a second signal skips it.
    package var finally = false

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.field("source", &source, "who asked, such as `SIGINT`, `ctl`, `timeout` or `flowrun`")
        visitor.field("cause", &cause, "why")
        visitor.field("steps", &steps, "the running steps that are asked to end; hooks go on")
        visitor.field(
            "grace", &grace,
            "seconds that the one with the longest grace may take; null where nothing is asked to end")
        visitor.field("finally", &finally, "whether `finally` is still to run, unless a second signal comes")
    }
}
