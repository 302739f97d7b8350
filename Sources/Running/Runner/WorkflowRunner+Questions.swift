internal import Planning
internal import Processes
internal import RunLog
internal import Scheduling
internal import Syntax
internal import Workflow

// The scheduler's questions while the run goes on: conditions, instances, outputs of groups. The answer comes at
// once, or once the files and `vars` that an expression reads are available.
extension WorkflowRunner {
    /// Evaluates `platforms`, `if` and `require`, once all needs have ended.
    func decide(_ row: PlanIndex) {
        let id = OperationID(row)
        guard plan.platforms(of: row).allow() else {
            state.noteFalseCondition(of: row)
            return loop.send(.decided(id, .skip))
        }
        guard let decision = context.pending.evaluate(for: row, { decision(of: row) }) else {
            limitWait(of: row)
            return waits.wait(for: context.pending.takeMissing(), in: row) { self.decide(row) }
        }
        endWaitLimit(of: row)
        switch decision {
        case .success(.skip): state.noteFalseCondition(of: row)
        case .success(.run) where !options.isConfirmed:
            if let question = plan.confirmation(of: row) { return confirm(row, question) }
        case .success: break
        case .failure(let error):
            state.noteFailure(of: row, error.kind, error.message, because: error.failure, place: error.place)
        }
        loop.send(.decided(id, (try? decision.get()) ?? .fail))
    }

    /// Limits the wait of a step in a hook for a value by the step's own limit: cleanup must not wait for ever.
    private func limitWait(of row: PlanIndex) {
        guard waitLimits[row] == nil, plan.isInHook(row), let limit = plan.timeout(of: row) else { return }
        waitLimits[row] = Countdown(limit, by: loop.clock) { [weak self] in
            guard let self, self.waitLimits.removeValue(forKey: row) != nil, self.waits.forget(row) else {
                return
            }
            self.state.noteFailure(of: row, .timeout, "waited longer than \(limit.asWritten) for a value")
            self.loop.send(.decided(OperationID(row), .fail))
        }
    }

    func endWaitLimit(of row: PlanIndex) {
        waitLimits.removeValue(forKey: row)?.cancel()
    }

    /// Asks the user before a row starts, after the questions that already wait for an answer.
    private func confirm(_ row: PlanIndex, _ question: String) {
        guard parts.terminal.canAsk else {
            state.noteFailure(
                of: row, .condition,
                "\(Phrase.quoted(question)) needs an answer, and there is no terminal to ask on; "
                    + "`--yes` answers yes")
            return loop.send(.decided(OperationID(row), .fail))
        }
        parts.terminal.ask("\(plan.nodes[row].id): \(question)", about: row) { [weak self] isYes in
            if !isYes {
                self?.state.noteFailure(of: row, .condition, "the answer to \(Phrase.quoted(question)) was no")
            }
            self?.loop.send(.decided(OperationID(row), isYes ? .run : .fail))
        }
    }

    private func decision(of row: PlanIndex) -> Result<OperationScheduler.Decision, StepError> {
        Result { () throws(StepError) in
            guard try isConditionTrue(of: row) else { return .skip }
            try checkArguments(of: row)
            try checkRequirements(of: row)
            if plan.isStep(row), !plan.isMilestone(row) { context.prepare(row) }
            return .run
        }
    }

    private func isConditionTrue(of row: PlanIndex) throws(StepError) -> Bool {
        guard let condition = plan.condition(of: row) else { return true }
        return try truth(of: condition, in: RowScope(context: context, row: row, seesOwn: false), "`if`")
    }

    private func truth(of condition: Expression, in scope: RowScope, _ name: String) throws(StepError) -> Bool {
        let value: Value
        do {
            value = try condition.evaluate(in: scope)
        } catch {
            throw failure("cannot evaluate \(name): \(error.message)", .condition)
        }
        guard case .bool(let isTrue) = value else {
            let text = value == .null ? "null" : value.text
            throw StepError("\(name) is \(text), expected true or false", kind: .condition)
        }
        return isTrue
    }

    private func failure(_ message: String, _ kind: Cause.Kind) -> StepError {
        var error = StepError(message, kind: kind)
        error.failure = context.pending.failure
        return error
    }

    private func checkRequirements(of row: PlanIndex) throws(StepError) {
        try check(plan.requirements(of: row), in: RowScope(context: context, row: row))
        guard let use = plan.use(of: row)?.settings else { return }
        try check(use.requirements, in: RowScope(context: context, row: row, isInside: true))
    }

    private func check(_ requirements: [Requirement], in scope: RowScope) throws(StepError) {
        for requirement in requirements {
            var reason: String?
            switch requirement.condition {
            case .expression(let condition):
                if try truth(of: condition, in: scope, "`\(condition.text)` of `require`") { continue }
            case .command(let name, let text):
                do throws(EvaluationError) {
                    if try scope.shared(name) != nil { continue }
                } catch {
                    reason = "\(Phrase.quoted(text)): \(context.pending.failure?.cause.message ?? error.message)"
                }
            }
            throw try failure(of: requirement, because: reason, in: scope)
        }
    }

    /// `reason` is the end of a command.
    private func failure(
        of requirement: Requirement, because reason: String?, in scope: RowScope
    ) throws(StepError) -> StepError {
        let failed = reason == nil ? nil : context.pending.failure
        var message: String?
        do {
            message = try requirement.message?.evaluate(in: scope)
        } catch {
            throw failure("cannot evaluate the `message` of `require`: \(error.message)", .condition)
        }
        var error = StepError(
            message.map { $0 + (reason.map { " (\($0))" } ?? "") } ?? "a command of `require` failed, \(reason ?? "")",
            kind: .condition)
        error.place = requirement.range
        error.failure = failed
        return error
    }

    /// Checks the values that a group passes to the body it uses against the body's parameters.
    private func checkArguments(of row: PlanIndex) throws(StepError) {
        guard let use = plan.use(of: row) else { return }
        for parameter in use.parameters {
            do {
                _ = try context.value(of: parameter, of: use, at: row)
            } catch {
                var failure = failure(error.message, .expression)
                failure.place = error.range
                throw failure
            }
        }
    }

    /// Makes the instances of a fan-out over a list that is known only now.
    func expand(_ row: PlanIndex) {
        let id = OperationID(row)
        guard let items = plan.fanOut(of: row)?.items else { return loop.send(.ended(id, .failure, mayRetry: false)) }
        let scope = RowScope(context: context, row: row, seesOwn: false)
        let evaluated = context.pending.evaluate(for: row) { () -> Result<Value, EvaluationError> in
            Result { () throws(EvaluationError) in try items.evaluate(in: scope) }
        }
        guard let evaluated else { return waits.wait(for: context.pending.takeMissing(), in: row) { self.expand(row) } }
        loop.send(expansion(of: row, by: evaluated).map { .expanded(id, $0) } ?? .ended(id, .failure, mayRetry: false))
    }

    /// Returns nil if there is none, and notes the reason.
    private func expansion(of row: PlanIndex, by items: Result<Value, EvaluationError>) -> OperationGraph? {
        switch items {
        case .success(let value):
            do {
                let rows = try state.expand(row, over: value) { options.secrets.masked($0) != $0 }
                for added in rows where plan.isStep(added) {
                    let event = StepAdded { event in
                        event.step = plan.nodes[added].id
                        event.fanOut = plan.nodes[row].id
                    }
                    recorder.record(.stepAdded(event), round: state.round(of: added))
                }
                return OperationGraph(rows, of: plan, options: options, locks: locks)
            } catch {
                state.noteFailure(of: row, .expression, "the list of `for-each` \(error.message)")
            }
        case .failure(let error):
            state.noteFailure(
                of: row, .expression, "`for-each` cannot be evaluated: \(error.message)",
                because: context.pending.failure)
        }
        return nil
    }

    /// Answers whether a failed body is worth another round.
    func weigh(_ row: PlanIndex, _ outcome: OperationOutcome) {
        loop.send(.ended(OperationID(row), outcome, mayRetry: isWorthAnother(row)))
    }

    /// Evaluates the outputs of a group once everything in it has ended, and decides if its failure is worth another
    /// round. A group that did not succeed keeps the outputs that can be made.
    func conclude(_ row: PlanIndex, _ outcome: OperationOutcome) {
        let id = OperationID(row)
        guard let outputs = context.pending.evaluate(for: row, { outputs(of: row, after: outcome) }) else {
            // A run that is being ended starts no work for them.
            guard outcome == .success || !control.isStopping else {
                waits.forget(row)
                return loop.send(.ended(id, outcome, mayRetry: false))
            }
            return waits.wait(for: context.pending.takeMissing(), in: row) { self.conclude(row, outcome) }
        }
        switch outputs {
        case .success(let fields):
            if !fields.isEmpty { state.noteResult(of: row, RowResult(outputs: fields)) }
            loop.send(.ended(id, outcome, mayRetry: outcome != .success && isWorthAnother(row)))
        case .failure(let error):
            state.noteFailure(of: row, .output, error.message, because: context.pending.failure)
            loop.send(.ended(id, .failure, mayRetry: plan.retry(of: row)?.reasons.isEmpty ?? true))
        }
    }

    func outputs(
        of row: PlanIndex, after outcome: OperationOutcome
    ) -> Result<[Value.Field], OutputError> {
        let scope = RowScope(context: context, row: row, seesMembers: true)
        var outputs: [Value.Field] = []
        for declaration in plan.settings(of: row)?.outputs ?? [] {
            guard case .expression(let template) = declaration.source else { continue }
            do {
                outputs.append(Value.Field(name: declaration.name, value: try template.value(in: scope)))
            } catch {
                // The output reads a step that was not to run. Then nothing that runs needs the group.
                if outcome != .success || state.isIncomplete(row) { continue }
                return .failure(OutputError("output `\(declaration.name)`: \(error.message)"))
            }
        }
        return .success(outputs)
    }

    /// Ends a group that is being stopped before its question could be answered.
    func withdraw(_ row: PlanIndex) {
        if waits.forget(row) { loop.send(.ended(OperationID(row), .failure, mayRetry: false)) }
    }

    /// Returns true if every failure in a group is of a kind that its `retry` names, whichever came first; always if
    /// it names none.
    private func isWorthAnother(_ row: PlanIndex) -> Bool {
        let reasons = plan.retry(of: row)?.reasons ?? []
        guard !reasons.isEmpty else { return true }
        if state.stop(of: row) == .timeout, !reasons.contains(.timeout) { return false }
        return state.rootFailures(in: row).allSatisfy { failed in
            failed.isTimeout
                ? reasons.contains(.timeout) : reasons.include(state.result(of: failed.row).shellStatus)
        }
    }
}

extension [Retry.Reason] {
    /// Returns true if one of them matches how a process ended, as a shell shows it; false for nil, which is no
    /// process.
    func include(_ status: ExitStatus?) -> Bool {
        switch status {
        case .exited(let code): contains(.exitCode(code))
        case .signalled(let number): contains(.signal) || contains(.exitCode(128 + number))
        case nil: false
        }
    }
}
