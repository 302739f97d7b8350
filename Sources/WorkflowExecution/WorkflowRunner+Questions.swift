internal import OperationScheduling
internal import ProcessExecution
internal import RunEvents
internal import WorkflowModel
internal import WorkflowPlanning

// What the scheduler asks while the run goes on: conditions, instances, outputs of groups.
extension WorkflowRunner {
    /// `platforms` and `if`, once all needs have ended.
    func decide(_ row: Int) -> OperationScheduler.Decision {
        if let settings = book.settings(of: row), !settings.platforms.allow() { return .skip }
        guard let condition = book.settings(of: row)?.condition else { return .run }
        do {
            let value = try condition.evaluate(in: RowScope(facts: facts, row: row))
            guard case .bool(let isTrue) = value else {
                tracer.noteFailure(of: row, .condition, "`if` is \(value.text), expected true or false")
                return .fail
            }
            return isTrue ? .run : .skip
        } catch {
            tracer.noteFailure(of: row, .condition, "`if` cannot be decided: \(error.message)")
            return .fail
        }
    }

    /// The instances of a fan-out over a list that is known only now.
    func expand(_ row: Int) -> OperationGraph.Expansion? {
        guard let fanOut = book.settings(of: row)?.fanOut, let items = fanOut.items else { return nil }
        do {
            let value = try items.evaluate(in: RowScope(facts: facts, row: row))
            let rows = try book.expand(row, over: value) { options.secrets.masked($0) != $0 }
            for added in rows where book.plan.nodes[added].role == .step {
                recorder.record(.stepAdded(step: book.id(added), by: book.id(row)), round: round(of: added))
            }
            return OperationGraph.Expansion(rows, of: book.plan, locks: locks)
        } catch let error as FanOut.ItemProblem {
            tracer.noteFailure(of: row, .expression, "the list of `for-each` \(error.message)")
        } catch {
            let reason = (error as? EvaluationError)?.message ?? "\(error)"
            tracer.noteFailure(of: row, .expression, "`for-each` cannot be evaluated: \(reason)")
        }
        return nil
    }

    /// What a group hands on, once everything in it has ended, and whether its failure is worth another round.
    func conclude(_ row: Int, _ outcome: OperationOutcome) -> (outcome: OperationOutcome, mayRetry: Bool) {
        let settings = book.settings(of: row)
        let reasons = settings?.retry?.reasons ?? []
        guard outcome == .success else { return (outcome, isWorthAnother(row, outcome, reasons)) }
        var outputs: [Value.Field] = []
        for declaration in settings?.outputs ?? [] {
            guard case .expression(let template) = declaration.source else { continue }
            do {
                let value = try template.value(in: RowScope(facts: facts, row: row, seesMembers: true))
                outputs.append(Value.Field(name: declaration.name, value: value))
            } catch {
                // What is missing was not to run. Nobody has the group among its needs then.
                if facts.isIncomplete(row) { continue }
                tracer.noteFailure(of: row, .output, "output `\(declaration.name)`: \(error.message)")
                return (.failure, reasons.isEmpty)
            }
        }
        if !outputs.isEmpty { results.note(row, RunResults.Details(outputs: outputs)) }
        return (.success, false)
    }

    /// Of a group: the way its first failed step ended decides.
    private func isWorthAnother(_ row: Int, _ outcome: OperationOutcome, _ reasons: [Retry.Reason]) -> Bool {
        guard !reasons.isEmpty else { return true }
        if outcome == .timeout { return reasons.contains(.timeout) }
        guard let failed = ledger.firstError(in: row) else { return false }
        if results.outcome(of: failed) == .timeout { return reasons.contains(.timeout) }
        return reasons.include(results.details(of: failed).status)
    }
}
