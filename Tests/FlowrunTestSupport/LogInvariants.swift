package import Testing

/// The rules that the log of every run keeps (I1 to I6, I8 and I9 of Flowrun.docc/EventLog). Of a group that was tried
/// again only its last round counts for what came of the run.
package enum LogInvariants {
    /// Records an issue for each rule that a log breaks. `steps`: all ids the run has, where the test knows them.
    package static func check(
        _ log: EventLog, needs: DependencyTable = [:], steps: [String]? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let found = violations(log, needs: needs, steps: steps)
        guard !found.isEmpty else { return }
        Issue.record("the log breaks its rules:\n\(found.joined(separator: "\n"))", sourceLocation: sourceLocation)
    }

    /// A sentence for each rule that a log breaks; empty where it keeps them all.
    package static func violations(
        _ log: EventLog, needs: DependencyTable = [:], steps: [String]? = nil
    ) -> [String] {
        let last = log.lastRounds
        let history = History(last)
        return frame(log) + ends(last, history, steps: steps) + edges(history, needs) + attempts(log)
            + members(history) + cancels(log) + pauses(log) + summary(last) + values(log) + width(log)
    }

    /// Where things started and ended, as indices of records.
    private struct History {
        var started: [String: Int] = [:]
        var finished: [String: Int] = [:]
        var outcome: [String: String] = [:]
        var groupStarted: [String: Int] = [:]
        var groupFinished: [String: Int] = [:]
        var groupOutcome: [String: String] = [:]
        var tolerated: Set<String> = []

        init(_ log: EventLog) {
            for (index, record) in log.records.enumerated() {
                switch (record.event, record.step, record.group) {
                case ("step.started", let step?, _): started[step] = started[step] ?? index
                case ("step.finished", let step?, _):
                    finished[step] = index
                    outcome[step] = record.outcome
                case ("step.restored", let step?, _):
                    finished[step] = index
                    outcome[step] = "success"
                case ("group.started", _, let group?): groupStarted[group] = index
                case ("group.finished", _, let group?):
                    groupFinished[group] = index
                    groupOutcome[group] = record.outcome
                default: break
                }
            }
            tolerated = Set(log.runFinished?["tolerated"]?.strings ?? [])
        }
    }

    /// I1: `seq` counts without a gap, time does not go back, and the run's own events stand around all others.
    private static func frame(_ log: EventLog) -> [String] {
        guard let first = log.records.first, let last = log.records.last else { return ["I1: the log is empty"] }
        var found: [String] = []
        if let index = log.records.indices.first(where: { log.records[$0].seq != $0 }) {
            found.append("I1: record \(index) has seq \(log.records[index].seq)")
        }
        if let (before, after) = zip(log.records, log.records.dropFirst()).first(where: { $0.time > $1.time }) {
            found.append("I1: t goes back from \(before.time) to \(after.time) at seq \(after.seq)")
        }
        if first.event != "run.started" { found.append("I1: the first event is \(first.event)") }
        if last.event != "run.finished" { found.append("I1: the last event is \(last.event)") }
        for event in ["run.started", "run.finished"] where log.all(event).count != 1 {
            found.append("I1: \(log.all(event).count) times \(event)")
        }
        return found
    }

    /// I2: every step and every started group has one end, and nothing of it comes afterwards.
    private static func ends(_ log: EventLog, _ history: History, steps: [String]?) -> [String] {
        var found: [String] = []
        var ended: Set<String> = []
        for record in log.records {
            if record.event.hasPrefix("value.") { continue }
            let named = record.step.map { "step \($0)" } ?? record.group.map { "group \($0)" }
            guard let subject = named else { continue }
            if ended.contains(subject) {
                found.append("I2: \(record.event) of \(subject) at seq \(record.seq), after its end")
            }
            if record.event.hasSuffix(".finished") || record.event == "step.restored" { ended.insert(subject) }
        }
        for step in history.started.keys.sorted() where history.finished[step] == nil {
            found.append("I2: step \(step) started and has no end")
        }
        for group in history.groupStarted.keys.sorted() where history.groupFinished[group] == nil {
            found.append("I2: group \(group) started and has no end")
        }
        if let steps {
            let missing = Set(steps).subtracting(history.finished.keys)
            let extra = Set(history.finished.keys).subtracting(steps)
            if !missing.isEmpty { found.append("I2: no end of \(missing.sorted())") }
            if !extra.isEmpty { found.append("I2: an end of \(extra.sorted()), which the run does not have") }
        }
        let added = Set(log.all("step.added").compactMap(\.step)).count
        if let count = log.first("run.started")?["steps"]?.int, count + added != history.finished.count {
            found.append("I2: the run announced \(count + added) steps, and \(history.finished.count) ended")
        }
        return found
    }

    /// I3, and the second half of I5: a start comes after the wanted end of all that is needed, also of what a group
    /// around it needs.
    private static func edges(_ history: History, _ needs: DependencyTable) -> [String] {
        var found: [String] = []
        for (waiting, wanted) in needs.needs.sorted(by: { $0.key < $1.key }) {
            let starts = history.started.filter { isInside($0.key, waiting) || $0.key == waiting }
            for (step, start) in starts.sorted(by: { $0.key < $1.key }) {
                for (need, kind) in wanted.sorted(by: { $0.key < $1.key }) {
                    guard let end = history.finished[need] ?? history.groupFinished[need], end < start else {
                        found.append("I3: \(step) started before the end of \(need), which \(waiting) needs")
                        continue
                    }
                    let outcome = history.outcome[need] ?? history.groupOutcome[need] ?? "?"
                    let fits =
                        switch kind {
                        case .done: true
                        case .success: outcome == "success"
                        case .failure: outcome == "failure" || outcome == "timeout"
                        case .ok:
                            ["success", "skipped"].contains(outcome)
                                || history.tolerated.contains { $0 == need || isInside($0, need) }
                        }
                    if !fits { found.append("I3: \(step) started though \(need) ended as \(outcome), not \(kind)") }
                }
            }
        }
        return found
    }

    /// I4: each start has its attempt's end before the next start and before the step's end, unless the first process
    /// of the step is still there at its end.
    private static func attempts(_ log: EventLog) -> [String] {
        var found: [String] = []
        var open: Set<String> = []
        for record in log.records {
            guard let step = record.step else { continue }
            switch record.event {
            case "step.started":
                if !open.insert(step).inserted { found.append("I4: \(step) started again at seq \(record.seq)") }
            case "step.attempt":
                if open.remove(step) == nil { found.append("I4: an attempt of \(step) ended without a start") }
            case "step.retry", "step.finished":
                let isLost = record.cause?.kind == "lost"
                if open.contains(step), !isLost {
                    found.append("I4: \(record.event) of \(step) before its attempt ended")
                }
            case "step.output":
                if record["attempt"]?.int == nil { found.append("I4: output of \(step) names no attempt") }
            default: break
            }
        }
        return found
    }

    /// I5: a group ends after all its members, and none of them starts before it.
    private static func members(_ history: History) -> [String] {
        var found: [String] = []
        for (group, end) in history.groupFinished.sorted(by: { $0.key < $1.key }) {
            let ends = history.finished.merging(history.groupFinished) { step, _ in step }
            for (member, memberEnd) in ends.sorted(by: { $0.key < $1.key }) where isInside(member, group) {
                if memberEnd > end { found.append("I5: group \(group) ended before its member \(member)") }
            }
            for (member, start) in history.started where isInside(member, group) {
                if start < history.groupStarted[group] ?? -1 || start > end {
                    found.append("I5: \(member) started outside its group \(group)")
                }
            }
        }
        return found
    }

    /// I8: nothing starts while the run is paused, and pauses begin and end by turns.
    private static func pauses(_ log: EventLog) -> [String] {
        var found: [String] = []
        var isPaused = false
        for record in log.records {
            switch record.event {
            case "run.paused", "run.resumed":
                if isPaused == (record.event == "run.paused") {
                    found.append("I8: \(record.event) at seq \(record.seq) changes nothing")
                }
                isPaused = record.event == "run.paused"
            case "step.started", "group.started", "value.started":
                if isPaused { found.append("I8: \(record.event) at seq \(record.seq), while the run was paused") }
            default: break
            }
        }
        return found
    }

    /// I8: nothing starts once it, or a group around it, has been asked to end, but for hooks.
    private static func cancels(_ log: EventLog) -> [String] {
        var found: [String] = []
        var cancelled: [String] = []
        var isRunCancelled = false
        for record in log.records {
            switch record.event {
            case "run.cancel_requested": isRunCancelled = true
            case "group.cancel_requested", "step.cancel_requested":
                if let id = record.step ?? record.group { cancelled.append(id) }
            case "step.retry", "group.retry":
                let id = record.step ?? record.group ?? ""
                cancelled.removeAll { $0 == id || isInside($0, id) }
            case "step.started":
                guard let step = record.step, !isInHook(step) else { continue }
                if isRunCancelled || cancelled.contains(where: { $0 == step || isInside(step, $0) }) {
                    found.append("I8: \(step) started at seq \(record.seq), after a cancel")
                }
            default: break
            }
        }
        return found
    }

    /// I4: each command of `vars` that started has one end before it starts again and before that of the run, and
    /// writes nothing afterwards; one that succeeded does not start again in the same round.
    private static func values(_ log: EventLog) -> [String] {
        var found: [String] = []
        var open: Set<String> = []
        var made: Set<String> = []
        for record in log.records where record.event.hasPrefix("value.") {
            let name = "\(record.group ?? "").vars.\(record["var"]?.string ?? "?")"
            let round = record["round"]?.int.map { " in round \($0)" } ?? ""
            switch record.event {
            case "value.started":
                if !open.insert(name).inserted || made.contains(name + round) {
                    found.append("I4: \(name) started again at seq \(record.seq)")
                }
            case "value.output": if !open.contains(name) { found.append("I4: output of \(name), which does not run") }
            case "value.finished":
                // A command that could not be started has only an end.
                if open.remove(name) == nil, record["duration"]?.double != nil {
                    found.append("I4: \(name) ended without a start")
                }
                if record.outcome == "success" { made.insert(name + round) }
                if (record.outcome == "success") != (record.cause == nil) {
                    found.append("I4: \(name) ended as \(record.outcome ?? "?") with or without a cause")
                }
            default: break
            }
        }
        return found + open.sorted().map { "I4: \($0) started and has no end" }
    }

    /// I6: no more processes of steps and of `vars` run at once than `-j` or `ctl jobs` allows at that time.
    private static func width(_ log: EventLog) -> [String] {
        var found: [String] = []
        var running: Set<String> = []
        var jobs = log.first("run.started")?["jobs"]?.int ?? .max
        for record in log.records {
            let value = record["var"]?.string.map { "\(record.group ?? "").vars.\($0)" }
            switch record.event {
            case "run.jobs": jobs = record["n"]?.int ?? jobs
            case "step.started", "value.started":
                running.insert(value ?? record.step ?? "?")
                if running.count > jobs { found.append("I6: \(running.count) run at seq \(record.seq), not \(jobs)") }
            case "step.retry", "step.finished", "value.finished": running.remove(value ?? record.step ?? "?")
            default: break
            }
        }
        return found
    }

    /// I9: the summary names exactly what failed and is not tolerated, once each, in the order of the ends; what only
    /// suffered stands in `cancelled` and `not_run`; the counts count.
    private static func summary(_ log: EventLog) -> [String] {
        guard let last = log.runFinished else { return [] }
        var found: [String] = []
        let steps = log.all("step.finished")
        // A fan-out that ended before its copies were known counts for them.
        let ends = steps + log.all("group.finished").filter { $0["expanded"]?.bool == false }
        let tolerated = last["tolerated"]?.strings ?? []
        let failed = steps.filter { $0.outcome == "failure" || $0.outcome == "timeout" }.compactMap(\.step)
        let errors = (last["errors"]?.array ?? []).compactMap { $0["step"]?.string }
        let wanted = failed.filter { !tolerated.contains($0) }
        // A group that was stopped before anything in its last round began ends by a failure of the round before.
        let held = log.all("group.finished").filter { record in
            guard record.outcome == "failure" || record.outcome == "timeout", record.cause?.kind == "member",
                let member = record["cause"]?["step"]?.string ?? record["cause"]?["group"]?.string
            else { return false }
            return !failed.contains { $0 == member || isInside($0, member) }
        }.compactMap(\.group)
        let ofLastRounds = errors.filter { step in
            failed.contains(step) || !held.contains { isInside(step, $0) }
        }
        if ofLastRounds != wanted { found.append("I9: errors are \(errors), not \(wanted)") }
        let failedGroups = log.all("group.finished").filter { $0.outcome == "timeout" || $0.outcome == "failure" }
            .compactMap(\.group)
        let stray = tolerated.filter { !failed.contains($0) && !failedGroups.contains($0) }
        if !stray.isEmpty { found.append("I9: \(stray) are tolerated and did not fail") }
        for (field, outcome) in [("cancelled", "cancelled"), ("not_run", "not-run")] {
            let named = (last[field]?.strings ?? []).sorted()
            let ended = ends.filter { $0.outcome == outcome }.compactMap { $0.step ?? $0.group }.sorted()
            if named != ended { found.append("I9: \(field) is \(named), not \(ended)") }
        }
        let counts = (last["counts"]?.object ?? [:]).compactMapValues(\.int).filter { $0.value != 0 }
        let restored = log.all("step.restored").map { _ in ("success", 1) }
        let counted = Dictionary(ends.map { ($0.outcome ?? "?", 1) } + restored, uniquingKeysWith: +)
        if counts != counted { found.append("I9: counts are \(counts), not \(counted)") }
        for record in steps where (record["tolerated"]?.bool ?? false) != tolerated.contains(record.step ?? "") {
            found.append("I9: \(record.step ?? "?") says of itself another thing about being tolerated")
        }
        for record in ends where (record.outcome == "success") != (record.cause == nil) {
            let ending = "\(record.step ?? "?") ended as \(record.outcome ?? "?")"
            found.append("I9: \(ending) with cause \(record.cause?.kind ?? "none")")
        }
        return found
    }

    private static func isInside(_ id: String, _ group: String) -> Bool { EventLog.isInside(id, group) }

    /// Whether a step is part of `finally` or `on-failure`, of the run or of a group.
    private static func isInHook(_ id: String) -> Bool {
        id.split(separator: ".").contains { $0 == "finally" || $0 == "on-failure" }
    }
}
