internal import Glibc
package import Planning
internal import Processes
package import RunLog
internal import Scheduling
internal import Syntax
internal import Workflow

/// The expected decision of a resuming run about a step, as far as that is known before anything starts.
package enum ResumeForecast: Sendable, Hashable {
    case takenOver
    /// nil if it runs for the first time.
    case runs(RerunReason?)
    /// It depends on values that only the run makes: those of `vars`, digests of files, the instances of a fan-out.
    case open
}

extension WorkflowRunner {
    /// Forecasts the run's decisions about its steps, except those that `isRuledOut` names and those in hooks. Starts
    /// nothing and makes no file. Called in place of `run`.
    /// With `isCautious`, it is open what follows a failure that was tolerated: it may not come again.
    func forecast(isCautious: Bool = false, isRuledOut: (PlanIndex) -> Bool) -> [PlanIndex: ResumeForecast] {
        var forecast = ForecastPass()
        forecast.isCautious = isCautious
        let leaves = plan.rows.filter { $0 != .root && !plan.isInHook($0) && bodyMembers(of: $0).isEmpty }
        for row in leaves.sorted(by: { (plan.nodes[$0].level, $0) < (plan.nodes[$1].level, $1) }) {
            if isRuledOut(row) {
                end(row, .skipped, &forecast)
            } else if plan.isStep(row), !plan.isMilestone(row) {
                end(row, decide(row, &forecast), &forecast)
            } else {
                // Its members depend on its instances, which are not known.
                forecast.note(row, above(row, &forecast))
                if !plan.isStep(row) { forecast.note(row, .init(isOpen: true)) }
                end(row, .success, &forecast)
            }
        }
        return forecast.steps
    }

    private struct ForecastPass {
        /// The marks of a row before the run.
        struct Marks {
            /// True if it, or something in it, certainly runs.
            var isRunning = false
            var isOpen = false

            mutating func add(_ other: Marks) {
                isRunning = isRunning || other.isRunning
                isOpen = isOpen || other.isOpen
            }
        }

        var isCautious = false
        var steps: [PlanIndex: ResumeForecast] = [:]
        var marks: [PlanIndex: Marks] = [:]
        /// By group: the marks of everything that it and the enclosing groups need.
        var above: [PlanIndex: Marks] = [:]
        /// The number of members of a group that have ended.
        var ended: [PlanIndex: Int] = [:]

        mutating func note(_ row: PlanIndex, _ marks: Marks) { self.marks[row, default: Marks()].add(marks) }

        mutating func note(_ row: PlanIndex, _ forecast: ResumeForecast) {
            steps[row] = forecast
            switch forecast {
            case .takenOver: break
            case .runs: note(row, Marks(isRunning: true))
            case .open: note(row, Marks(isOpen: true))
            }
        }
    }

    /// Combines the marks of everything that a row and the enclosing groups need. Visits each group once.
    private func above(_ row: PlanIndex, _ forecast: inout ForecastPass) -> ForecastPass.Marks {
        var unknown = [row]
        while let next = unknown.last.map(plan.parent), next != .root, forecast.above[next] == nil {
            unknown.append(next)
        }
        var marks = unknown.last.map(plan.parent).flatMap { forecast.above[$0] } ?? .init()
        while let next = unknown.popLast() {
            for edge in plan.edges(of: next) { marks.add(forecast.marks[edge.target] ?? .init()) }
            if next != row { forecast.above[next] = marks }
        }
        return marks
    }

    /// Returns the assumed outcome of the step.
    private func decide(_ row: PlanIndex, _ forecast: inout ForecastPass) -> OperationOutcome {
        let above = self.above(row, &forecast)
        if !above.isOpen, !above.isRunning, isRuledOut(row) { return .skipped }
        guard let known = parts.resumption?.past.steps[plan.nodes[row].id], known.ran != nil else {
            // A condition may have kept it from running before, and may do so again.
            forecast.note(row, hasCondition(row) { _ in true } || needsFailure(row) ? .open : .runs(nil))
            _ = parts.resumption?.decide(row, definition: nil, round: nil, in: plan)
            return .success
        }
        let definition = above.isOpen ? nil : self.definition(of: row)
        guard let decision = parts.resumption?.decide(row, definition: definition, round: nil, in: plan) else {
            return .success
        }
        switch decision {
        case .restore where hasCondition(row, where: \.readsSharedValues):
            forecast.note(row, .open)
        case .restore(let step):
            forecast.note(row, restore(row, step).map(ResumeForecast.runs) ?? .takenOver)
        case .run(.upstream) where above.isOpen && !above.isRunning,
            .run(.result) where definition == nil && known.definition != nil:
            forecast.note(row, .open)
        case .run(let reason):
            forecast.steps[row] = .runs(reason)
            // A failure that is tolerated once more changes nothing for its dependents.
            if reason == .outcome, known.isTolerated, definition == known.definition, let outcome = known.outcome {
                if forecast.isCautious { forecast.note(row, .init(isOpen: true)) }
                return outcome == .timeout ? .timeout : .failure
            }
            forecast.note(row, .runs(reason))
        }
        return .success
    }

    /// Returns true if the condition of a row, or of a group around it, is false. All that it waits for has ended.
    private func isRuledOut(_ row: PlanIndex) -> Bool {
        plan.rowAndAround(row).contains { next in
            guard let condition = plan.condition(of: next) else { return false }
            let scope = RowScope(context: context, row: next, seesOwn: false)
            return context.pending.evaluate(for: row) { try? condition.evaluate(in: scope) } == .bool(false)
        }
    }

    /// Returns true if a row, or an enclosing group, runs only after a failure.
    private func needsFailure(_ row: PlanIndex) -> Bool {
        plan.rowAndAround(row).contains { plan.edges(of: $0).contains { $0.kind == .failure } }
    }

    /// Returns true if a row, or an enclosing group, has a condition of that kind.
    private func hasCondition(_ row: PlanIndex, where isWanted: (Expression) -> Bool) -> Bool {
        plan.rowAndAround(row).contains { plan.condition(of: $0).map(isWanted) ?? false }
    }

    /// Restores a step's results, as far as other steps read them. Returns the reason why that is impossible; nil if
    /// it is done.
    private func restore(_ row: PlanIndex, _ step: PastResults.Step) -> RerunReason? {
        var result = RowResult(status: .exited(0), outputs: step.outputs)
        if context.keepsStandardOutput(of: row), let past = parts.resumption?.past {
            let output = past.standardOutput(of: plan.nodes[row].id)
            guard case .known(let bytes) = output else {
                parts.resumption?.runsAfterAll(row)
                return output == .changed ? .damage : .result
            }
            result.standardOutput = bytes
        }
        state.noteResult(of: row, result)
        return nil
    }

    /// Returns nil if it needs something that only the run makes.
    private func definition(of row: PlanIndex) -> String? {
        let made: String?? = context.pending.evaluate(for: row) {
            do throws(StepError) { return try parts.builder.definition(of: row) } catch { return nil }
        }
        return made ?? nil
    }

    private func end(_ row: PlanIndex, _ outcome: OperationOutcome, _ forecast: inout ForecastPass) {
        parts.resumption?.noteEnd(of: row, StepOutcome(outcome), in: plan)
        if plan.isStep(row) {
            _ = state.stepHasFinished(row, outcome, .itself, nil)
        } else {
            _ = state.groupHasFinished(row, outcome, .itself, at: .zero)
            let made = context.pending.evaluate(for: row) { self.outputs(of: row, after: .success) }
            if outcome == .success, case .success(let fields)? = made, !fields.isEmpty {
                state.noteResult(of: row, RowResult(outputs: fields))
            }
        }
        guard row != .root else { return }
        let group = plan.parent(of: row)
        forecast.note(group, forecast.marks[row] ?? .init())
        forecast.ended[group, default: 0] += 1
        if group != .root, forecast.ended[group] == bodyMembers(of: group).count { end(group, .success, &forecast) }
    }

    private func bodyMembers(of row: PlanIndex) -> [PlanIndex] {
        plan.isStep(row) ? [] : plan.members(of: row).filter { plan.nodes[$0].hook == nil }
    }
}

extension WorkflowRunner {
    /// Returns what a run would start. Starts nothing and makes no file. Called in place of `run`. `known` are the
    /// values of parameters. With `showsAll`, conditions that are false count as open.
    package func preview(known: KnownValues, showsAll: Bool = false) -> RunPreview {
        let plan = plan
        var forecast: [PlanIndex: ResumeForecast] = [:]
        if parts.resumption != nil {
            forecast = self.forecast { row in plan.rowAndAround(row).contains { known.rulesOut($0, of: plan) } }
        }
        let pass = PreviewPass(parts, known, forecast: forecast, showsAll: showsAll)
        return pass.run()
    }
}

extension WorkflowRunner {
    /// The maximum number of ids that a line names.
    private static let namesShown = 5

    /// Warns, before anything starts, of hooks that make steps run again, and names the key that prevents it.
    func tellUndoingHooks() {
        for message in undoingHooks { recorder.record(.warning(code: "undone", message: message)) }
    }

    /// The warnings, a line for each set of hooks that have undone the same steps.
    package var undoingHooks: [String] {
        (parts.resumption?.undoingHooks(in: plan) ?? []).map { undoing in
            let (hooks, steps) = (undoing.hooks, undoing.steps)
            return (hooks.count == 1 ? "the hook \(Self.names(hooks)) has" : "the hooks \(Self.names(hooks)) have")
                + " started since: \(Self.names(steps)) will run again, with all that needs "
                + (steps.count == 1 ? "it" : "them")
                + "; a hook that undoes nothing says `undoes: []`, one that undoes less than its body `undoes: [ids]`"
        }
    }

    private static func names(_ ids: [String]) -> String {
        let shown = ids.prefix(namesShown)
        let more = ids.count - shown.count
        return more > 0 ? "\(shown.map { "`\($0)`" }.joined(separator: ", ")) and \(more) more" : Phrase.all(shown)
    }
}

// The copies of the tree that a resuming run finds.
extension WorkflowRunner {
    /// Judges with what each isolated group of a resuming run begins: a step may be restored only into the very copy in
    /// which it ran, otherwise all of its group is restored or all of it runs again. Starts nothing. O(rows), once more
    /// for each round of groups that have to run again because others do.
    package static func judge(_ copies: TreeCopies, of plan: Plan, options: RunOptions) -> TreeCopies {
        var copies = copies
        var options = options
        options.temporaryFolder = nil
        let groups = plan.rows.filter {
            plan.isIsolated($0) || plan.isDynamicFanOut($0) && plan.hasIsolation(inside: $0)
        }
        while true {
            // All are judged by the files of the tree itself.
            options.treeCopies = copies
            options.treeCopies?.restored = Set(groups)
            let runner = WorkflowRunner(plan, options: options, reporters: [])
            let forecast = runner.forecast(isCautious: true) { _ in false }
            let lostBefore = copies.lost.count
            (copies.kept, copies.restored) = ([], [])
            for group in groups where copies.lost.isDisjoint(with: plan.rowAndAround(group)) {
                copies.note(group, of: plan, forecast, options.past)
            }
            if copies.lost.count == lostBefore { return copies }
        }
    }
}

extension TreeCopies {
    fileprivate mutating func note(
        _ group: PlanIndex, of plan: Plan, _ forecast: [PlanIndex: ResumeForecast], _ past: PastResults?
    ) {
        let rows = [group] + plan.rows(inside: group)
        // The instances of a fan-out that only the run knows have no rows yet.
        let isOpen = rows.contains(where: plan.isDynamicFanOut)
        let steps = rows.filter { plan.isStep($0) && !plan.isMilestone($0) && !plan.isInHook($0) }
        let known = steps.map { (forecast: forecast[$0], past: past?.steps[plan.nodes[$0].id]) }
        let results = known.compactMap(\.past).filter { $0.outcome == .success }
        guard !results.isEmpty || isOpen else { return }
        if known.contains(where: { $0.forecast == .takenOver }), let past,
            let first = firstRun(ofCopyFor: plan.nodes[group].id, past), results.allSatisfy({ $0.ran ?? 0 >= first })
        {
            kept.insert(group)
        } else if !isOpen, known.allSatisfy({ $0.forecast == .takenOver || $0.forecast == nil }),
            !rows.contains(where: plan.asksFiles)
        {
            restored.insert(group)
        } else {
            lost.insert(group)
        }
    }

    /// Returns the number of the first run whose steps ran in the copy that is there; nil if there is none, or if
    /// another run than the resumed ones was the last to use it.
    private func firstRun(ofCopyFor id: String, _ past: PastResults) -> Int? {
        guard let folder, let runs = TreeCopy(of: id, in: folder).runs, past.runs.contains(runs.user) else {
            return nil
        }
        return past.runs.firstIndex(of: runs.maker) ?? 0
    }
}
