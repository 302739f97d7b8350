internal import Basics

/// The first record of a journal: what a reader has to know of the run besides its events.
package struct JournalHeader: Sendable, Equatable {
    package let run: String
    /// The workflow file as the user named it.
    package let file: String
    /// The absolute path of the workflow file; nil for standard input.
    package let path: String?
    /// The workflow's name in the state directory; nil for standard input.
    package let workflow: String?
    /// Wall clock at the start, microseconds since 1970 in UTC. Only a label, since clocks are set.
    package let time: Int64
    /// Larger than the number of each run that began earlier in the same state directory; 0 for runs of a version
    /// that did not count them.
    package let number: Int
    /// The run whose step has started this one; nil if there is none.
    package let parent: String?
    /// The checksum of the key of its digests; nil if unknown.
    package let key: String?
    /// The steps and groups that the command line chose; empty for all.
    package let targets: [String]
    /// Parameters as given, `NAME=VALUE`, with secrets masked.
    package let params: [String]
    /// The run that this one resumes; nil if it resumes none.
    package let resumes: String?
    /// The first run of the chain in which each run has resumed the one before.
    package let origin: String
    /// The common part of the marks of its processes; nil if they have no marks.
    package let mark: UInt64?
    /// The file of the JSON log; nil if there is none.
    package let logFile: String?
    /// The path of the run's folder as shown to users; nil if it is not shown.
    package let folder: String?
    /// The command that the log's summary names for more about a step; nil if it names none.
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

    /// The value of the field `event` in this record, which is no event of the run.
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

    /// Returns nil for a record of another kind or of an unknown version.
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
