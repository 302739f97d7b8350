internal import Syntax
package import Workflow

// The effective settings of a row, from its own keys, its enclosing groups, `defaults` and the built-in values. Only
// this file knows their precedence. The table of keys says which keys groups hand down, and which keys of a fan-out
// belong to it as a whole.
//
// Nothing here allocates; settings that groups hand down are O(depth), all others O(1).
extension Plan {
    /// The keys of a row as the file has them, without inherited ones; a fan-out and its instances share them. nil
    /// for a row that sets none.
    package func settings(of row: PlanIndex) -> Settings? { workflow.nodes[nodes[row].definition.row].settings }

    // MARK: Of each instance

    /// The limit of a step's attempt, of a group's round, or of the run; nil for none. A step's own value takes
    /// precedence over `defaults`, and that over the two minutes of a step in a hook.
    package func timeout(of row: PlanIndex) -> Duration? {
        if let limit: TimeLimit = wordOfStep(.timeout, row) { return limit.duration }
        return nodes[row].role == .step && isInHook(row) && !isMilestone(row) ? Settings.hookTimeout : nil
    }

    /// True for a step without a command, to which the `defaults` do not apply.
    package func isMilestone(_ row: PlanIndex) -> Bool { workflow.isMilestone(nodes[row].definition) }

    /// The attempts of a row: a step's own value or that of `defaults`, a group's own value. nil for a single
    /// attempt.
    package func retry(of row: PlanIndex) -> Retry? { wordOfStep(.retry, row) }

    /// True if a failure of a row does not affect the enclosing group.
    package func toleratesFailure(of row: PlanIndex) -> Bool { own(.continueOnError, row) ?? false }

    /// The time between the first signal of a teardown and KILL. With `isInside`, here and below, the value that
    /// holds in the body that a group uses.
    package func grace(of row: PlanIndex, isInside: Bool = false) -> Duration {
        word(.grace, row, isInside: isInside) ?? Settings.defaultGrace
    }

    /// The first signal of a teardown.
    package func killSignal(of row: PlanIndex, isInside: Bool = false) -> KillSignal {
        word(.killSignal, row, isInside: isInside) ?? .term
    }

    /// The interpreter of a step's script.
    package func shell(of row: PlanIndex, isInside: Bool = false) -> Shell {
        word(.shell, row, isInside: isInside) ?? .bash
    }

    /// The part of flowrun's own environment that a step gets.
    package func environmentPolicy(of row: PlanIndex) -> EnvironmentPolicy {
        own(.envPolicy, row) ?? environmentPolicy(inside: workflow.use(around: nodes[row].definition))
    }

    /// The policy for steps inside a body that set none; nil for `use` means the workflow itself.
    package func environmentPolicy(inside use: Use?) -> EnvironmentPolicy {
        var use = use
        while let known = use {
            if let own = known.defaults?.environmentPolicy ?? known.settings?.environmentPolicy { return own }
            use = workflow.use(around: known.group)
        }
        return environmentPolicy
    }

    /// The policy for steps that set none: that of `defaults`, or that of the workflow.
    package var environmentPolicy: EnvironmentPolicy {
        workflow.defaults?.environmentPolicy ?? workflow.nodes[0].settings?.environmentPolicy ?? .inherit
    }

    /// The display of a step's output: its own value, that of the used file it is in, or that of the workflow; nil
    /// leaves it to the command line.
    package func logView(of row: PlanIndex) -> LogView? {
        own(.log, row) ?? workflow.usedFile(around: nodes[row].definition)?.settings?.log
            ?? workflow.nodes[0].settings?.log
    }

    /// The way in which the two output streams of a step reach the log.
    package func streams(of row: PlanIndex) -> OutputStreams { word(.streams, row) ?? .together }

    /// The folder that a row itself names; nil for that of the enclosing group. Not inherited here, because an
    /// expression in it is evaluated where it is written. The folder of `defaults` counts as the workflow's own.
    package func workingDirectory(of row: PlanIndex) -> Template? {
        own(.workingDirectory, row) ?? (row == .root ? workflow.defaults?.workingDirectory : nil)
    }

    /// The units that a row takes from pools while it runs.
    package func pools(of row: PlanIndex) -> [PoolRequest] { own(.pool, row) ?? [] }

    /// The mutexes that a row holds while it runs.
    package func mutexes(of row: PlanIndex) -> [MutexRequest] {
        nodes[row].role == .fanOut ? [] : settings(of: row)?.mutexes ?? []
    }

    /// The conditions that have to hold when a row starts, in addition to those of the file that it uses.
    package func requirements(of row: PlanIndex) -> [Requirement] { own(.require, row) ?? [] }

    /// The question that has to be confirmed before a row starts; nil for none.
    package func confirmation(of row: PlanIndex) -> String? { own(.confirm, row) }

    // MARK: Of the whole

    /// `if`; nil for a row that runs whenever its needs allow it. The condition of a fan-out belongs to the whole or,
    /// if it reads one of its variables, to each instance.
    package func condition(of row: PlanIndex) -> Expression? {
        guard let settings = settings(of: row), let condition = settings.condition else { return nil }
        guard let fanOut = settings.fanOut else { return condition }
        return fanOut.decidesCopies == (nodes[row].role != .fanOut) ? condition : nil
    }

    /// True if a row waits for the end of all that it needs, with any outcome, because a condition decides: its own,
    /// or those of its instances. If the instances want a success, their fan-out starts after one anyway.
    package func waitsForAll(_ row: PlanIndex) -> Bool {
        guard let condition: Expression = own(.if, row), condition.usesStatus else { return false }
        return !decidesByCopies(row) || !condition.wantsSuccess
    }

    /// True for a fan-out whose instances have a condition each; these are evaluated together.
    package func decidesByCopies(_ row: PlanIndex) -> Bool { fanOut(of: row)?.decidesCopies == true }

    /// True if the members of a group run one after another.
    package func isSequence(_ row: PlanIndex) -> Bool {
        nodes[row].role == .group && settings(of: row)?.isSequence == true
    }

    /// The platforms on which a row may run; empty for any, and for an instance, because its fan-out has been
    /// checked.
    package func platforms(of row: PlanIndex) -> [Platform] { own(.platforms, row) ?? [] }

    /// The number of instances of a fan-out, or of steps of a group, that may run at once; nil for any number.
    package func maxParallel(of row: PlanIndex) -> Int? { own(.maxParallel, row) }

    /// True if a group runs in a copy of the tree of its own.
    package func isIsolated(_ row: PlanIndex) -> Bool {
        nodes[row].role == .group && row != .root && settings(of: row)?.isolationRange != nil
    }

    /// True if something in a row, or the row itself, is isolated in the file.
    package func hasIsolation(inside row: PlanIndex) -> Bool {
        let start = nodes[row].definition.row
        return workflow.nodes[start..<Int(workflow.nodes[start].subtreeEnd)].contains {
            $0.settings?.isolationRange != nil
        }
    }

    /// The effect of a failing member on the rest of a group or fan-out; nil leaves it to the nearest group that sets
    /// it.
    package func failFast(of row: PlanIndex) -> FailFastWord? { own(.failFast, row) }

    /// The instances of a fan-out; nil for every other row, including an instance.
    package func fanOut(of row: PlanIndex) -> FanOut? { nodes[row].role == .fanOut ? settings(of: row)?.fanOut : nil }

    // MARK: -

    /// The value that a row itself has. A fan-out and its instances share their keys; each key belongs either to the
    /// whole or to each instance.
    private func own<Value>(_ key: WorkflowKey, _ row: PlanIndex) -> Value? {
        guard let settings = settings(of: row), settings.keys.contains(key), isOwn(key, settings, row) else {
            return nil
        }
        return settings[key] ?? computed(key, settings, for: row)
    }

    /// True if a key belongs to a row, not to the fan-out or the instances with the same keys.
    func isOwn(_ key: WorkflowKey, _ settings: Settings, _ row: PlanIndex) -> Bool {
        let isFanOut = nodes[row].role == .fanOut
        return WorkflowKey.ofWhole.contains(key) ? isFanOut || settings.fanOut == nil : !isFanOut
    }

    /// The value of a key that reads the variables of a row's copy; nil for any other.
    private func computed<Value>(_ key: WorkflowKey, _ settings: Settings, for row: PlanIndex) -> Value? {
        guard let setting = settings.computed(key), let evaluate = setting.evaluate else { return nil }
        let made = try? setting.made { expression throws(EvaluationError) in
            try evaluate(expression, nodes[row].variables)
        }
        return made.flatMap { $0 as? Value }
    }

    /// The effective value for a row: its own, that of the nearest enclosing group if groups hand it down, or that of
    /// `defaults`.
    private func word<Value>(_ key: WorkflowKey, _ row: PlanIndex, isInside: Bool = false) -> Value? {
        let nearest: Value? = WorkflowKey.handedDown.contains(key) ? self.nearest(key, row) : own(key, row)
        return nearest ?? workflow.defaults(for: nodes[row].definition, isInside: isInside)?[key]
    }

    /// The effective value of a key whose `defaults` apply to steps that run something, and to no group.
    private func wordOfStep<Value>(_ key: WorkflowKey, _ row: PlanIndex) -> Value? {
        nodes[row].role == .step && !isMilestone(row) ? word(key, row) : own(key, row)
    }

    /// The value of the innermost definition that sets the key, from the row outwards, within the same file.
    private func nearest<Value>(_ key: WorkflowKey, _ row: PlanIndex) -> Value? {
        var next = nodes[row].definition.row
        while true {
            if let settings = workflow.nodes[next].settings, settings.keys.contains(key) {
                if let said: Value = settings[key] { return said }
                var owner = row
                while nodes[owner].definition.row != next { owner = nodes[owner].parent }
                if let said: Value = computed(key, settings, for: owner) { return said }
            }
            if next == 0 || workflow.use(of: NodeIndex(next))?.source == .file { return nil }
            next = workflow.nodes[next].parent.row
        }
    }
}

extension Plan {
    /// A mutex that a group takes when it starts.
    package struct TakenMutex: Sendable, Hashable {
        package let name: String
        /// The rows inside that name it; empty if only the group itself does.
        package let users: [PlanIndex]
    }

    /// Returns the mutexes that a group takes at its start: its own first, then those of the rows inside. Empty for a
    /// group that names no mutex. Excludes mutexes that an enclosing group holds for all its members. O(rows inside).
    package func takenMutexes(by group: PlanIndex) -> [TakenMutex] {
        guard nodes[group].role == .group else { return [] }
        let own = mutexNames(of: group)
        guard !own.isEmpty else { return [] }
        var names = own
        var users: [String: [PlanIndex]] = [:]
        for row in rows(inside: group) {
            for name in mutexNames(of: row) {
                if users[name] == nil, !own.contains(name) { names.append(name) }
                users[name, default: []].append(row)
            }
        }
        return names.filter { !isCovered($0, for: group) }.map { TakenMutex(name: $0, users: users[$0] ?? []) }
    }

    /// Without repetitions.
    private func mutexNames(of row: PlanIndex) -> [String] {
        var names: [String] = []
        for mutex in mutexes(of: row) where !names.contains(mutex.name) { names.append(mutex.name) }
        return names
    }

    private func isCovered(_ name: String, for row: PlanIndex) -> Bool {
        var row = row
        while row != .root {
            row = nodes[row].parent
            if mutexNames(of: row).contains(name) { return true }
        }
        return false
    }
}

extension Plan {
    /// Returns a finding for each value of a copy that its key does not accept.
    func findingsOfCopies(hiding isHidden: (String) -> Bool) -> [Diagnostic] {
        var found: [Diagnostic] = []
        for row in rows {
            guard let settings = settings(of: row) else { continue }
            for setting in settings.computed {
                guard let evaluate = setting.evaluate, isOwn(setting.key, settings, row) else { continue }
                do throws(EvaluationError) {
                    _ = try setting.made { expression throws(EvaluationError) in
                        try evaluate(expression, nodes[row].variables)
                    }
                } catch {
                    let finding = setting.refusal(
                        error, in: workflow, hiding: isHidden, copy: nodes[row].id)
                    let isTold = found.contains { $0.range == finding.range && $0.message == finding.message }
                    if !isTold { found.append(finding) }
                }
            }
        }
        return found
    }
}

extension Plan {
    /// The variables that a row has from its enclosing fan-outs, without those whose values only the run knows.
    func knownVariables(of row: PlanIndex) -> [Variable] {
        let variables = nodes[row].variables
        guard !variables.isEmpty else { return [] }
        var unknown: Set<String> = []
        var group = row
        while group != .root {
            group = nodes[group].parent
            if isDynamicFanOut(group) { unknown.formUnion(fanOut(of: group)?.axes ?? []) }
        }
        return unknown.isEmpty ? variables : variables.filter { !unknown.contains($0.name) }
    }
}
