internal import OperationScheduling
internal import ProcessExecution
internal import RunEvents
internal import WorkflowModel
internal import WorkflowPlanning

// What the scheduler asks while the run goes on: conditions, instances, outputs of groups.
extension WorkflowRunner {
    /// `platforms` and `if`, once all needs have ended.
    func decide(_ row: PlanIndex) -> OperationScheduler.Decision {
        if let settings = plan.settings(of: row), !settings.platforms.allow() { return .skip }
        guard let condition = plan.settings(of: row)?.condition else { return .run }
        do {
            let value = try condition.evaluate(in: RowScope(context: context, row: row))
            guard case .bool(let isTrue) = value else {
                state.noteFailure(of: row, .condition, "`if` is \(value.text), expected true or false")
                return .fail
            }
            return isTrue ? .run : .skip
        } catch {
            state.noteFailure(of: row, .condition, "`if` cannot be decided: \(error.message)")
            return .fail
        }
    }

    /// The instances of a fan-out over a list that is known only now.
    func expand(_ row: PlanIndex) -> OperationGraph? {
        guard let fanOut = plan.settings(of: row)?.fanOut, let items = fanOut.items else { return nil }
        do {
            let value = try items.evaluate(in: RowScope(context: context, row: row))
            let rows = try state.expand(row, over: value) { options.secrets.masked($0) != $0 }
            for added in rows where plan.isStep(added) {
                recorder.record(
                    .stepAdded(step: plan.nodes[added].id, by: plan.nodes[row].id), round: state.round(of: added))
            }
            return OperationGraph(rows, of: plan, locks: locks)
        } catch let error as FanOut.ItemProblem {
            state.noteFailure(of: row, .expression, "the list of `for-each` \(error.message)")
        } catch {
            let reason = (error as? EvaluationError)?.message ?? "\(error)"
            state.noteFailure(of: row, .expression, "`for-each` cannot be evaluated: \(reason)")
        }
        return nil
    }

    /// What a group hands on, once everything in it has ended, and whether its failure is worth another round.
    func conclude(_ row: PlanIndex, _ outcome: OperationOutcome) -> (outcome: OperationOutcome, mayRetry: Bool) {
        let settings = plan.settings(of: row)
        let reasons = settings?.retry?.reasons ?? []
        guard outcome == .success else { return (outcome, isWorthAnother(row, outcome, reasons)) }
        var outputs: [Value.Field] = []
        for declaration in settings?.outputs ?? [] {
            guard case .expression(let template) = declaration.source else { continue }
            do {
                let value = try template.value(in: RowScope(context: context, row: row, seesMembers: true))
                outputs.append(Value.Field(name: declaration.name, value: value))
            } catch {
                // What is missing was not to run. Nobody has the group among its needs then.
                if state.isIncomplete(row) { continue }
                state.noteFailure(of: row, .output, "output `\(declaration.name)`: \(error.message)")
                return (.failure, reasons.isEmpty)
            }
        }
        if !outputs.isEmpty { state.noteResult(of: row, RunState.Result(outputs: outputs)) }
        return (.success, false)
    }

    /// Of a group: the way its first failed step ended decides.
    private func isWorthAnother(_ row: PlanIndex, _ outcome: OperationOutcome, _ reasons: [Retry.Reason]) -> Bool {
        guard !reasons.isEmpty else { return true }
        if outcome == .timeout { return reasons.contains(.timeout) }
        guard let failed = state.firstError(in: row) else { return false }
        if state.outcome(of: failed) == .timeout { return reasons.contains(.timeout) }
        return reasons.include(state.result(of: failed).status)
    }
}

extension [Retry.Reason] {
    /// Whether one of them is the way a process has ended; nil, where there was none, is no reason.
    func include(_ status: ExitStatus?) -> Bool {
        switch status {
        case .exited(let code): contains(.exitCode(code))
        case .signalled: contains(.signal)
        case nil: false
        }
    }
}
