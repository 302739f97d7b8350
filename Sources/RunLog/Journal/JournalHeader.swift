internal import Basics
internal import Glibc

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

/// Reads the durations of a run's steps from its journal and skips the rest of each record.
package enum JournalDurations {
    /// Reports the steps that have succeeded, in the order of their ends, up to the first record that is not whole;
    /// none if there is no journal.
    package static func read(in folder: Int32, _ note: (_ step: String, Duration) -> Void) {
        let file = JournalLines.open(in: folder)
        guard file >= 0 else { return }
        defer { close(file) }
        var lines = JournalLines(file)
        while let (step, duration) = lines.next(end) { note(step, duration) }
    }

    /// Returns nil unless the record is the end of a step that has succeeded.
    private static func end(_ record: UnsafeRawBufferPointer) -> (step: String, Duration)? {
        guard let rest = JournalEventName.finished.fields(in: record) else { return nil }
        var (step, duration): (String?, Duration?) = (nil, nil)
        var isSuccess = false
        JSONText.forEachField(in: rest) { name, value in
            if name.isText("step") {
                step = value.string
            } else if name.isText("outcome") {
                isSuccess = value.isText(#""success""#)
                return isSuccess
            } else if name.isText("duration") {
                duration = value.duration
                return false
            }
            return true
        }
        guard isSuccess, let step, let duration else { return nil }
        return (step, duration)
    }

}

/// Reads the starts of hooks from a run's journal and skips all other records.
package enum JournalHooks {
    /// The start of a step in a hook. Of two that are equal, a resume needs only the last.
    package struct Start: Sendable, Hashable {
        let step: String
        let undoing: Undoing
    }

    /// Returns all starts with a process, and those of which a kill leaves that open; nil if the journal does not
    /// have all, was changed or cannot be read.
    package static func read(in folder: Int32) -> Set<Start>? {
        let file = JournalLines.open(in: folder)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var lines = JournalLines(file)
        var starts: Set<Start> = []
        /// By step: those whose process is not recorded yet, which is hardly ever more than the last record.
        var open: [String: Undoing] = [:]
        while let event = lines.next({ record in
            let isWanted = !open.isEmpty || JournalEventName.undoes.fields(in: record) != nil
            return isWanted ? JSONObject(record).flatMap { RunEvent($0) } : nil
        }) {
            switch event.kind {
            case .stepUndoes(let step, let undoing): open[step] = undoing
            case .stepStarted(let start):
                if let undoing = open.removeValue(forKey: start.step) {
                    starts.insert(Start(step: start.step, undoing: undoing))
                }
            case .stepFinished(let end) where end.attempt == 0: open[end.step] = nil
            default: break
            }
        }
        guard lines.damage == nil, lines.skipped == nil, lines.failure == nil, !JournalGap.isMarked(file) else {
            return nil
        }
        return starts.union(open.map { Start(step: $0.key, undoing: $0.value) })
    }
}

/// The event of a record, by which other records are skipped before they are parsed.
private enum JournalEventName {
    case finished, undoes

    /// The length of the part of a record that has its event, in bytes.
    private static let headSize = 256

    /// `"event":"step.finished",` from its `v` on: that letter hardly occurs earlier in a record, so `memchr` finds
    /// it at once.
    private var event: StaticString {
        switch self {
        case .finished: #"vent":"step.finished","#
        case .undoes: #"vent":"step.undoes","#
        }
    }

    /// Returns the fields after this event; nil for records of other events.
    func fields(in record: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        let event = event
        let letter = Int32(event.utf8Start[0])
        var rest = UnsafeRawBufferPointer(rebasing: record.prefix(Self.headSize))
        while let start = rest.baseAddress, let found = memchr(start, letter, rest.count) {
            let place = UnsafeRawPointer(found) - start
            guard rest.count - place >= event.utf8CodeUnitCount else { return nil }
            if memcmp(found, event.utf8Start, event.utf8CodeUnitCount) == 0 {
                let end = UnsafeRawPointer(found) - record.baseAddress! + event.utf8CodeUnitCount
                return UnsafeRawBufferPointer(rebasing: record[end...])
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[(place + 1)...])
        }
        return nil
    }
}
