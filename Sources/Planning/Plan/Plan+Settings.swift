package import Workflow

// What holds for a row once its own keys, its enclosing groups, `defaults` and the built-in values have been weighed
// against each other. The only place that knows the order of these. Which keys groups hand down, and which of a fan-out
// belong to the whole of it, is in the table of keys.
//
// Nothing here allocates; what groups hand down is O(depth), everything else O(1).
extension Plan {
    /// The keys of a row as the file has them, nothing inherited; a fan-out and its copies share them. nil for a row
    /// that sets none.
    package func settings(of row: PlanIndex) -> Settings? { workflow.nodes[nodes[row].definition.row].settings }

    // MARK: Of each copy

    /// The limit of a step's attempt, of a group's round, or of the run; nil for none. A step's own word takes precedence over
    /// `defaults`, and that over the two minutes of a step in a hook.
    package func timeout(of row: PlanIndex) -> Duration? {
        if let limit: TimeLimit = wordOfStep(.timeout, row) { return limit.duration }
        return nodes[row].role == .step && isInHook(row) && !isMilestone(row) ? Settings.hookTimeout : nil
    }

    /// True for a step without a command, to which the `defaults` do not apply.
    package func isMilestone(_ row: PlanIndex) -> Bool { workflow.isMilestone(nodes[row].definition) }

    /// How often a row is tried: a step's own word or that of `defaults`, a group's own word. nil for once.
    package func retry(of row: PlanIndex) -> Retry? { wordOfStep(.retry, row) }

    /// True if a failure of a row leaves the enclosing group unharmed.
    package func toleratesFailure(of row: PlanIndex) -> Bool { own(.continueOnError, row) ?? false }

    /// The time between the first signal of a teardown and KILL. With `isInside`, here and below, what holds in the body
    /// that a group uses.
    package func grace(of row: PlanIndex, isInside: Bool = false) -> Duration {
        word(.grace, row, isInside: isInside) ?? Settings.defaultGrace
    }

    /// The first signal of a teardown.
    package func killSignal(of row: PlanIndex, isInside: Bool = false) -> KillSignal {
        word(.killSignal, row, isInside: isInside) ?? .term
    }

    /// What reads the script of a step.
    package func shell(of row: PlanIndex, isInside: Bool = false) -> Shell {
        word(.shell, row, isInside: isInside) ?? .bash
    }

    /// What a step gets of flowrun's own environment.
    package func environmentPolicy(of row: PlanIndex) -> EnvironmentPolicy {
        own(.envPolicy, row) ?? environmentPolicy(inside: workflow.use(around: nodes[row].definition))
    }

    /// The same for steps inside a body that do not say it, nil being the workflow itself.
    package func environmentPolicy(inside use: Use?) -> EnvironmentPolicy {
        var use = use
        while let known = use {
            if let own = known.defaults?.environmentPolicy ?? known.settings?.environmentPolicy { return own }
            use = workflow.use(around: known.group)
        }
        return environmentPolicy
    }

    /// The same for steps that do not say it: the word of `defaults`, or that of the workflow.
    package var environmentPolicy: EnvironmentPolicy {
        workflow.defaults?.environmentPolicy ?? workflow.nodes[0].settings?.environmentPolicy ?? .inherit
    }

    /// How the output of a step is shown: its own word or that of the workflow; nil leaves it to the command line.
    package func logView(of row: PlanIndex) -> LogView? {
        own(.log, row) ?? workflow.usedFile(around: nodes[row].definition)?.settings?.log
            ?? workflow.nodes[0].settings?.log
    }

    /// How the two output streams of a step reach the log.
    package func streams(of row: PlanIndex) -> OutputStreams { word(.streams, row) ?? .together }

    /// The folder that a row itself names; nil for the one of the enclosing group. Not inherited here, because an
    /// expression in it is evaluated where it stands. What `defaults` says is the workflow's own word.
    package func workingDirectory(of row: PlanIndex) -> Template? {
        own(.workingDirectory, row) ?? (row == .root ? workflow.defaults?.workingDirectory : nil)
    }

    /// What a row takes from pools while it runs.
    package func pools(of row: PlanIndex) -> [PoolRequest] { own(.pool, row) ?? [] }

    /// The names that a row holds alone while it runs.
    package func mutexes(of row: PlanIndex) -> [MutexRequest] {
        nodes[row].role == .fanOut ? [] : settings(of: row)?.mutexes ?? []
    }

    /// What has to hold where a row starts, beside what the file that it uses requires.
    package func requirements(of row: PlanIndex) -> [Requirement] { own(.require, row) ?? [] }

    /// What people are asked before a row starts; nil for nothing.
    package func confirmation(of row: PlanIndex) -> String? { own(.confirm, row) }

    // MARK: Of the whole

    /// `if`; nil for a row that runs whenever its needs allow it. Of a fan-out and its copies either the whole has it or,
    /// where it reads a variable of theirs, each copy.
    package func condition(of row: PlanIndex) -> Expression? {
        guard let settings = settings(of: row), let condition = settings.condition else { return nil }
        guard let fanOut = settings.fanOut else { return condition }
        return fanOut.decidesCopies == (nodes[row].role != .fanOut) ? condition : nil
    }

    /// Whether a row waits for the end of all that it needs, however it comes: a condition decides then, its own or
    /// those of its copies. Where copies want a success, their fan-out starts after one anyway.
    package func waitsForAll(_ row: PlanIndex) -> Bool {
        guard let condition: Expression = own(.if, row), condition.usesStatus else { return false }
        return !decidesByCopies(row) || !condition.wantsSuccess
    }

    /// True for a fan-out whose copies have a condition each, which are judged together.
    package func decidesByCopies(_ row: PlanIndex) -> Bool { fanOut(of: row)?.decidesCopies == true }

    /// True if the members of a group run one after another.
    package func isSequence(_ row: PlanIndex) -> Bool {
        nodes[row].role == .group && settings(of: row)?.isSequence == true
    }

    /// Where a row may run; empty for anywhere, and for a copy, whose fan-out has been asked.
    package func platforms(of row: PlanIndex) -> [Platform] { own(.platforms, row) ?? [] }

    /// How many instances of a fan-out, or steps of a group, may run at once; nil for any number.
    package func maxParallel(of row: PlanIndex) -> Int? { own(.maxParallel, row) }

    /// What a failing member does to the rest of a group or fan-out; nil leaves it to the nearest group that says it.
    package func failFast(of row: PlanIndex) -> FailFastWord? { own(.failFast, row) }

    /// The instances of a fan-out; nil for every other row, a copy included.
    package func fanOut(of row: PlanIndex) -> FanOut? { nodes[row].role == .fanOut ? settings(of: row)?.fanOut : nil }

    // MARK: -

    /// What a row itself says. Of a fan-out and its copies, which share their keys, either the whole says it or each copy.
    private func own<Value>(_ key: WorkflowKey, _ row: PlanIndex) -> Value? {
        guard let settings = settings(of: row), settings.keys.contains(key) else { return nil }
        let isFanOut = nodes[row].role == .fanOut
        let isItsOwn = WorkflowKey.ofAllCopies.contains(key) ? isFanOut || settings.fanOut == nil : !isFanOut
        return isItsOwn ? settings[key] : nil
    }

    /// What holds for a row: its own word, that of the nearest enclosing group where groups hand it down, or that of
    /// `defaults`.
    private func word<Value>(_ key: WorkflowKey, _ row: PlanIndex, isInside: Bool = false) -> Value? {
        let nearest: Value? = WorkflowKey.handedDown.contains(key) ? self.nearest(key, row) : own(key, row)
        return nearest ?? workflow.defaults(for: nodes[row].definition, isInside: isInside)?[key]
    }

    /// What `defaults` gives to steps that run something, and to no group.
    private func wordOfStep<Value>(_ key: WorkflowKey, _ row: PlanIndex) -> Value? {
        nodes[row].role == .step && !isMilestone(row) ? word(key, row) : own(key, row)
    }

    /// What the innermost definition says, from the row outwards, that says it; of the same file.
    private func nearest<Value>(_ key: WorkflowKey, _ row: PlanIndex) -> Value? {
        var next = nodes[row].definition.row
        while true {
            if let said: Value = workflow.nodes[next].settings?[key] { return said }
            if next == 0 || workflow.use(of: NodeIndex(next))?.source == .file { return nil }
            next = workflow.nodes[next].parent.row
        }
    }
}
