internal import Basics

/// The first record of a journal: what a reader has to know of the run besides its events.
package struct JournalHeader: RecordFields, Sendable, Equatable {
    package var run = ""
    /// The workflow file as the user named it.
    package var file = ""
    /// The absolute path of the workflow file; nil for standard input.
    package var path: String?
    /// The workflow's name in the state directory; nil for standard input.
    package var workflow: String?
    /// Wall clock at the start, microseconds since 1970 in UTC. Only a label, since clocks are set.
    package var time: Int64 = 0
    /// Larger than the number of each run that began earlier in the same state directory; 0 for runs of a version
    /// that did not count them.
    package var number = 0
    /// The run whose step has started this one; nil if there is none.
    package var parent: String?
    /// The checksum of the key of its digests; nil if unknown.
    package var key: String?
    /// The steps and groups that the command line chose; empty for all.
    package var targets: [String] = []
    /// Parameters as given, `NAME=VALUE`, with secrets masked.
    package var params: [String] = []
    /// The run that this one resumes; nil if it resumes none.
    package var resumes: String?
    /// The first run of the chain in which each run has resumed the one before; nil if that is this run.
    package var first: String?
    /// The common part of the marks of its processes; nil if they have no marks.
    package var mark: UInt64?
    /// The file of the JSON log; nil if there is none.
    package var logFile: String?
    /// The path of the run's folder as shown to users; nil if it is not shown.
    package var folder: String?
    /// The command that the log's summary names for more about a step; nil if it names none.
    package var why: String?

    /// The first run of the chain in which each run has resumed the one before.
    package var origin: String { first ?? run }

    /// The value of the field `event` in this record, which is no event of the run.
    static let event = "journal"

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        var (version, event, clock) = (RecordVersion(), Self.event, RecordTime(microseconds: time))
        var (count, origin, sharedMark) = (Optional(number), Optional(origin), mark.map(Int.init))
        visitor.field("v", &version)
        visitor.field("event", &event)
        visitor.field("run", &run)
        visitor.field("file", &file)
        visitor.field("path", &path)
        visitor.field("workflow", &workflow)
        visitor.field("time", &clock)
        visitor.field("number", &count)
        visitor.field("parent", &parent)
        visitor.field("key", &key)
        visitor.field("targets", &targets)
        visitor.field("params", &params)
        visitor.field("resumes", &resumes)
        visitor.field("origin", &origin)
        visitor.field("mark", &sharedMark)
        visitor.field("log_file", &logFile)
        visitor.field("folder", &folder)
        visitor.field("why", &why)
        guard Visitor.isReader else { return }
        if event != Self.event { visitor.fail() }
        (time, number, first) = (clock.microseconds, count ?? 0, origin == run ? nil : origin)
        mark = sharedMark.flatMap(UInt64.init(exactly:))
    }
}

extension RecordVisitor where Self: ~Copyable {
    /// Visits a field of a record that no schema describes.
    @inline(__always)
    fileprivate mutating func field<Value: RecordValue>(_ name: StaticString, _ value: inout Value) {
        field(name, &value, FieldRule(""))
    }
}
