internal import OperationScheduling
package import RunEvents
package import WorkflowPlanning

/// What a run that resumes will do with a step, as far as that can be told before anything starts.
package enum ResumeForecast: Sendable, Hashable {
    case takenOver
    /// nil: for the first time.
    case runs(RerunReason?)
    /// It depends on what only the run makes: values of `vars`, digests of files, the copies of a fan-out.
    case open
}

extension WorkflowRunner {
    /// What the run would decide about its steps, but for those that `isRuledOut` names and those in hooks. Starts nothing
    /// and makes no file. Called in place of `run`.
    package func forecast(isRuledOut: (PlanIndex) -> Bool) -> [PlanIndex: ResumeForecast] {
        var forecast = ForecastPass()
        let leaves = plan.rows.filter { $0 != .root && !plan.isInHook($0) && bodyMembers(of: $0).isEmpty }
        for row in leaves.sorted(by: { (plan.nodes[$0].level, $0) < (plan.nodes[$1].level, $1) }) {
            if isRuledOut(row) {
                end(row, .skipped, &forecast)
            } else if plan.isStep(row), !plan.isMilestone(row) {
                end(row, decide(row, &forecast), &forecast)
            } else {
                // Who joins others is what they are; the copies of a fan-out are not known.
                forecast.note(row, above(row, &forecast))
                if !plan.isStep(row) { forecast.note(row, .init(isOpen: true)) }
                end(row, .success, &forecast)
            }
        }
        return forecast.steps
    }

    private struct ForecastPass {
        /// What is known of something that is to run or may be.
        struct Marks {
            /// It certainly runs, or something in it does.
            var isRunning = false
            var isOpen = false

            mutating func add(_ other: Marks) {
                isRunning = isRunning || other.isRunning
                isOpen = isOpen || other.isOpen
            }
        }

        var steps: [PlanIndex: ResumeForecast] = [:]
        var marks: [PlanIndex: Marks] = [:]
        /// By group: those of all that it and the groups around it need.
        var above: [PlanIndex: Marks] = [:]
        /// How many members of a group have ended.
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

    /// The marks of all that a row and the groups around it need. Each group is looked at once.
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

    /// Returns how the step is taken to end.
    private func decide(_ row: PlanIndex, _ forecast: inout ForecastPass) -> OperationOutcome {
        guard let known = resumption?.past.steps[plan.nodes[row].id], known.ran != nil else {
            // Its condition may have kept it from running before, and may do so again.
            forecast.note(row, plan.condition(of: row) == nil ? .runs(nil) : .open)
            _ = resumption?.decide(row, definition: nil, round: nil, in: plan)
            return .success
        }
        let above = self.above(row, &forecast)
        let definition = above.isOpen ? nil : self.definition(of: row)
        guard let decision = resumption?.decide(row, definition: definition, round: nil, in: plan) else {
            return .success
        }
        switch decision {
        case .restore(let step):
            forecast.note(row, restore(row, step).map(ResumeForecast.runs) ?? .takenOver)
        case .run(.upstream) where above.isOpen && !above.isRunning,
            .run(.result) where definition == nil && known.definition != nil:
            forecast.note(row, .open)
        case .run(let reason):
            forecast.steps[row] = .runs(reason)
            // A failure that is tolerated once more changes nothing for what is behind it.
            if reason == .outcome, known.isTolerated, definition == known.definition, let outcome = known.outcome {
                return outcome == .timeout ? .timeout : .failure
            }
            forecast.note(row, .runs(reason))
        }
        return .success
    }

    /// Takes over what a step has left, as far as others read it. Returns why that cannot be; nil if it can.
    private func restore(_ row: PlanIndex, _ step: PastResults.Step) -> RerunReason? {
        var result = RowResult(status: .exited(0), outputs: step.outputs)
        if keepsStandardOutput(of: row), let past = resumption?.past {
            let output = past.standardOutput(plan.nodes[row].id)
            guard case .known(let bytes) = output else {
                resumption?.runsAfterAll(row)
                return output == .changed ? .damage : .result
            }
            result.standardOutput = bytes
        }
        state.noteResult(of: row, result)
        return nil
    }

    /// nil where that needs something that only the run makes.
    private func definition(of row: PlanIndex) -> String? {
        let made: String?? = context.pending.evaluate(for: row) {
            do throws(StepError) { return try builder.definition(of: row) } catch { return nil }
        }
        return made ?? nil
    }

    private func end(_ row: PlanIndex, _ outcome: OperationOutcome, _ forecast: inout ForecastPass) {
        resumption?.noteEnd(of: row, StepOutcome(outcome), in: plan)
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
