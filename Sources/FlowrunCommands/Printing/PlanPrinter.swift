internal import Basics
package import Planning
internal import RunLog
internal import Running
internal import Syntax
internal import Workflow

/// The answer of `flowrun plan`.
package struct PlanPrinter {
    /// The outline: one instance `[*]` for each fan-out whose items become known only during the run.
    let plan: Plan
    private let bound: RunBound
    let jobs: Int
    private let known: KnownValues
    /// The number of steps, in the words of the header of a run's log.
    private let size: String
    /// Steps by level, then in file order: an order in which they could run one by one.
    let steps: [PlanIndex]
    /// nil if none was requested.
    private(set) var simulation: SimulatedRun?
    /// The number of simulated steps without a known duration.
    private(set) var usualSteps = 0
    /// The duration assumed for steps without history.
    private(set) var usualLength = Duration.zero
    /// nil if no past run is known.
    private var expected: ExpectedRun?

    /// `jobs` is the number of steps that may run at once, for the bound; `known` decides which conditions are false
    /// already.
    package init(_ plan: Plan, jobs: Int, known: KnownValues = .none) {
        self.plan = plan.outline
        self.jobs = jobs
        self.known = known
        size = StepCount.words(plan.stepCount, andCopiesOf: plan.fanOutsOfRun.map { plan.nodes[$0].id })
        bound = plan.bound(jobs: jobs, known: known)
        steps = Self.byLevel(plan.outline)
    }

    /// Adds the start and end of each step with the given durations.
    mutating func simulate(_ durations: StepDurations) {
        let lengths = durations.lengths(of: plan)
        simulation = RunOrder(plan, jobs: jobs, durations: lengths, known: known, isTimed: !durations.isEmpty).run
        usualLength = durations.usualLength(in: plan)
        usualSteps = steps.count { !plan.isMilestone($0) } - durations.knownCount(in: plan)
    }

    /// Adds the duration of a run in which each step takes as long as before. Does nothing if no duration is known.
    mutating func estimate(from runs: PastDurations?) {
        expected = runs.flatMap { ExpectedRun(plan, jobs: jobs, from: $0, known: known) }
    }

    /// Adds the start and end of each step if it takes as long as before.
    mutating func simulateFromPast() { simulate(expected?.durations ?? .none) }

    /// Counting sort: a level is below the number of steps.
    private static func byLevel(_ plan: Plan) -> [PlanIndex] {
        let rows = plan.rows.filter { plan.nodes[$0].role == .step }
        var levels = [[PlanIndex]](repeating: [], count: Int(plan.nodes[.root].remainingPath))
        for row in rows { levels[Int(plan.nodes[row].level)].append(row) }
        return levels.flatMap { $0 }
    }

    // MARK: JSON

    /// Returns one JSON object (flowrun(1), JSON ANSWERS).
    package func json() -> String {
        JSONWriter.line { json in
            json.object { json in
                json.array("steps") { json in for row in steps { write(row, to: &json) } }
                json.array("groups") { json in
                    for row in plan.rows.dropFirst() where plan.nodes[row].role != .step { write(row, to: &json) }
                }
                json.field("critical_path", criticalPath.map { plan.nodes[$0].id })
                switch bound {
                case .atMost(let duration):
                    json.field("bound", duration)
                    json.null("bound_reason")
                case .none(let reason):
                    json.null("bound")
                    json.field("bound_reason", reason)
                }
                json.field("estimate", expected?.makespan)
                if let simulation { json.field("makespan", simulation.makespan) }
                json.array("vars") { json in
                    for id in commands {
                        json.object { json in
                            json.field("name", plan.workflow[id].name)
                            json.field("group", plan.workflow.path(of: id.scope))
                            let (file, line) = plan.workflow.place(of: id)
                            json.field("file", file)
                            json.field("line", line)
                        }
                    }
                }
            }
        }
    }

    private func write(_ row: PlanIndex, to json: inout JSONWriter) {
        json.object { json in
            json.field("id", plan.nodes[row].id)
            json.field("level", Int(plan.nodes[row].level))
            json.array("needs") { json in
                for edge in plan.edges(of: row) { json.value(plan.nodes[edge.target].id) }
            }
            json.field("if", condition(of: row))
            json.field("skipped", isRuledOut(row))
            json.field("max_items", maxItems(of: row))
            if plan.nodes[row].role != .step {
                writeTaken(by: row, to: &json)
            } else {
                json.field("estimate", expected?.durations[plan.nodes[row].id])
                if let simulation {
                    json.field("start", simulation.spans[row.offset]?.start)
                    json.field("finish", simulation.spans[row.offset]?.finish)
                }
            }
            json.field("file", plan.file(of: row))
            json.field("line", plan.line(of: row))
        }
    }

    private func writeTaken(by group: PlanIndex, to json: inout JSONWriter) {
        json.array("takes") { json in
            for mutex in plan.takenMutexes(by: group) {
                json.object { json in
                    json.field("mutex", mutex.name)
                    json.field("for", mutex.users.map { plan.nodes[$0].id })
                }
            }
        }
    }

    /// Returns the text of the row's own `if`, which a fan-out has once for all its instances.
    private func condition(of row: PlanIndex) -> String? { plan.condition(of: row)?.text }

    /// Returns the most instances of a fan-out whose items become known only during the run; nil for all other rows.
    private func maxItems(of row: PlanIndex) -> Int? {
        plan.isDynamicFanOut(row) ? plan.fanOut(of: row)?.limit : nil
    }

    // MARK: Text

    /// Returns the text for users: the steps level by level with their needs, then the critical path and the bound.
    package func text() -> String {
        let levels = Int(plan.nodes[.root].remainingPath)
        var text = plan.workflow.file.name.visible
        text += ": \(size) in \(levels.counted("level"))\n"
        // A few very long ids must not push everything else to the right.
        let width = min(48, steps.map { title(of: $0).utf8.count }.max() ?? 0)
        var level: UInt32?
        for row in steps {
            if plan.nodes[row].level != level {
                level = plan.nodes[row].level
                text += "\nlevel \(plan.nodes[row].level)\n"
            }
            let waits = waits(of: row) + conditions(of: row)
            text += "  " + (waits.isEmpty ? title(of: row) : "\(title(of: row).padded(to: width))  \(waits)")
            text += "\n"
        }
        text += "\n" + dynamicFanOutsText() + commandsText() + holdersText() + criticalPathText()
        switch bound {
        case .atMost(let duration): text += "bound: at most \(duration.asWritten) with \(jobs.counted("job"))\n"
        case .none(let reason): text += "bound: none, \(reason.asOneLine)\n"
        }
        return text + estimateText() + (simulation.map(simulationText) ?? "")
    }

    private func estimateText() -> String {
        guard let expected else { return "" }
        if let makespan = expected.makespan {
            return "estimate: \(TimeText.duration(makespan)) with \(jobs.counted("job")), as in the last runs\n"
        }
        let new = steps.filter(expected.newSteps.contains)
        guard let first = new.first else { return "" }
        let id = "`\(plan.nodes[first].id)`"
        let who = new.count == 1 ? "\(id) has" : "\(id) and \((new.count - 1).counted("other")) have"
        return "estimate: none, \(who) not succeeded in the last runs\n"
    }

    /// Returns the id, followed by the values of an instance if it has only a number for them.
    func title(of row: PlanIndex) -> String {
        InstanceValues.title(plan.nodes[row].id, item: plan.nodes[row].variables.isEmpty ? nil : plan.item(of: row))
    }

    /// Returns the needs of a step, then those of its enclosing groups.
    private func waits(of row: PlanIndex) -> String {
        var ids: [String] = []
        var total = 0
        for waiting in plan.rowAndAround(row) {
            if let hook = plan.nodes[waiting].hook {
                total += 1
                if ids.count < 6 { ids.append(what(hook, of: plan.nodes[waiting].parent)) }
            }
            for edge in plan.edges(of: waiting) {
                total += 1
                if ids.count < 6 { ids.append(plan.nodes[edge.target].id) }
            }
        }
        guard total > 0 else { return "" }
        return "after " + ids.joined(separator: ", ") + (total > ids.count ? " and \(total - ids.count) more" : "")
    }

    /// Describes what a hook waits for.
    private func what(_ hook: WorkflowNode.Hook, of group: PlanIndex) -> String {
        let place = group == .root ? "" : " in \(plan.nodes[group].id)"
        return hook == .finally ? "everything else" + place : "a failure" + place
    }

    /// Returns the conditions of a step, its own first, then those of its enclosing groups.
    private func conditions(of row: PlanIndex) -> String {
        let rows = plan.rowAndAround(row)
        if let wrong = rows.first(where: { known.rulesOut($0, of: plan) }) {
            let platforms = plan.platforms(of: wrong)
            guard platforms.allow() else {
                return "  skipped: platforms \(platforms.map(\.rawValue).joined(separator: ", "))"
            }
            return "  skipped: if \(plan.condition(of: wrong)?.text.asOneLine ?? "")"
        }
        return rows.compactMap { plan.condition(of: $0) }.map { "  if \($0.text.asOneLine)" }.joined()
    }

    /// True if the row or an enclosing group is ruled out by the given parameters or on this machine.
    private func isRuledOut(_ row: PlanIndex) -> Bool {
        plan.rowAndAround(row).contains { known.rulesOut($0, of: plan) }
    }

    private func dynamicFanOutsText() -> String {
        var text = ""
        for row in plan.rows {
            guard let limit = maxItems(of: row) else { continue }
            let items = plan.fanOut(of: row)?.items?.text ?? "`matrix`"
            text += "\(plan.nodes[row].id)[*]: one for each of \(items.asOneLine), at most \(limit)\n"
        }
        return text.isEmpty ? "" : text + "\n"
    }

    /// Those of `vars` whose commands would run, because a step that runs reads them; in file order.
    private var commands: [SharedValueID] {
        PlanReads(plan, known: known, wanted: []).sharedValues.filter { plan.workflow[$0].command != nil }
            .sorted { plan.workflow[$0].range.start < plan.workflow[$1].range.start }
    }

    private func commandsText() -> String {
        let lines = commands.map { id in
            let scope = plan.workflow.path(of: id.scope)
            let (file, line) = plan.workflow.place(of: id)
            let place = (scope.isEmpty ? "" : " in \(scope)") + " (\(file.visible):\(line))"
            let value = plan.workflow[id]
            return switch value.purpose {
            case .value: "\(value.words)\(place): its command runs before the first step that reads it\n"
            case .precondition: "\(value.words)\(place): its command runs before what requires it\n"
            case .tree: "\(value.words)\(place): the tree is copied before the first step in it\n"
            }
        }
        return lines.isEmpty ? "" : lines.joined() + "\n"
    }

    /// Returns the groups that hold mutexes, with the mutexes that they take at their start, and the users of each.
    private func holdersText() -> String {
        var text = ""
        for row in plan.rows {
            let taken = plan.takenMutexes(by: row).map { mutex in
                let users = mutex.users.prefix(3).map { plan.nodes[$0].id }.joined(separator: ", ")
                let more = mutex.users.count > 3 ? " and \(mutex.users.count - 3) more" : ""
                return "`\(mutex.name.asOneLine)`" + (users.isEmpty ? "" : " for \(users)\(more)")
            }
            if !taken.isEmpty { text += "\(plan.nodes[row].id) takes \(taken.joined(separator: ", "))\n" }
        }
        return text.isEmpty ? "" : text + "\n"
    }

    /// By time if durations are known, otherwise by number of steps.
    private var criticalPath: [PlanIndex] {
        guard let lengths = expected?.durations.lengths(of: plan) else { return plan.criticalPath() }
        return plan.criticalPath { max(1, lengths[$0.offset].wholeMicroseconds) }
    }

    private func criticalPathText() -> String {
        let path = criticalPath
        let ids = path.map { plan.nodes[$0].id }
        guard !ids.isEmpty else { return "" }
        var text = "critical path: \(ids.count.counted("step"))"
        if let lengths = expected?.durations.lengths(of: plan) {
            text += ", \(TimeText.duration(path.reduce(.zero) { $0 + lengths[$1.offset] }))"
        }
        text += "\n"
        var line = "  " + ids[0]
        for id in ids.dropFirst() {
            if line.utf8.count + 4 + id.utf8.count > 100 {
                text += line + " ->\n"
                line = "  " + id
            } else {
                line += " -> " + id
            }
        }
        return text + line + "\n"
    }
}

extension PlanPrinter {
    /// Returns the start and end of each step, in the order of the starts, and the end of the run.
    func simulationText(_ run: SimulatedRun) -> String {
        let spans = steps.compactMap { row in run.spans[row.offset].map { (row: row, span: $0) } }
            .sorted { ($0.span.start, $0.row) < ($1.span.start, $1.row) }
        var text = "\nsimulated with \(jobs.counted("job"))"
        if usualSteps > 0 {
            text += ", \(usualSteps.counted("step")) of unknown duration as \(TimeText.duration(usualLength))"
        }
        text += "\n"
        let makespan = TimeText.duration(run.makespan)
        for (row, span) in spans {
            let start = TimeText.duration(span.start).indented(to: makespan.utf8.count)
            let finish = TimeText.duration(span.finish).indented(to: makespan.utf8.count)
            text += "  \(start) - \(finish)  \(title(of: row))\n"
        }
        return text + "makespan: \(makespan)\n"
    }
}
