package import Basics

// What the records of events hold, read back.

extension Cause {
    /// A chain out of its nested objects; nil if one of them is none.
    package init?(_ record: JSONObject?) {
        guard let record, let kind = record.string("kind").flatMap(Kind.init), let message = record.string("message")
        else { return nil }
        let subject =
            record.string("step").map(Subject.step) ?? record.string("group").map(Subject.group)
            ?? record.string("var").map(Subject.sharedValue) ?? .run
        self.init(
            kind: kind, message: message, subject: subject, file: record.string("file"), line: record.int("line"),
            next: Cause(record.object("cause")).map(CauseLink.because) ?? .root)
    }
}

extension ExitStatus {
    /// nil where the record has neither a code nor a signal.
    init?(_ record: JSONObject) {
        if let code = record.int("exit_code") {
            self = .exited(Int32(truncatingIfNeeded: code))
        } else if let number = record.string("signal").flatMap(SignalName.number) {
            self = .signalled(number)
        } else {
            return nil
        }
    }
}

extension LoggedValue {
    /// The members of an object, each with the text of its value.
    static func all(_ record: JSONObject?) -> [LoggedValue] {
        record?.members.map { LoggedValue(name: $0.name, json: $0.json) } ?? []
    }
}

extension RunStarted {
    init?(_ record: JSONObject) {
        guard let run = record.string("run"), let file = record.string("file"), let steps = record.int("steps"),
            let fanOuts = record.strings("fan_outs"), let jobs = record.int("jobs"),
            let version = record.string("version"), let arguments = record.strings("args"),
            let durationsFrom = record.strings("durations_from")
        else { return nil }
        self.init(
            run: run, file: file, name: record.string("name"), steps: steps, fanOuts: fanOuts, jobs: jobs,
            version: version, params: LoggedValue.all(record.object("params")), arguments: arguments,
            resumes: record.string("resumes"), durationsFrom: durationsFrom)
    }
}

extension StepStarted {
    init?(_ record: JSONObject, of step: String, _ attempt: Int) {
        guard let pid = record.int("pid"), let line = record.int("line"), let command = Command(record) else {
            return nil
        }
        self.init(
            step: step, attempt: attempt, pid: Int32(truncatingIfNeeded: pid), command: command, line: line,
            item: record.string("item"), view: record.string("view").flatMap(OutputView.init),
            name: record.string("name"))
    }
}

extension StepStarted.Command {
    init?(_ record: JSONObject) {
        if let words = record.strings("argv") {
            self = .arguments(words)
        } else if let script = record.string("script") {
            self = .script(script)
        } else {
            return nil
        }
    }
}

extension StepOutput {
    init?(_ record: JSONObject, of writer: Writer, _ attempt: Int, lending bytes: UnsafeRawBufferPointer) {
        guard let stream = record.string("stream").flatMap(Stream.init), let isPartial = record.bool("partial") else {
            return nil
        }
        self.init(writer, attempt: attempt, stream: stream, bytes: bytes, isPartial: isPartial)
    }

    /// The step whose output a record holds, and the attempt; nil if it holds none.
    package static func writer(_ record: JSONObject) -> (Writer, attempt: Int)? {
        switch record.string("event") {
        case "step.output":
            guard let step = record.string("step"), let attempt = record.int("attempt") else { return nil }
            return (.step(step), attempt)
        case "value.output": return ValueID(record).map { (.value($0), 1) }
        default: return nil
        }
    }
}

extension ValueID {
    init?(_ record: JSONObject) {
        guard let name = record.string("var") else { return nil }
        self.init(name: name, group: record.string("group"))
    }
}

extension ValueStarted {
    init?(_ record: JSONObject, of value: ValueID) {
        guard let pid = record.int("pid"), let line = record.int("line"), let command = StepStarted.Command(record)
        else { return nil }
        self.init(value: value, pid: Int32(truncatingIfNeeded: pid), command: command, line: line)
    }
}

extension ValueFinished {
    init?(_ record: JSONObject, of value: ValueID) {
        guard let outcome = record.string("outcome").flatMap(StepOutcome.init),
            let process = ProcessReport(record)
        else { return nil }
        self.init(
            value: value, outcome: outcome, status: ExitStatus(record), duration: record.duration("duration"),
            cause: Cause(record.object("cause")), process: process)
    }
}

extension StepFinished {
    init?(_ record: JSONObject, of step: String, _ attempt: Int) {
        guard let outcome = record.string("outcome").flatMap(StepOutcome.init),
            let process = ProcessReport(record), let isTolerated = record.bool("tolerated")
        else { return nil }
        self.init(
            step: step, attempt: attempt, outcome: outcome, status: ExitStatus(record),
            duration: record.duration("duration"), attemptDuration: record.duration("attempt_duration"),
            cause: Cause(record.object("cause")), outputs: LoggedValue.all(record.object("outputs")),
            process: process, isTolerated: isTolerated, item: record.string("item"), name: record.string("name"),
            definition: record.string("definition"))
    }
}

extension ProcessReport {
    init?(_ record: JSONObject) {
        guard let outputBytes = record.int("output_bytes"), let escaped = record.int("escaped") else { return nil }
        self.init(
            outputBytes: outputBytes, usage: ResourceUsage(record), outputTruncated: record.string("output_truncated"),
            droppedBytes: record.int("dropped_bytes") ?? 0, containment: record.string("containment"),
            escaped: escaped, leftBehind: record.int("left_behind") ?? 0,
            isOutOfMemory: record.bool("oom_killed") ?? false,
            errno: record.int("errno").map(Int32.init(truncatingIfNeeded:)))
    }
}

extension StepRestored {
    init?(_ record: JSONObject, of step: String) {
        let output = record.string("stdout_base64").map(Base64.bytes)
        if case .some(nil) = output { return nil }
        self.init(
            step: step, outputs: LoggedValue.all(record.object("outputs")), item: record.string("item"),
            name: record.string("name"), definition: record.string("definition"), standardOutput: output ?? nil)
    }
}

extension ResourceUsage {
    init?(_ record: JSONObject) {
        guard let maxResident = record.int("max_rss"), let user = record.duration("user"),
            let system = record.duration("sys")
        else { return nil }
        self.init(maxResident: maxResident / 1024, user: user, system: system)
    }
}

extension GroupFinished {
    init?(_ record: JSONObject, of group: String) {
        guard let outcome = record.string("outcome").flatMap(StepOutcome.init),
            let duration = record.duration("duration"), let errors = record.strings("errors"),
            let cancelled = record.strings("cancelled"), let notRun = record.strings("not_run"),
            let isExpanded = record.bool("expanded")
        else { return nil }
        self.init(
            group: group, outcome: outcome, duration: duration, cause: Cause(record.object("cause")), errors: errors,
            cancelled: cancelled, notRun: notRun, outputs: LoggedValue.all(record.object("outputs")),
            isExpanded: isExpanded)
    }
}

extension RunFinished {
    init?(_ record: JSONObject) {
        guard let outcome = record.string("outcome").flatMap(StepOutcome.init),
            let duration = record.duration("duration"), let counted = record.object("counts"),
            let tolerated = record.strings("tolerated"), let cancelled = record.strings("cancelled"),
            let notRun = record.strings("not_run")
        else { return nil }
        var counts = OutcomeCounts()
        for (name, json) in counted.members {
            guard let outcome = StepOutcome(rawValue: name), let count = Int(json) else { return nil }
            counts[outcome] = count
        }
        let (errors, rest) = (record.objects("errors"), record.objects("failures"))
        guard errors.count == rest.count else { return nil }
        self.init(
            outcome: outcome, duration: duration, counts: counts, errors: zip(errors, rest).compactMap(Failure.init),
            tolerated: tolerated, cancelled: cancelled, notRun: notRun,
            outputs: LoggedValue.all(record.object("outputs")))
        guard self.errors.count == errors.count else { return nil }
    }
}

extension RunFinished.Failure {
    init?(_ record: JSONObject, _ rest: JSONObject) {
        guard let outcome = record.string("outcome").flatMap(StepOutcome.init),
            let cause = Cause(record.object("cause")), let file = record.string("file"),
            let tail = rest.string("tail_base64").map(Base64.bytes)
                ?? record.string("output_tail").map({ [UInt8]($0.utf8) })
        else { return nil }
        self.init(
            step: record.string("step"), group: record.string("group"), outcome: outcome, cause: cause, file: file,
            line: record.int("line"), status: ExitStatus(record), outputTail: tail, command: FailedCommand(record),
            script: rest.string("script"), outputBytes: rest.int("output_bytes") ?? 0)
    }
}

extension FailedCommand {
    init?(_ record: JSONObject) {
        guard let text = record.string("command"), let file = record.string("command_file"),
            let line = record.int("command_line")
        else { return nil }
        self.init(text: text, file: file, line: line)
    }
}
