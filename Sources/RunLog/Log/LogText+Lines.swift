internal import Basics

extension LogText {
    /// `    1.204  failure     0.800s  lint  exit 2`.
    mutating func line(
        at elapsed: Duration, verb: String, _ style: Style, duration: Duration? = nil, subject: String,
        detail: String = ""
    ) {
        beginLine(at: elapsed, verb: verb, style, duration: duration, subject: subject)
        if !detail.isEmpty {
            spaces(2)
            add(detail)
        }
        newline()
    }

    /// A line without its detail and its end.
    private mutating func beginLine(
        at elapsed: Duration, verb: String, _ style: Style, duration: Duration? = nil, subject: String
    ) {
        add(rightAlignedTo: 9, .faint) { TimeText.append(elapsed: elapsed, to: &$0) }
        spaces(2)
        add(verb, style)
        spaces(9 - verb.utf8.count + 2)
        add(rightAlignedTo: 8) { buffer in
            if let duration { TimeText.append(duration, to: &buffer) }
        }
        spaces(2)
        add(subject)
    }

    mutating func header(_ run: RunStarted) {
        add("flowrun \(run.version): ")
        add(run.file, .strong)
        if let name = run.name { add(" (\(name))") }
        add(", \(StepCount.words(run.steps, andCopiesOf: run.fanOuts))")
        add(", up to \(run.jobs) at once")
        if let resumed = run.resumes { add(", resuming \(resumed)") }
        newline()
    }

    mutating func line(_ step: StepFinished, at elapsed: Duration) {
        beginLine(
            at: elapsed, verb: step.outcome.rawValue, step.isTolerated ? .caution : step.outcome.style,
            duration: step.duration, subject: StepTitle.words(step.step, name: step.name, item: step.item))
        if step.cause != nil || step.process.leftBehind > 0 || step.process.outputTruncated != nil {
            spaces(2)
            add(step.detail)
        }
        newline()
    }

    mutating func line(_ value: ValueFinished, at elapsed: Duration) {
        line(
            at: elapsed, verb: value.outcome.rawValue, value.outcome.style, duration: value.duration,
            subject: value.value.words, detail: value.cause?.words ?? "")
    }

    mutating func line(_ group: GroupFinished, at elapsed: Duration) {
        line(
            at: elapsed, verb: group.outcome.rawValue, group.outcome.style, duration: group.duration,
            subject: "group \(group.group)", detail: group.detail)
    }

    mutating func retryLine(_ subject: String, _ failed: String, _ delay: Duration, at elapsed: Duration) {
        let pause = delay == .zero ? "at once" : "in \(TimeText.duration(delay))"
        line(at: elapsed, verb: "retry", .caution, subject: subject, detail: "\(failed) failed, again \(pause)")
    }

    mutating func verboseLine(_ event: RunEvent) {
        switch event.kind {
        case .stepStarted(let step):
            line(at: event.elapsed, verb: "started", .faint, subject: step.step, detail: "pid \(step.pid)")
        case .valueStarted(let value):
            line(
                at: event.elapsed, verb: "started", .faint, subject: value.value.words, detail: "pid \(value.pid)")
        case .groupStarted(let group):
            line(at: event.elapsed, verb: "started", .faint, subject: "group \(group)")
        case .groupCancelRequested(let group, let cause):
            line(at: event.elapsed, verb: "stopping", .faint, subject: "group \(group)", detail: cause.words)
        case .stepCancelRequested(let step, _, let cause):
            line(at: event.elapsed, verb: "stopping", .faint, subject: step, detail: cause.words)
        case .stepSignal(let step, _, let signal):
            line(at: event.elapsed, verb: "signal", .faint, subject: step, detail: signal)
        case .stepAttempt(let step, let attempt, let status):
            line(at: event.elapsed, verb: "ended", .faint, subject: step, detail: "attempt \(attempt), \(status)")
        case .stepAdded(let step, let by):
            line(at: event.elapsed, verb: "added", .faint, subject: step, detail: "by \(by)")
        case .ready(let subject):
            line(at: event.elapsed, verb: "ready", .faint, subject: subject.words)
        case .waiting(let subject, let lock):
            line(
                at: event.elapsed, verb: "waiting", .faint, subject: subject.words,
                detail: lock.map { "for \($0)" } ?? "for a free place")
        case .lockAcquired(let name, let by):
            line(at: event.elapsed, verb: "acquired", .faint, subject: name, detail: "by \(by.words)")
        case .lockReleased(let name, let by):
            line(at: event.elapsed, verb: "released", .faint, subject: name, detail: "by \(by.words)")
        case .runStarted, .runPaused, .runResumed, .runJobs, .runCancelRequested, .groupRetry, .groupFinished,
            .stepOutput, .stepRetry, .stepRestored, .stepRerun, .stepUndoes, .stepFinished, .valueFinished, .warning,
            .runFinished:
            break
        }
    }
}

extension Subject {
    fileprivate var words: String {
        switch self {
        case .step(let id): id
        case .group(let id): "group \(id)"
        }
    }
}

extension StepFinished {
    fileprivate var detail: String {
        var parts: [String] = []
        if let cause { parts.append(cause.words) }
        if isTolerated, outcome.isFailure { parts.append("tolerated") }
        if process.leftBehind > 0 { parts.append("killed \(process.leftBehind) left behind") }
        if let outputTruncated = process.outputTruncated { parts.append("output incomplete (\(outputTruncated))") }
        return parts.joined(separator: ", ")
    }
}

extension GroupFinished {
    /// A group has seldom a cause of its own; its members' names say more than their number.
    fileprivate var detail: String {
        guard let cause else { return "" }
        guard cause.kind == .member, !errors.isEmpty else { return cause.words }
        var text = LogText(isColored: false)
        text.add(list: errors)
        return text.buffer.text + " failed"
    }
}
