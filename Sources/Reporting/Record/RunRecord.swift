package import Basics
package import RunEvents

/// What is known of a run for whoever asks why something did not succeed: listens to the whole run, live or out of its
/// journal.
///
/// Successes are only counted. A step that something else ruled out costs a few bytes, because causes are kept once,
/// however many victims they have.
package final class RunRecord: Reporter {
    private struct Entry {
        let id: String
        /// The values of a copy whose id has only a number for them; nil for all others.
        var item: String?
        let outcome: StepOutcome
        let cause: Int32
        /// Into `details`; -1 for what was never started.
        var detail: Int32 = -1
        /// Whether it came to something else in a later round.
        var isReplaced = false
    }

    private struct Detail {
        let attempt: Int
        let status: ExitStatus?
        let duration: Duration?
        let earlier: [ExitStatus]
        var tail: [UInt8] = []
    }

    private var entries: [Entry] = []
    /// Where the entries of steps and groups are that may come to something else in another round.
    private var places: [String: Int] = [:]
    private var details: [Detail] = []
    private var causes: [Cause] = []
    private var numbers: [Cause: Int32] = [:]
    /// Ends of attempts of running steps that did not exit with 0.
    private var attempts: [String: [ExitStatus]] = [:]

    package init() {}

    package func report(_ event: RunEvent) {
        switch event.kind {
        case .stepAttempt(let step, _, let status):
            if status != .exited(0) { attempts[step, default: []].append(status) }
        case .stepFinished(let step): note(step, round: event.round)
        case .groupFinished(let group):
            keep(
                group.cause.map { Entry(id: group.group, outcome: group.outcome, cause: number(of: $0)) },
                of: group.group, round: event.round)
        case .valueFinished(let value): note(value)
        case .runFinished(let finished): note(finished)
        default: break
        }
    }

    private func note(_ step: StepFinished, round: Int?) {
        let statuses = attempts.isEmpty ? [] : attempts.removeValue(forKey: step.step) ?? []
        guard let cause = step.cause else { return keep(nil, of: step.step, round: round) }
        var entry = Entry(id: step.step, outcome: step.outcome, cause: number(of: cause))
        if InstanceValues.words(step.step, item: step.item) != nil { entry.item = step.item }
        if step.attempt > 0 {
            entry.detail = Int32(details.count)
            details.append(
                Detail(
                    attempt: step.attempt, status: step.status, duration: step.duration,
                    earlier: statuses.count > 1 ? statuses.dropLast() : []))
        }
        keep(entry, of: step.step, round: round)
    }

    private func note(_ value: ValueFinished) {
        guard let cause = value.cause, value.outcome != .cancelled else { return }
        var entry = Entry(id: value.value.words, outcome: value.outcome, cause: number(of: cause))
        if let duration = value.duration {
            entry.detail = Int32(details.count)
            details.append(Detail(attempt: 1, status: value.status, duration: duration, earlier: []))
        }
        entries.append(entry)
    }

    /// Adds an entry, nil for a success, in the place of one of an earlier round.
    private func keep(_ entry: Entry?, of id: String, round: Int?) {
        guard round != nil else {
            if let entry { entries.append(entry) }
            return
        }
        if let place = places.removeValue(forKey: id) { entries[place].isReplaced = true }
        guard let entry else { return }
        places[id] = entries.count
        entries.append(entry)
    }

    private func note(_ finished: RunFinished) {
        entries.removeAll(where: \.isReplaced)
        let tails = Dictionary(
            finished.errors.lazy.filter { !$0.outputTail.isEmpty }.map { ($0.step ?? "", $0.outputTail) },
            uniquingKeysWith: { $1 })
        guard !tails.isEmpty else { return }
        for entry in entries where entry.detail >= 0 {
            if let tail = tails[entry.id] { details[Int(entry.detail)].tail = tail }
        }
    }

    private func number(of cause: Cause) -> Int32 {
        if let known = numbers[cause] { return known }
        let number = Int32(causes.count)
        causes.append(cause)
        numbers[cause] = number
        return number
    }

    // MARK: What is told

    /// What is known of a step or group that has ended without success, as the fields of one JSON object; false, and
    /// nothing written, where nothing is.
    package func writeStep(_ id: String, to json: inout JSONWriter) -> Bool {
        guard let entry = entries.last(where: { $0.id == id && !$0.isReplaced }) else { return false }
        write(entry, to: &json)
        json.cause(causes[Int(entry.cause)])
        return true
    }

    private func write(_ entry: Entry, to json: inout JSONWriter) {
        json.field("step", entry.id)
        if let item = entry.item { json.field("item", item) }
        json.field("outcome", entry.outcome.rawValue)
        guard entry.detail >= 0 else { return }
        let detail = details[Int(entry.detail)]
        json.field("attempt", detail.attempt)
        json.status(detail.status)
        json.field("duration", detail.duration)
        if !detail.earlier.isEmpty { json.field("earlier", detail.earlier.map { "\($0)" }) }
        if !detail.tail.isEmpty { json.field("output_tail", repairing: detail.tail) }
    }
}
