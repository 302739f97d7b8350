package import Basics

/// One event of a run. Reporters see nothing else; the exit code is computed from the last event.
///
/// Order within a run: `sequence` counts from 0 without gaps, the first event is `runStarted` and the last
/// `runFinished`. A step or group has exactly one finished event, and no event after it. The bytes of output are
/// borrowed: an event is valid only while it is reported.
package struct RunEvent {
    package var sequence = 0
    /// Wall clock, microseconds since 1970 in UTC; only a label, never used for arithmetic.
    package var wallClock: Int64 = 0
    /// The time since the run started, on a monotonic clock.
    package var elapsed = Duration.zero
    package var kind: Kind
    /// For events of a step or group inside a group that may be retried: the round of that group, from 0.
    package var round: Int?

    package init(sequence: Int, wallClock: Int64, elapsed: Duration, kind: Kind, round: Int? = nil) {
        self.sequence = sequence
        self.wallClock = wallClock
        self.elapsed = elapsed
        self.kind = kind
        self.round = round
    }

    /// Large values are indirect, because an event is copied many times.
    package enum Kind {
        indirect case runStarted(RunStarted)
        case runPaused(source: String)
        case runResumed(source: String)
        case runJobs(jobs: Int, source: String)
        indirect case runCancelRequested(RunStopping)
        case groupStarted(GroupStarted)
        case groupCancelRequested(group: String, cause: Cause)
        case groupRetry(GroupRetry)
        indirect case groupFinished(GroupFinished)
        case stepAdded(StepAdded)
        /// Reported only on request, like the next three.
        case ready(Subject)
        case waiting(Subject, on: String?)
        case lockAcquired(name: String, by: Subject)
        case lockReleased(name: String, by: Subject)
        indirect case stepStarted(StepStarted)
        case stepOutput(StepOutput)
        case stepCancelRequested(step: String, attempt: Int, cause: Cause)
        case stepSignal(step: String, attempt: Int, signal: String)
        case stepAttempt(AttemptExit)
        case stepRetry(StepRetry)
        indirect case stepFinished(StepFinished)
        indirect case stepRestored(StepRestored)
        case stepRerun(StepRerun)
        case stepUndoes(step: String, Undoing)
        indirect case valueStarted(ValueStarted)
        indirect case valueFinished(ValueFinished)
        case warning(code: String, message: String)
        indirect case runFinished(RunFinished)
    }
}

// The record of an event.

extension RunEvent: RecordFields {
    /// One blank value of each kind, by the word in the field `event`.
    nonisolated(unsafe) private static let blanks = Dictionary(
        uniqueKeysWithValues: Kind.blanks.map { ("\($0.word)", $0) })

    package init() { self.init(.warning(code: "", message: "")) }

    private init(_ kind: Kind) { self.kind = kind }

    /// Reads the event of a record, without the bytes of an output event. nil if a field is missing or the event is
    /// unknown.
    package init?(_ record: JSONObject) {
        guard let kind = record.string("event").flatMap({ Self.blanks[$0] }) else { return nil }
        self.init(kind)
        var reader = RecordReader(record: record)
        fields(&reader)
        guard reader.isComplete else { return nil }
    }

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        Self.head(of: kind, &sequence, &wallClock, &elapsed, &round, &visitor)
        if let found = kind.found(by: &visitor) { kind = found }
    }

    /// Writes the same fields without copying the event.
    func write(to writer: inout RecordWriter) {
        var (sequence, wallClock, elapsed, round) = (sequence, wallClock, elapsed, round)
        Self.head(of: kind, &sequence, &wallClock, &elapsed, &round, &writer)
        _ = kind.found(by: &writer)
    }

    /// Visits the fields that every record has.
    private static func head<Visitor: RecordVisitor & ~Copyable>(
        of kind: Kind, _ sequence: inout Int, _ wallClock: inout Int64, _ elapsed: inout Duration, _ round: inout Int?,
        _ visitor: inout Visitor
    ) {
        var (version, time, word) = (RecordVersion(), RecordTime(microseconds: wallClock), RecordLiteral(kind.word))
        visitor.field("v", &version, "version of this format; a record with another version follows another schema")
        visitor.field("seq", &sequence, "number of the record in its run: 0, 1, 2, ... without gaps")
        visitor.field(
            "time", &time,
            FieldRule(
                "wall clock, RFC 3339 in UTC with microseconds; a label, not for arithmetic",
                pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}Z$"))
        if Visitor.isReader { wallClock = time.microseconds }
        visitor.field("t", &elapsed, "seconds since the run started, from a clock that never jumps")
        visitor.field("event", &word, FieldRule(kind.meaning))
        guard kind.mayBeInRound else { return }
        visitor.optional(
            "round", &round,
            FieldRule(
                """
                which time the nearest group around runs that may be tried again, from 0; absent outside of such \
                groups
                """
            ))
    }
}

extension RunEvent.Kind {
    /// One blank value of each kind.
    package static var blanks: [RunEvent.Kind] {
        let (step, group, value) = (Subject.step(""), Subject.group(""), ValueID(name: "", group: nil))
        return [
            .runStarted(RunStarted()), .runPaused(source: ""), .runResumed(source: ""), .runJobs(jobs: 0, source: ""),
            .runCancelRequested(RunStopping()), .groupStarted(GroupStarted()),
            .groupCancelRequested(group: "", cause: Cause()), .groupRetry(GroupRetry()), .ready(group),
            .waiting(group, on: nil), .groupFinished(GroupFinished()), .stepAdded(StepAdded()),
            .stepRestored(StepRestored()), .stepRerun(StepRerun()), .stepUndoes(step: "", Undoing()), .ready(step),
            .waiting(step, on: nil), .lockAcquired(name: "", by: step), .lockReleased(name: "", by: step),
            .stepStarted(StepStarted()), .stepOutput(StepOutput(.step(""))),
            .stepCancelRequested(step: "", attempt: 0, cause: Cause()), .stepSignal(step: "", attempt: 0, signal: ""),
            .stepAttempt(AttemptExit()), .stepRetry(StepRetry()), .stepFinished(StepFinished()),
            .valueStarted(ValueStarted()), .stepOutput(StepOutput(.value(value))),
            .valueFinished(ValueFinished()), .warning(code: "", message: ""), .runFinished(RunFinished()),
        ]
    }

    /// The word in the field `event`.
    package var word: StaticString { words.word }

    /// The meaning in the schema.
    package var meaning: StaticString { words.meaning }

    private var words: (word: StaticString, meaning: StaticString) {
        switch self {
        case .runStarted: ("run.started", "first record of every run")
        case .runPaused: ("run.paused", "nothing new starts from here on")
        case .runResumed: ("run.resumed", "the end of a pause")
        case .runJobs: ("run.jobs", "how many steps may run at once has changed")
        case .runCancelRequested:
            ("run.cancel_requested", "the whole run is to end: by a signal, a command or the run's own timeout")
        case .groupStarted: ("group.started", "a group began")
        case .groupCancelRequested: ("group.cancel_requested", "the members of a group are to be stopped")
        case .groupRetry: ("group.retry", "a round of the group has failed, and there will be another")
        case .groupFinished:
            (
                "group.finished",
                "a group and all its members have ended; nothing of the group comes afterwards"
            )
        case .stepAdded: ("step.added", "a fan-out over a list that only the run knew has made the step")
        case .ready(.step): ("step.ready", "all that the step needs has ended (only with --verbose)")
        case .ready(.group): ("group.ready", "all that the group needs has ended (only with --verbose)")
        case .waiting(.step, _):
            ("step.waiting", "the step could start but for a lock or a limit (only with --verbose)")
        case .waiting(.group, _):
            ("group.waiting", "the group could start but for a lock or a limit (only with --verbose)")
        case .lockAcquired: ("lock.acquired", "a lock was taken (only with --verbose)")
        case .lockReleased: ("lock.released", "a lock was given back (only with --verbose)")
        case .stepStarted: ("step.started", "the process of an attempt exists")
        case .stepOutput(let output):
            output.step == nil
                ? (
                    "value.output",
                    """
                    something the command of one of `vars` wrote; joining the texts of one stream gives the whole \
                    stream
                    """
                ) : ("step.output", "something a step wrote; joining the texts of one stream gives the whole stream")
        case .stepCancelRequested: ("step.cancel_requested", "a running step is to be stopped")
        case .stepSignal: ("step.signal", "a signal was sent to the step's processes")
        case .stepAttempt: ("step.attempt", "the first process of an attempt has ended")
        case .stepRetry: ("step.retry", "the attempt has failed, and there will be another")
        case .stepFinished:
            (
                "step.finished",
                """
                a step has ended, whether it ran or not; exactly one for each step, and nothing of the step comes \
                afterwards
                """
            )
        case .stepRestored:
            (
                "step.restored",
                "in a resumed run, in place of `step.started` and `step.finished`: the step's success is restored"
            )
        case .stepRerun: ("step.rerun", "in a resumed run: the step is about to run again")
        case .stepUndoes:
            (
                "step.undoes",
                "the step of a hook is about to start, and counts as undoing what it names: a resume runs that again"
            )
        case .valueStarted: ("value.started", "the process of the command of one of `vars` exists")
        case .valueFinished:
            ("value.finished", "the command of one of `vars` has ended, or could not be started")
        case .warning: ("warning", "something a person should know that changes no outcome")
        case .runFinished: ("run.finished", "last record of every run")
        }
    }

    /// True if the event has the round of `RunEvent`. The end of a round has a field for its own round.
    var mayBeInRound: Bool {
        switch self {
        case .runStarted, .runPaused, .runResumed, .runJobs, .runCancelRequested, .groupRetry, .warning, .runFinished:
            false
        default: true
        }
    }

    /// Visits the fields that only this kind of record has. Returns the kind with the values read; nil unless the
    /// visitor is a reader.
    func found<Visitor: RecordVisitor & ~Copyable>(by visitor: inout Visitor) -> RunEvent.Kind? {
        switch self {
        case .runStarted(let run): return Self.found(run, by: &visitor, Self.runStarted)
        case .runPaused(var source):
            visitor.field(
                "source", &source,
                "who asked, such as `ctl`, `--paused` or `SIGTSTP`; `flowrun` where it cannot go on itself")
            return Visitor.isReader ? .runPaused(source: source) : nil
        case .runResumed(var source):
            visitor.field(
                "source", &source,
                "who asked, such as `ctl`, `SIGCONT` or `flowrun`; a cancel of the run ends a pause too")
            return Visitor.isReader ? .runResumed(source: source) : nil
        case .runJobs(var jobs, var source):
            visitor.field("n", &jobs, FieldRule("steps that may run at once from here on", least: 1))
            visitor.field("source", &source, "who asked, such as `ctl`")
            return Visitor.isReader ? .runJobs(jobs: jobs, source: source) : nil
        case .runCancelRequested(let stopping): return Self.found(stopping, by: &visitor, Self.runCancelRequested)
        case .groupStarted(let start): return Self.found(start, by: &visitor, Self.groupStarted)
        case .groupCancelRequested(var group, var cause):
            visitor.group(&group)
            visitor.field("cause", &cause, "why")
            return Visitor.isReader ? .groupCancelRequested(group: group, cause: cause) : nil
        case .groupRetry(let retry): return Self.found(retry, by: &visitor, Self.groupRetry)
        case .groupFinished(let group): return Self.found(group, by: &visitor, Self.groupFinished)
        case .stepAdded(let step): return Self.found(step, by: &visitor, Self.stepAdded)
        case .ready(var subject):
            subject.fields(&visitor)
            return Visitor.isReader ? .ready(subject) : nil
        case .waiting(var subject, var lock):
            subject.fields(&visitor)
            visitor.field("on", &lock, "the lock's name; null for a limit")
            return Visitor.isReader ? .waiting(subject, on: lock) : nil
        case .lockAcquired(var name, var holder):
            holder.fields(ofLock: &name, &visitor)
            return Visitor.isReader ? .lockAcquired(name: name, by: holder) : nil
        case .lockReleased(var name, var holder):
            holder.fields(ofLock: &name, &visitor)
            return Visitor.isReader ? .lockReleased(name: name, by: holder) : nil
        case .stepStarted(let step): return Self.found(step, by: &visitor, Self.stepStarted)
        case .stepOutput(var output):
            output.fields(&visitor)
            return Visitor.isReader ? .stepOutput(output) : nil
        case .stepCancelRequested(var step, var attempt, var cause):
            visitor.step(&step)
            visitor.attempt(&attempt)
            visitor.field("cause", &cause, "why")
            return Visitor.isReader ? .stepCancelRequested(step: step, attempt: attempt, cause: cause) : nil
        case .stepSignal(var step, var attempt, var signal):
            visitor.step(&step)
            visitor.attempt(&attempt)
            visitor.field("signal", &signal, FieldRule("name of the signal, such as `SIGTERM`", pattern: "^SIG"))
            return Visitor.isReader ? .stepSignal(step: step, attempt: attempt, signal: signal) : nil
        case .stepAttempt(let end): return Self.found(end, by: &visitor, Self.stepAttempt)
        case .stepRetry(let retry): return Self.found(retry, by: &visitor, Self.stepRetry)
        case .stepFinished(let step): return Self.found(step, by: &visitor, Self.stepFinished)
        case .stepRestored(let step): return Self.found(step, by: &visitor, Self.stepRestored)
        case .stepRerun(let rerun): return Self.found(rerun, by: &visitor, Self.stepRerun)
        case .stepUndoes(var step, var undoing):
            visitor.step(&step)
            undoing.fields(&visitor)
            return Visitor.isReader ? .stepUndoes(step: step, undoing) : nil
        case .valueStarted(let value): return Self.found(value, by: &visitor, Self.valueStarted)
        case .valueFinished(let value): return Self.found(value, by: &visitor, Self.valueFinished)
        case .warning(var code, var message):
            visitor.field("code", &code, "stable code of the warning")
            visitor.field("message", &message, "what is the matter")
            return Visitor.isReader ? .warning(code: code, message: message) : nil
        case .runFinished(let run): return Self.found(run, by: &visitor, Self.runFinished)
        }
    }

    /// The same for a kind whose fields are those of one record.
    @inline(__always)
    private static func found<Record: RecordFields, Visitor: RecordVisitor & ~Copyable>(
        _ record: Record, by visitor: inout Visitor, _ kind: (Record) -> Self
    ) -> Self? {
        var record = record
        record.fields(&visitor)
        return Visitor.isReader ? kind(record) : nil
    }
}

/// Turns the events of one run into bytes. Called in the order of `sequence`, never concurrently; never calls back
/// into the run.
package protocol Reporter: AnyObject {
    func report(_ event: RunEvent)

    /// Called after each round of events, and again at the time it returned last; an early call does no harm.
    /// `elapsed` is measured from the start of the run. Returns the time of the next call on the same clock, or nil
    /// if only events matter.
    func tick(at elapsed: Duration) -> Duration?

    /// True once a step's output could not be read back to be shown.
    var lostOutput: Bool { get }

    /// True if it shows lines before they end.
    var showsUnfinishedLines: Bool { get }

    /// Shows the end of what was written and is no event yet, because its line has not ended, such as a progress bar.
    func show(unfinished line: [UInt8], of writer: StepOutput.Writer)
}

extension Reporter {
    package func tick(at elapsed: Duration) -> Duration? { nil }

    package var lostOutput: Bool { false }

    package var showsUnfinishedLines: Bool { false }

    package func show(unfinished line: [UInt8], of writer: StepOutput.Writer) {}
}
