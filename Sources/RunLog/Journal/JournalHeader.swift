internal import Basics

/// The first record of a journal: what a reader has to know of the run beside its events.
package struct JournalHeader: Sendable, Equatable {
    package let run: String
    /// The workflow file as it was named.
    package let file: String
    /// The same, absolute; nil for standard input.
    package let path: String?
    /// The workflow's name in the state directory; nil for standard input.
    package let workflow: String?
    /// Wall clock at the start, microseconds since 1970 in UTC; only a label, since clocks are set.
    package let time: Int64
    /// Larger than the numbers of the runs that began before it in the same state directory; 0 for runs of a version
    /// that did not count them.
    package let number: Int
    /// The run whose step has started this one; nil for none.
    package let parent: String?
    /// The checksum of the key of its digests; nil if that is not known.
    package let key: String?
    /// The steps and groups that the command line chose; empty for all.
    package let targets: [String]
    /// Parameters as they were given, `NAME=VALUE`, secrets masked.
    package let params: [String]
    /// The run that this one resumes; nil where it begins afresh.
    package let resumes: String?
    /// The first of the runs of which each has resumed the one before.
    package let origin: String
    /// What the marks of its processes have in common; nil where they have none.
    package let mark: UInt64?
    /// Where the JSON log was written to as well; nil for nowhere.
    package let logFile: String?
    /// The path of the run's folder as it is shown to people; nil where it is not.
    package let folder: String?
    /// The command that the log's summary names for more about a step; nil where it names none.
    package let why: String?

    package init(
        run: String, file: String, path: String?, workflow: String?, time: Int64, number: Int = 0,
        parent: String? = nil, key: String? = nil, targets: [String] = [], params: [String] = [],
        resumes: String? = nil, origin: String? = nil, mark: UInt64? = nil, logFile: String? = nil,
        folder: String? = nil, why: String? = nil
    ) {
        self.mark = mark
        self.folder = folder
        self.resumes = resumes
        self.origin = origin ?? run
        self.run = run
        self.file = file
        self.path = path
        self.workflow = workflow
        self.time = time
        self.number = number
        self.parent = parent
        self.key = key
        self.targets = targets
        self.params = params
        self.logFile = logFile
        self.why = why
    }

    /// The word in the field `event` of this record, which is no event of the run.
    static let event = "journal"
    private static let version = 1

    func write(to json: inout JSONWriter) {
        json.field("v", Self.version)
        json.field("event", Self.event)
        json.field("run", run)
        json.field("file", file)
        json.field("path", path)
        json.field("workflow", workflow)
        json.timestamp("time", microseconds: time)
        json.field("number", number)
        json.field("parent", parent)
        json.field("key", key)
        json.field("targets", targets)
        json.field("params", params)
        json.field("resumes", resumes)
        json.field("origin", origin)
        json.field("mark", mark.map(Int.init))
        json.field("log_file", logFile)
        json.field("folder", folder)
        json.field("why", why)
    }

    /// nil for a record of another kind, or of a version that is not known.
    init?(_ record: JSONObject) {
        guard record.int("v") == Self.version, record.string("event") == Self.event, let run = record.string("run"),
            let file = record.string("file"), let time = record.string("time").flatMap(Timestamp.microseconds),
            let targets = record.strings("targets"), let params = record.strings("params")
        else { return nil }
        self.init(
            run: run, file: file, path: record.string("path"), workflow: record.string("workflow"), time: time,
            number: record.int("number") ?? 0, parent: record.string("parent"), key: record.string("key"),
            targets: targets, params: params, resumes: record.string("resumes"), origin: record.string("origin"),
            mark: record.int("mark").flatMap(UInt64.init(exactly:)), logFile: record.string("log_file"),
            folder: record.string("folder"),
            why: record.string("why"))
    }
}
