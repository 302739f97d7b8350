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
    /// With `isCautious`, dependents of a tolerated failure are open: it may succeed this time.
    func forecast(isCautious: Bool = false, isRuledOut: (PlanIndex) -> Bool) -> [PlanIndex: ResumeForecast] {
        var pass = ForecastPass(self, isCautious: isCautious)
        return pass.run(isRuledOut: isRuledOut)
    }
}

/// Ends the rows of a run in order, each as it is expected to.
@EventLoopActor
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

    private let runner: WorkflowRunner
    private let isCautious: Bool
    private var steps: [PlanIndex: ResumeForecast] = [:]
    private var marks: [PlanIndex: Marks] = [:]
    /// By group: the marks of everything that it and the enclosing groups need.
    private var marksAbove: [PlanIndex: Marks] = [:]
    /// The number of members of a group that have ended.
    private var ended: [PlanIndex: Int] = [:]

    init(_ runner: WorkflowRunner, isCautious: Bool) {
        self.runner = runner
        self.isCautious = isCautious
    }

    private var plan: Plan { _read { yield runner.plan } }
    private var context: RunContext { runner.context }

    mutating func run(isRuledOut: (PlanIndex) -> Bool) -> [PlanIndex: ResumeForecast] {
        let leaves = plan.rows.filter { $0 != .root && !plan.isInHook($0) && bodyMembers(of: $0).isEmpty }
        for row in leaves.sorted(by: { (plan.nodes[$0].level, $0) < (plan.nodes[$1].level, $1) }) {
            if isRuledOut(row) {
                end(row, .skipped)
            } else if plan.isStep(row), !plan.isMilestone(row) {
                end(row, decide(row))
            } else {
                // Its members depend on its instances, which are not known.
                note(row, above(row))
                if !plan.isStep(row) { note(row, Marks(isOpen: true)) }
                end(row, .success)
            }
        }
        return steps
    }

    private mutating func note(_ row: PlanIndex, _ marks: Marks) { self.marks[row, default: Marks()].add(marks) }

    private mutating func note(_ row: PlanIndex, _ forecast: ResumeForecast) {
        steps[row] = forecast
        switch forecast {
        case .takenOver: break
        case .runs: note(row, Marks(isRunning: true))
        case .open: note(row, Marks(isOpen: true))
        }
    }

    /// Combines the marks of everything that a row and the enclosing groups need. Visits each group once.
    private mutating func above(_ row: PlanIndex) -> Marks {
        var unknown = [row]
        while let next = unknown.last.map(plan.parent), next != .root, marksAbove[next] == nil {
            unknown.append(next)
        }
        var marks = unknown.last.map(plan.parent).flatMap { marksAbove[$0] } ?? Marks()
        while let next = unknown.popLast() {
            for edge in plan.edges(of: next) { marks.add(self.marks[edge.target] ?? Marks()) }
            if next != row { marksAbove[next] = marks }
        }
        return marks
    }

    /// Returns the assumed outcome of the step.
    private mutating func decide(_ row: PlanIndex) -> OperationOutcome {
        let above = self.above(row)
        if !above.isOpen, !above.isRunning, hasFalseCondition(row) { return .skipped }
        guard let known = runner.parts.resumption?.past.steps[plan.nodes[row].id], known.ran != nil else {
            // A condition may have kept it from running before, and may do so again.
            note(row, hasCondition(row) { _ in true } || needsFailure(row) ? .open : .runs(nil))
            _ = runner.parts.resumption?.decide(row, definition: nil, round: nil, in: plan)
            return .success
        }
        let definition = above.isOpen ? nil : self.definition(of: row)
        guard let decision = runner.parts.resumption?.decide(row, definition: definition, round: nil, in: plan) else {
            return .success
        }
        switch decision {
        case .restore where hasCondition(row, where: \.readsSharedValues):
            note(row, .open)
        case .restore(let step):
            note(row, restore(row, step).map(ResumeForecast.runs) ?? .takenOver)
        case .run(.upstream) where above.isOpen && !above.isRunning,
            .run(.result) where definition == nil && known.definition != nil:
            note(row, .open)
        case .run(let reason):
            steps[row] = .runs(reason)
            // A failure that is tolerated once more changes nothing for its dependents.
            if reason == .outcome, known.isTolerated, definition == known.definition, let outcome = known.outcome {
                if isCautious { note(row, Marks(isOpen: true)) }
                return outcome == .timeout ? .timeout : .failure
            }
            note(row, .runs(reason))
        }
        return .success
    }

    /// Returns true if the condition of a row, or of a group around it, is false. All that it waits for has ended.
    private func hasFalseCondition(_ row: PlanIndex) -> Bool {
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
        if context.keepsStandardOutput(of: row), let past = runner.parts.resumption?.past {
            let output = past.standardOutput(of: plan.nodes[row].id)
            guard case .known(let bytes) = output else {
                runner.parts.resumption?.runsAfterAll(row)
                return output == .changed ? .damage : .result
            }
            result.standardOutput = bytes
        }
        runner.state.noteResult(of: row, result)
        return nil
    }

    /// Returns nil if it needs something that only the run makes.
    private func definition(of row: PlanIndex) -> String? {
        let made: String?? = context.pending.evaluate(for: row) {
            do throws(StepError) { return try runner.parts.builder.definition(of: row) } catch { return nil }
        }
        return made ?? nil
    }

    private mutating func end(_ row: PlanIndex, _ outcome: OperationOutcome) {
        runner.parts.resumption?.noteEnd(of: row, StepOutcome(outcome), in: plan)
        if plan.isStep(row) {
            _ = runner.state.stepHasFinished(row, outcome, .itself, nil)
        } else {
            _ = runner.state.groupHasFinished(row, outcome, .itself, at: .zero)
            let made = context.pending.evaluate(for: row) { runner.outputs(of: row, after: .success) }
            if outcome == .success, case .success(let fields)? = made, !fields.isEmpty {
                runner.state.noteResult(of: row, RowResult(outputs: fields))
            }
        }
        guard row != .root else { return }
        let group = plan.parent(of: row)
        note(group, marks[row] ?? Marks())
        ended[group, default: 0] += 1
        if group != .root, ended[group] == bodyMembers(of: group).count { end(group, .success) }
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
