/// The first event of every run.
package struct RunStarted: Sendable {
    /// The run's id, unique on this machine.
    package let run: String
    /// The workflow file as the user named it.
    package let file: String
    package let name: String?
    /// How many steps the run has, instances counted one by one; those of `fanOuts` come on top when it makes them.
    package let steps: Int
    /// Ids of the outermost fan-outs whose instances only the run knows.
    package let fanOuts: [String]
    /// How many may run at once.
    package let jobs: Int
    /// flowrun's own version.
    package let version: String
    /// The values of all parameters in the order of their declarations, secrets masked.
    package let params: [LoggedValue]
    /// The run that this one resumes; nil where it begins afresh.
    package let resumes: String?
    /// What follows `--` on the command line, secrets masked.
    package let arguments: [String]
    /// The runs whose durations decided the order in which ready steps start; empty if none did.
    package let durationsFrom: [String]

    package init(
        run: String, file: String, name: String?, steps: Int, fanOuts: [String] = [], jobs: Int, version: String,
        params: [LoggedValue] = [], arguments: [String] = [], resumes: String? = nil, durationsFrom: [String] = []
    ) {
        self.durationsFrom = durationsFrom
        self.resumes = resumes
        self.arguments = arguments
        self.fanOuts = fanOuts
        self.params = params
        self.run = run
        self.file = file
        self.name = name
        self.steps = steps
        self.jobs = jobs
        self.version = version
    }
}
