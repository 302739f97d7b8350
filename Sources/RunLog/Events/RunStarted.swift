package import Basics

/// The first event of every run.
package struct RunStarted: RecordFields, Sendable {
    /// The run's id, unique on this machine.
    package var run = ""
    /// The workflow file as the user named it.
    package var file = ""
    package var name: String?
    /// The number of steps, each instance counted; those of `fanOuts` are added when the run makes them.
    package var steps = 0
    /// Ids of the outermost fan-outs whose instances become known only during the run.
    package var fanOuts: [String] = []
    /// The number of steps that may run at once.
    package var jobs = 0
    /// flowrun's own version.
    package var version = ""
    /// The values of all parameters in the order of their declarations, secrets masked.
    package var params: [LoggedValue] = []
    /// The run that this one resumes; nil if it resumes none.
    package var resumes: String?
    /// The arguments after `--` on the command line, secrets masked.
    package var arguments: [String] = []
    /// The runs whose durations decide the order in which ready steps start; empty if there are none.
    package var durationsFrom: [String] = []

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.field("run", &run, "id of the run, unique on its machine")
        visitor.field("file", &file, "the workflow file as it was named on the command line")
        visitor.field("name", &name, "`name` of the workflow")
        visitor.field(
            "steps", &steps,
            """
            steps of the run, copies of fan-outs counted one by one; those of `fan_outs` come on top, each with \
            its `step.added`
            """
        )
        visitor.field("fan_outs", &fanOuts, "ids of the outermost fan-outs whose copies only the run knows")
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

/// One of a step's or group's outputs, or of a run's parameters, as the log shows it.
package struct LoggedValue: RecordElement, Sendable, Hashable {
    package let name: String
    /// The value as JSON, secrets masked.
    package let json: String

    package init(name: String, json: String) {
        self.name = name
        self.json = json
    }

    package static var listShape: RecordShape { .map }

    package static func list(_ record: JSONObject, _ name: StaticString) -> [LoggedValue]? {
        record.object(name)?.members.map { LoggedValue(name: $0.name, json: $0.json) }
    }

    package static func write(
        _ list: [LoggedValue], _ name: StaticString, to json: inout JSONWriter, isJournal: Bool
    ) {
        json.object(name) { json in
            for value in list {
                json.key(value.name)
                json.value(json: value.json)
            }
        }
    }
}
