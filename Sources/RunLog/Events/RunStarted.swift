/// The first event of every run.
package struct RunStarted: RecordFields, Sendable {
    /// The run's id, unique on this machine.
    package var run = ""
    /// The workflow file as the user named it.
    package var file = ""
    package var name: String?
    /// How many steps the run has, instances counted one by one; those of `fanOuts` come on top when it makes them.
    package var steps = 0
    /// Ids of the outermost fan-outs whose instances only the run knows.
    package var fanOuts: [String] = []
    /// How many may run at once.
    package var jobs = 0
    /// flowrun's own version.
    package var version = ""
    /// The values of all parameters in the order of their declarations, secrets masked.
    package var params: [LoggedValue] = []
    /// The run that this one resumes; nil where it begins afresh.
    package var resumes: String?
    /// What follows `--` on the command line, secrets masked.
    package var arguments: [String] = []
    /// The runs whose durations decided the order in which ready steps start; empty if none did.
    package var durationsFrom: [String] = []

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.field("run", &run, "id of the run, unique on its machine")
        visitor.field("file", &file, "the workflow file as it was named on the command line")
        visitor.field("name", &name, "`name` of the workflow")
        visitor.field(
            "steps", &steps,
            "steps of the run, instances of fan-outs counted one by one; those of `fan_outs` come on top, each with its `step.added`"
        )
        visitor.field("fan_outs", &fanOuts, "ids of the outermost fan-outs whose instances only the run knows")
        visitor.field("jobs", &jobs, FieldRule("how many steps may run at once", least: 1))
        visitor.field("version", &version, "version of flowrun")
        visitor.field("params", &params, "the workflow's parameters and their values, secrets masked")
        visitor.field("args", &arguments, "what followed `--` on the command line, secrets masked")
        visitor.field("resumes", &resumes, "id of the run that this one resumes")
        visitor.field(
            "durations_from", &durationsFrom,
            "ids of the runs whose durations decide which ready steps start first, the last one first")
    }
}
