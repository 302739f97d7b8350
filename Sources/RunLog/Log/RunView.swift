internal import Basics

/// The state of a run after its events so far, from a live run or from a journal. The summary, the live region, the
/// heartbeat and `flowrun why` read it; it must receive each event before they do.
///
/// For a retried group only the last round counts: when the next one starts, the ends of the members and the
/// instances made by the previous round are removed. Successes are only counted. A step ruled out by another costs a
/// few bytes, because each cause is stored once for all its victims.
package final class RunView: Reporter {
    /// A running step, or a running command of `vars`.
    struct Command {
        let writer: StepOutput.Writer
        /// The id, followed by text that says more.
        let title: String
        /// As in `StepStarted`.
        let view: OutputView?
        /// The time since the start of the run.
        let start: Duration
        /// True if no other step has run at the same time.
        fileprivate(set) var isAlone: Bool

        /// nil for a command of `vars`.
        var step: String? { if case .step(let id) = writer { id } else { nil } }
    }

    /// The steps, and the fan-outs without instances, that ended with the same outcome for the same reason.
    struct Victims {
        let outcome: StepOutcome
        let reason: String
        /// The first few, in the order of their ends.
        fileprivate(set) var names: [String] = []
        fileprivate(set) var count = 0
    }

    /// The end of a step, a group or a command of `vars` without success.
    private struct End {
        let id: String
        /// The values of an instance whose id has only a number for them; nil otherwise.
        var item: String?
        let outcome: StepOutcome
        var isTolerated = false
        /// True for a step, and for a fan-out that counts as one.
        var isCounted = true
        var isReplaced = false
        let cause: Int32
        /// The index in `details`; -1 if it was never started and did not fail.
        var detail: Int32 = -1

        /// True if it is in the summary's counts, and did not end on its own.
        var isVictim: Bool { isCounted && !outcome.isFailure && !isReplaced }
    }

    private struct Detail {
        let title: String?
        let attempt: Int
        let earlier: [ExitStatus]
        var tail: [UInt8] = []
    }

    /// The end of a member of a group that may be retried.
    private struct RoundEnd {
        let id: String
        /// The index in `ends`; nil for a success.
        let place: Int?
        /// nil for a group.
        let outcome: StepOutcome?
    }

    private(set) var steps = 0
    private(set) var finished = 0
    private(set) var failed = 0
    /// The running steps in the order of their starts. A list, because there are at most as many as jobs, and each
    /// event changes one.
    private(set) var running: [Command] = []
    /// The running commands of `vars`.
    private(set) var values: [Command] = []
    private(set) var isPaused = false
    /// True once the whole run has been asked to end.
    private(set) var isStopping = false
    private(set) var hasEnded = false
    /// Increases whenever one of these properties changes.
    private(set) var revision = 0

    private var ends: [End] = []
    private var details: [Detail] = []
    private var causes: [Cause] = []
    private var numbers: [Cause: Int32] = [:]
    /// Ends in the current rounds.
    private var roundEnds: [RoundEnd] = []
    /// The instances that the current rounds have made.
    private var roundCopies: [String] = []
    /// The groups that wait for their next round.
    private var retried: [String] = []
    /// Ends of attempts of running steps with a status other than 0.
    private var attempts: [String: [ExitStatus]] = [:]
    /// The last outcome by id, nil for nodes that have not ended, and the ids in the order of their first events; nil
    /// if only ends without success are kept.
    private var names: (outcomes: [String: StepOutcome?], order: [String])?
    /// nil unless the remaining time is wanted.
    private var remaining: RemainingTime?

    /// With `remembersAll`, it also has successes and nodes that have not ended, for some hundred bytes per step.
    package init(remembersAll: Bool = false) { names = remembersAll ? ([:], []) : nil }

    package func report(_ event: RunEvent) {
        switch event.kind {
        case .runStarted(let run): steps = run.steps
        case .stepAdded(let added):
            steps += 1
            if event.round != nil { roundCopies.append(added.step) }
            remember(added.step, nil)
        case .stepStarted(let step): note(step, at: event.elapsed)
        case .stepAttempt(let end):
            if end.status != .exited(0) { attempts[end.step, default: []].append(end.status) }
            return
        case .stepRetry(let retry): stop(retry.step)
        case .stepFinished(let step): note(step, event.round)
        case .stepRestored(let step):
            keep(nil, of: step.step, .success, event.round)
            remaining?.noteEnd(of: step.step)
            remember(step.step, .success)
        case .groupStarted(let start):
            remember(start.group, nil)
            guard let index = retried.firstIndex(of: start.group) else { return }
            retried.remove(at: index)
            forgetRound(of: start.group)
        case .groupFinished(let group): return note(group, event.round)
        case .groupRetry(let retry):
            retried.append(retry.group)
            return
        case .valueStarted(let start):
            values.append(
                Command(
                    writer: .value(start.value), title: start.value.words, view: nil, start: event.elapsed,
                    isAlone: false))
            remember(start.value.words, nil)
        case .valueFinished(let value): note(value)
        case .runPaused: isPaused = true
        case .runResumed: isPaused = false
        case .runCancelRequested: isStopping = true
        case .runFinished(let run): note(run)
        case .runJobs, .stepRerun, .stepUndoes, .groupCancelRequested, .stepOutput, .stepCancelRequested,
            .stepSignal, .ready, .waiting, .lockAcquired, .lockReleased, .warning:
            return
        }
        revision += 1
    }

    private func note(_ step: StepStarted, at time: Duration) {
        for index in running.indices { running[index].isAlone = false }
        running.append(
            Command(
                writer: .step(step.step), title: step.title, view: step.view, start: time,
                isAlone: running.isEmpty))
        remember(step.step, nil)
    }

    private func note(_ step: StepFinished, _ round: Int?) {
        stop(step.step)
        remember(step.step, step.outcome)
        // In a later round of its group, a step does the same work again.
        if round ?? 0 == 0 { remaining?.noteEnd(of: step.step) }
        let statuses = attempts.isEmpty ? [] : attempts.removeValue(forKey: step.step) ?? []
        guard let cause = step.cause else { return keep(nil, of: step.step, step.outcome, round) }
        var end = End(id: step.step, outcome: step.outcome, isTolerated: step.isTolerated, cause: number(of: cause))
        if InstanceValues.words(step.step, item: step.item) != nil { end.item = step.item }
        if step.attempt > 0 || step.outcome.isFailure {
            let isNamed = step.name != nil || step.item != nil
            end.detail = add(
                Detail(
                    title: isNamed ? step.title : nil, attempt: step.attempt,
                    earlier: statuses.count > 1 ? statuses.dropLast() : []))
        }
        keep(end, of: step.step, step.outcome, round)
    }

    private func note(_ group: GroupFinished, _ round: Int?) {
        remember(group.group, group.outcome)
        let end = group.cause.map {
            End(id: group.group, outcome: group.outcome, isCounted: !group.isExpanded, cause: number(of: $0))
        }
        keep(end, of: group.group, nil, round)
    }

    private func note(_ value: ValueFinished) {
        let id = value.value.words
        values.removeAll { $0.writer == .value(value.value) }
        remember(id, value.outcome)
        guard let cause = value.cause, value.outcome != .cancelled else { return }
        var end = End(id: id, outcome: value.outcome, isCounted: false, cause: number(of: cause))
        if value.duration != nil { end.detail = add(Detail(title: nil, attempt: 1, earlier: [])) }
        ends.append(end)
    }

    private func note(_ run: RunFinished) {
        hasEnded = true
        ends.removeAll(where: \.isReplaced)
        roundEnds = []
        let tails = Dictionary(
            run.errors.lazy.filter { !$0.outputTail.isEmpty }.map { ($0.step ?? "", $0.outputTail) },
            uniquingKeysWith: { $1 })
        guard !tails.isEmpty else { return }
        for end in ends where end.detail >= 0 {
            if let tail = tails[end.id] { details[Int(end.detail)].tail = tail }
        }
    }

    /// Adds an end, nil for a success. `outcome` is that of a step, nil for a group.
    private func keep(_ end: End?, of id: String, _ outcome: StepOutcome?, _ round: Int?) {
        if round != nil {
            roundEnds.append(RoundEnd(id: id, place: end == nil ? nil : ends.count, outcome: outcome))
        }
        if let end { ends.append(end) }
        if let outcome { count(outcome, 1) }
    }

    private func forgetRound(of group: String) {
        for end in roundEnds where end.id.isInside(group) {
            if let place = end.place { ends[place].isReplaced = true }
            if let outcome = end.outcome { count(outcome, -1) }
            names?.outcomes.updateValue(nil, forKey: end.id)
        }
        roundEnds.removeAll { $0.id.isInside(group) }
        for copy in roundCopies where copy.isInside(group) {
            steps -= 1
            names?.outcomes[copy] = nil
        }
        roundCopies.removeAll { $0.isInside(group) }
        retried.removeAll { $0.isInside(group) }
    }

    private func count(_ outcome: StepOutcome, _ number: Int) {
        finished += number
        if outcome.isFailure { failed += number }
    }

    private func stop(_ step: String) {
        if let index = running.firstIndex(where: { $0.step == step }) { running.remove(at: index) }
    }

    private func remember(_ id: String, _ outcome: StepOutcome?) {
        guard names != nil else { return }
        if names!.outcomes.updateValue(outcome, forKey: id) == nil { names!.order.append(id) }
    }

    private func add(_ detail: Detail) -> Int32 {
        details.append(detail)
        return Int32(details.count - 1)
    }

    private func number(of cause: Cause) -> Int32 {
        if let known = numbers[cause] { return known }
        let number = Int32(causes.count)
        causes.append(cause)
        numbers[cause] = number
        return number
    }

    private func cause(of end: End) -> Cause { causes[Int(end.cause)] }

    // MARK: Running

    /// The number of steps that have neither ended nor started.
    var waiting: Int { max(0, steps - finished - running.count) }

    /// The number of running processes of steps and of `vars`.
    var runningCount: Int { running.count + values.count }

    /// The running step if there is exactly one.
    var onlyRunning: Command? { running.count == 1 ? running[0] : nil }

    /// Prepares `left`; must be called before the first event. `estimate` is called at most once, by the first `left`.
    func expect(_ estimate: @escaping () -> RunEstimate?) { remaining = RemainingTime(estimate) }

    /// Returns the remaining time of the run if it continues as expected; nil if unknown.
    func left(at elapsed: Duration) -> Duration? { remaining?.left(running, at: elapsed) }

    /// Returns the longest running commands first; ties in the order of their ids.
    func longestRunning(_ count: Int) -> [Command] {
        Array((running + values).sorted { ($0.start, $0.writer.words) < ($1.start, $1.writer.words) }.prefix(count))
    }

    // MARK: Ended

    /// Returns the report on a step, a group or one of `vars`; nil if unknown. O(ends without success).
    package func report(of id: String) -> StepReport? {
        if let outcome = names?.outcomes[id], outcome == nil || outcome == .success {
            return StepReport(id, outcome: outcome)
        }
        guard let end = ends.last(where: { $0.id == id && !$0.isReplaced }) else {
            return names?.outcomes[id].map { StepReport(id, outcome: $0) }
        }
        var report = StepReport(id, outcome: end.outcome)
        report.item = end.item
        report.cause = cause(of: end)
        guard end.detail >= 0 else { return report }
        let detail = details[Int(end.detail)]
        if detail.attempt > 0 { report.attempt = detail.attempt }
        if !detail.earlier.isEmpty { report.earlier = detail.earlier.map { "\($0)" } }
        if !detail.tail.isEmpty { report.outputTail = detail.tail }
        return report
    }

    /// All ids of the events so far, in the order of their first events, some more than once; empty unless the view
    /// remembers all.
    package var ids: [String] { names?.order ?? [] }

    /// Returns the steps that did not run or were cancelled, by outcome and reason, the earliest first, each with at
    /// most `limit` names.
    func victims(named limit: Int) -> [Victims] {
        struct Key: Hashable {
            let outcome: StepOutcome
            let reason: String
        }
        guard !ends.isEmpty else { return [] }
        var victims: [Victims] = []
        var places: [Key: Int] = [:]
        for end in ends where end.isVictim {
            let reason = cause(of: end).reason
            let key = Key(outcome: end.outcome, reason: reason)
            let place = places[key] ?? victims.count
            if place == victims.count {
                places[key] = place
                victims.append(Victims(outcome: end.outcome, reason: reason))
            }
            victims[place].count += 1
            if victims[place].count <= limit { victims[place].names.append(end.id) }
        }
        return victims
    }

    /// Returns the skipped steps: the first `limit` names, and the total number.
    func skipped(named limit: Int) -> (names: [String], count: Int) {
        let skipped = ends.filter { $0.isVictim && $0.outcome == .skipped }
        return (skipped.prefix(limit).map(\.id), skipped.count)
    }

    /// Returns the causes of tolerated failures in words, by id; only for `ids`, and for a group that a member failed
    /// only that of the member.
    func tolerated(_ ids: Set<String>) -> [String: String] {
        var words: [String: String] = [:]
        for end in ends where ids.contains(end.id) {
            let cause = cause(of: end)
            if cause.kind != .member { words[end.id] = cause.words }
        }
        return words
    }

    /// The titles of failed steps by id, for steps whose title says more than the id.
    var titles: [String: String] {
        var titles: [String: String] = [:]
        for end in ends where end.detail >= 0 {
            if let title = details[Int(end.detail)].title { titles[end.id] = title }
        }
        return titles
    }
}

extension String {
    /// True for the id of a member of the group, at any depth.
    fileprivate func isInside(_ group: String) -> Bool {
        guard utf8.count > group.utf8.count, hasPrefix(group) else { return false }
        let next = utf8[utf8.index(utf8.startIndex, offsetBy: group.utf8.count)]
        return next == UInt8(ascii: ".") || next == UInt8(ascii: "[")
    }
}
