package import Workflow

// What holds for a row once its own keys, the groups around it, `defaults` and the built-in values have been weighed
// against each other. The only place that knows the order of these, and which keys of a fan-out belong to the whole of
// it (`needs`, `if`, `platforms`, `max-parallel`, `fail-fast`, `max-items`) and which to each copy (all others).
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
        if let own = copySettings(of: row)?.timeout { return own.duration }
        guard nodes[row].role == .step else { return nil }
        guard let limit = defaults(of: row).timeout ?? (isInHook(row) ? Defaults.hookTimeout : nil) else { return nil }
        return isMilestone(row) ? nil : limit
    }

    /// Whether a row is a step without a command, to which the `defaults` do not apply.
    package func isMilestone(_ row: PlanIndex) -> Bool { workflow.isMilestone(nodes[row].definition) }

    /// How often a row is tried: a step's own word or that of `defaults`, a group's own word. nil for once.
    package func retry(of row: PlanIndex) -> Retry? {
        if let own = copySettings(of: row)?.retry { return own }
        guard nodes[row].role == .step, let retry = defaults(of: row).retry else { return nil }
        return isMilestone(row) ? nil : retry
    }

    /// Whether a failure of a row leaves the group around it unharmed.
    package func toleratesFailure(of row: PlanIndex) -> Bool { copySettings(of: row)?.continueOnError ?? false }

    /// The time between the first signal of a teardown and KILL. Handed down by groups. With `isInside`, here and below,
    /// what holds in the body that a group uses.
    package func grace(of row: PlanIndex, isInside: Bool = false) -> Duration {
        nearest(to: row) { $0.grace } ?? defaults(of: row, isInside: isInside).grace ?? Defaults.grace
    }

    /// The first signal of a teardown. Handed down by groups.
    package func killSignal(of row: PlanIndex, isInside: Bool = false) -> KillSignal {
        nearest(to: row) { $0.killSignal } ?? defaults(of: row, isInside: isInside).killSignal ?? .term
    }

    /// What reads the script of a step. Handed down by groups.
    package func shell(of row: PlanIndex, isInside: Bool = false) -> Shell {
        nearest(to: row) { $0.shell } ?? defaults(of: row, isInside: isInside).shell ?? .bash
    }

    /// What a step gets of flowrun's own environment.
    package func environmentPolicy(of row: PlanIndex) -> EnvironmentPolicy {
        copySettings(of: row)?.environmentPolicy
            ?? environmentPolicy(inside: workflow.use(around: nodes[row].definition))
    }

    /// The same for steps inside a body that do not say it, nil being the workflow itself.
    package func environmentPolicy(inside use: Use?) -> EnvironmentPolicy {
        var use = use
        while let known = use {
            if let own = known.defaults.environmentPolicy ?? known.settings?.environmentPolicy { return own }
            use = workflow.use(around: known.group)
        }
        return environmentPolicy
    }

    /// The same for steps that do not say it: the word of `defaults`, or that of the workflow.
    package var environmentPolicy: EnvironmentPolicy {
        workflow.defaults.environmentPolicy ?? workflow.nodes[0].settings?.environmentPolicy ?? .inherit
    }

    /// How the output of a step is shown: its own word or that of the workflow; nil leaves it to the command line.
    package func logView(of row: PlanIndex) -> LogView? {
        copySettings(of: row)?.log ?? workflow.usedFile(around: nodes[row].definition)?.settings?.log
            ?? workflow.nodes[0].settings?.log
    }

    /// How the two output streams of a step reach the log.
    package func streams(of row: PlanIndex) -> OutputStreams {
        copySettings(of: row)?.streams ?? defaults(of: row).streams ?? .together
    }

    /// The folder that a row itself names; nil for the one of the group around it. Not inherited here, because an
    /// expression in it is evaluated where it stands. What `defaults` says is the workflow's own word.
    package func workingDirectory(of row: PlanIndex) -> Template? {
        if let own = copySettings(of: row)?.workingDirectory { return own }
        return row == .root ? workflow.defaults.workingDirectory : nil
    }

    /// What a row takes from pools while it runs.
    package func pools(of row: PlanIndex) -> [PoolRequest] { copySettings(of: row)?.pools ?? [] }

    /// The names that a row holds alone while it runs.
    package func mutexes(of row: PlanIndex) -> [MutexRequest] { copySettings(of: row)?.mutexes ?? [] }

    /// What has to hold where a row starts, beside what the file that it uses requires.
    package func requirements(of row: PlanIndex) -> [Requirement] { copySettings(of: row)?.requirements ?? [] }

    /// What people are asked before a row starts; nil for nothing.
    package func confirmation(of row: PlanIndex) -> String? { copySettings(of: row)?.confirmation }

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
        guard let settings = wholeSettings(of: row), let condition = settings.condition, condition.usesStatus else {
            return false
        }
        return !decidesByCopies(row) || !condition.wantsSuccess
    }

    /// True for a fan-out whose copies have a condition each, which are judged together.
    package func decidesByCopies(_ row: PlanIndex) -> Bool { fanOut(of: row)?.decidesCopies == true }

    /// True if the members of a group run one after another.
    package func isSequence(_ row: PlanIndex) -> Bool {
        nodes[row].role == .group && settings(of: row)?.isSequence == true
    }

    /// Where a row may run; empty for anywhere, and for a copy, whose fan-out has been asked.
    package func platforms(of row: PlanIndex) -> [Platform] { wholeSettings(of: row)?.platforms ?? [] }

    /// How many instances of a fan-out, or steps of a group, may run at once; nil for any number.
    package func maxParallel(of row: PlanIndex) -> Int? { wholeSettings(of: row)?.maxParallel }

    /// What a failing member does to the rest of a group or fan-out; nil leaves it to the nearest group that says it.
    package func failFast(of row: PlanIndex) -> FailFastWord? { wholeSettings(of: row)?.failFast }

    /// The instances of a fan-out; nil for every other row, a copy included.
    package func fanOut(of row: PlanIndex) -> FanOut? { nodes[row].role == .fanOut ? settings(of: row)?.fanOut : nil }

    // MARK: -

    /// The keys that belong to each copy; nil for the whole of a fan-out.
    private func copySettings(of row: PlanIndex) -> Settings? { nodes[row].role == .fanOut ? nil : settings(of: row) }

    /// The keys that belong to the whole; nil for a copy.
    private func wholeSettings(of row: PlanIndex) -> Settings? {
        guard let settings = settings(of: row) else { return nil }
        return settings.fanOut == nil || nodes[row].role == .fanOut ? settings : nil
    }

    /// What `defaults` of the row's file says.
    private func defaults(of row: PlanIndex, isInside: Bool = false) -> Defaults {
        workflow.defaults(for: nodes[row].definition, isInside: isInside)
    }

    /// The value of the innermost definition, from the row outwards, that has one; of the same file.
    private func nearest<Value>(to row: PlanIndex, _ value: (Settings) -> Value?) -> Value? {
        var next = nodes[row].definition.row
        while true {
            if let settings = workflow.nodes[next].settings, let value = value(settings) { return value }
            if next == 0 || workflow.use(of: NodeIndex(next))?.source == .file { return nil }
            next = workflow.nodes[next].parent.row
        }
    }
}
