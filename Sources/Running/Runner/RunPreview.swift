internal import Basics
package import Planning
internal import Processes
internal import RunLog
internal import Syntax
package import Workflow

/// The commands that a run would start, in one of the orders in which it may, with everything filled in that is known
/// before it. Secrets are masked.
package struct RunPreview: Sendable {
    /// A process, as far as the file and the command line decide it.
    package struct Command: Sendable {
        /// All its words; with a script, that and the words after it are the last ones.
        package fileprivate(set) var arguments: [String]
        /// nil for a list of words.
        package fileprivate(set) var script: String?
        /// The shell if it is not the default; nil for a list, and for a script that names its interpreter.
        package fileprivate(set) var shell: [String]?
        /// The words that the script gets.
        package fileprivate(set) var scriptArguments: [String] = []
        /// As in the file; nil for the folder of the workflow file.
        package fileprivate(set) var folder: String?
        /// The part of flowrun's own environment that it inherits.
        package fileprivate(set) var environmentPolicy: EnvironmentPolicy
        /// The variables on top of that and of those of all steps; nil for one that is taken away.
        package fileprivate(set) var environment: [(name: String, value: String?)]
        /// Conditions that only the run decides, and those that will fail it, as in the file: `if: …`, `require: …`.
        package fileprivate(set) var conditions: [String] = []
        /// The standard input.
        package fileprivate(set) var input: String?
    }

    package enum Fate: Sendable {
        case starts(Command)
        /// With the reason.
        case cannotStart(String)
        /// With the reason.
        case skipped(String)
        case takenOver
    }

    package enum Entry: Sendable {
        case step(PlanIndex, Fate)
        /// The command of one of `vars`, and the step or group whose members see it.
        case value(SharedValueID, of: PlanIndex, Fate)
        /// The copy of the tree that a group runs in; `isKept` if it goes on in that of the resumed run.
        case copy(of: PlanIndex, isKept: Bool)
    }

    /// The plan with the copies of fan-outs that are known; one `[*]` stands for those that only the run knows.
    package let plan: Plan
    /// The variables that the top of the file and the command line give to all steps.
    package let environment: [(name: String, value: String?)]
    package let entries: [Entry]
    /// The expected decisions of a run that resumes another one.
    package let forecast: [PlanIndex: ResumeForecast]
}

/// One pass over a plan that finds the commands of its steps.
@EventLoopActor
final class PreviewPass {
    private let parts: RunParts
    private let known: KnownValues
    private let forecast: [PlanIndex: ResumeForecast]
    private let showsAll: Bool
    private let unknown: UnknownValues
    private var entries: [RunPreview.Entry] = []
    private let hasSharedValues: Bool
    private var shownValues: Set<SharedKey> = []
    /// By member of a group: the members of the same group that anything inside it waits for.
    private var needs: [PlanIndex: [PlanIndex]] = [:]
    /// The last result of `changes`, since many steps in a row have the same environment.
    private var lastChanges: (of: EnvironmentBlock, from: EnvironmentBlock, found: [(name: String, value: String?)])?

    private var context: RunContext { parts.context }
    private var plan: Plan { _read { yield parts.context.state.plan } }

    init(_ parts: RunParts, _ known: KnownValues, forecast: [PlanIndex: ResumeForecast], showsAll: Bool) {
        self.parts = parts
        self.showsAll = showsAll
        self.known = known
        self.forecast = forecast
        hasSharedValues = parts.plan.workflow.hasSharedValues
        unknown = UnknownValues { row in
            // Fan-outs may have got their copies since.
            let plan = parts.context.state.plan
            guard !plan.isDynamicFanOut(row), !plan.rows(inside: row).contains(where: plan.isDynamicFanOut) else {
                return false
            }
            let steps =
                plan.isStep(row) ? [row] : plan.rows(inside: row).filter { plan.isStep($0) && !plan.isInHook($0) }
            return !steps.isEmpty
                && steps.allSatisfy { plan.isMilestone($0) || forecast[$0] == .takenOver }
        }
    }

    func run() -> RunPreview {
        context.unknown = unknown
        noteNeeds(of: plan.rows)
        visit(.root)
        let policy = plan.environmentPolicy
        let top = try? topEnvironment(policy)
        return RunPreview(
            plan: plan,
            environment: changes(of: top ?? context.environments[policy], from: context.environments[policy]),
            entries: entries, forecast: forecast)
    }

    // MARK: Order

    /// Notes for rows, and for what a run would add inside of them, which members of enclosing groups have to end
    /// first.
    private func noteNeeds(of rows: Range<PlanIndex>) {
        for row in rows where row != .root {
            for target in plan.edges(of: row).map({ $0.target }) + outsideNeeds(of: row) {
                var member = row
                while member != .root, plan.parent(of: member) != plan.parent(of: target) {
                    member = plan.parent(of: member)
                }
                needs[member, default: []].append(target)
            }
        }
    }

    private func outsideNeeds(of row: PlanIndex) -> [PlanIndex] {
        plan.isDynamicFanOut(row) ? plan.outsideNeeds(ofInstancesOf: row) : []
    }

    /// Returns the members of a group in a legal order: that of the file, as far as nothing waits for a later one.
    private func ordered(_ members: [PlanIndex]) -> [PlanIndex] {
        var order: [PlanIndex] = []
        var isReached: Set<PlanIndex> = []
        var path: [(row: PlanIndex, next: Int)] = []
        // Hooks wait for all others, and no edge says so.
        for member in members.filter({ plan.nodes[$0].hook == nil }) + members.filter({ plan.nodes[$0].hook != nil }) {
            if isReached.insert(member).inserted { path.append((member, 0)) }
            while let (row, next) = path.last {
                let targets = needs[row] ?? []
                guard next < targets.count else {
                    order.append(row)
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next += 1
                if isReached.insert(targets[next]).inserted { path.append((targets[next], 0)) }
            }
        }
        return order
    }

    private func visit(_ row: PlanIndex) {
        if plan.isStep(row) {
            guard !plan.isMilestone(row) else { return }
            let fate = fate(of: row)
            if case .starts = fate { showValues(readBy: row) }
            return entries.append(.step(row, fate))
        }
        if plan.isDynamicFanOut(row), reason(toSkip: row) == nil { expand(row) }
        for member in ordered(plan.members(of: row)) { visit(member) }
    }

    /// Makes the copies of a fan-out if its list is known, otherwise one for all of them.
    private func expand(_ row: PlanIndex) {
        guard let fanOut = plan.fanOut(of: row), let items = fanOut.items else { return }
        let scope = RowScope(context: context, row: row, seesOwn: false)
        let secrets = context.options.secrets
        let rows: Range<PlanIndex>
        if let list = try? context.foreseen(items, in: scope, unknown),
            let known = try? context.state.expand(row, over: list, isHidden: { secrets.masked($0) != $0 })
        {
            rows = known
        } else {
            let variables = fanOut.axes.map { Variable(name: $0, value: unknown.standIn(named: $0)) }
            rows = context.state.expand(row, into: [FanOut.Instance(key: "*", variables: variables)])
        }
        noteNeeds(of: rows)
    }

    // MARK: Commands

    private func fate(of row: PlanIndex) -> RunPreview.Fate {
        if forecast[row] == .takenOver { return .takenOver }
        if let reason = reason(toSkip: row) { return .skipped(reason) }
        do throws(StepError) {
            return .starts(try command(of: row))
        } catch {
            return .cannotStart(context.options.secrets.masked(error.message))
        }
    }

    /// Returns why a row or an enclosing group does not run in this run; nil if it may.
    private func reason(toSkip row: PlanIndex) -> String? {
        guard !showsAll else { return nil }
        var found: PlanIndex?
        var next = row
        while true {
            if known.rulesOut(next, of: plan) || isFalse(next) { found = next }
            guard next != .root else { break }
            next = plan.parent(of: next)
        }
        guard let found else { return nil }
        let message = context.state.falseCondition(of: found).message
        return found == row ? message : "\(message) for `\(plan.nodes[found].id)`"
    }

    private func isFalse(_ row: PlanIndex) -> Bool {
        guard let condition = plan.condition(of: row), !condition.usesStatus else { return false }
        return truth(of: condition, RowScope(context: context, row: row, seesOwn: false)) == false
    }

    private func command(of row: PlanIndex) throws(StepError) -> RunPreview.Command {
        let words = try context.words(of: row)
        let isInterpreted = if case .script(let script) = words { Shebang(script) != nil } else { false }
        let attempt = CommandBuilder.Contribution(
            number: 1, round: nil, outputFile: nil, scriptFile: isInterpreted ? "<script>" : nil, isRead: false)
        let surroundings = try context.stepSurroundings(of: row)
        let arguments = parts.builder.commandLine(of: row, words, attempt)
        var command = try command(arguments, words, surroundings, plan.environmentPolicy(of: row))
        if case .script = words {
            if !isInterpreted { command.shell = unusual(plan.shell(of: row)) }
            command.scriptArguments = parts.builder.arguments(of: row).map(context.options.secrets.masked)
        }
        command.conditions = conditions(of: row)
        command.input = try parts.builder.standardInput(of: row).map {
            context.options.secrets.masked(String(decoding: $0, as: UTF8.self))
        }
        return command
    }

    /// Returns those of a step and of the groups around it, outermost first.
    private func conditions(of row: PlanIndex) -> [String] {
        var found: [String] = []
        var next = row
        while true {
            var own: [String] = []
            let outside = RowScope(context: context, row: next, seesOwn: false)
            if let condition = plan.condition(of: next), condition.usesStatus || truth(of: condition, outside) == nil {
                own.append("if: \(condition.text)")
            }
            own += open(plan.requirements(of: next), RowScope(context: context, row: next))
            own += open(
                plan.use(of: next)?.settings?.requirements ?? [], RowScope(context: context, row: next, isInside: true))
            found = own + found
            guard next != .root else { return found }
            next = plan.parent(of: next)
        }
    }

    private func open(_ requirements: [Requirement], _ scope: RowScope) -> [String] {
        requirements.compactMap { requirement in
            guard case .expression(let condition) = requirement.condition else {
                return "require: \(requirement.condition.text)"
            }
            return switch truth(of: condition, scope) {
            case true: nil
            case false: "require: \(condition.text), which is false"
            case nil: "require: \(condition.text)"
            }
        }
    }

    /// Returns nil if only the run decides.
    private func truth(of condition: Expression, _ scope: RowScope) -> Bool? {
        guard let value = try? context.foreseen(condition, in: scope, unknown), case .bool(let isTrue) = value else {
            return nil
        }
        return isTrue
    }

    private func command(
        _ arguments: [String], _ words: StepStarted.Command, _ surroundings: Surroundings, _ policy: EnvironmentPolicy
    ) throws(StepError) -> RunPreview.Command {
        let secrets = context.options.secrets
        let top = try topEnvironment(policy)
        var command = RunPreview.Command(
            arguments: arguments.map(secrets.masked), folder: surroundings.workingDirectory.map(secrets.masked),
            environmentPolicy: policy, environment: changes(of: surroundings.environment, from: top))
        if case .script(let script) = words { command.script = secrets.masked(script) }
        return command
    }

    /// Returns the environment that the file and the command line give to all steps.
    private func topEnvironment(_ policy: EnvironmentPolicy) throws(StepError) -> EnvironmentBlock {
        let top = try context.memberSurroundings(of: .root, policy).environment
        let given = context.options.environment
        return given.isEmpty ? top : EnvironmentBlock(top, changes: given.map { ($0.name, $0.value) })
    }

    /// Returns the words of a shell; nil for those of the default one.
    private func unusual(_ shell: Shell) -> [String]? {
        let words = context.options.tracesScripts ? TracedShell.words(shell.arguments) : shell.arguments
        return words == Shell.bash.arguments ? nil : words
    }

    /// Returns the variables in which an environment differs from another one, by name.
    private func changes(
        of environment: EnvironmentBlock, from base: EnvironmentBlock
    ) -> [(name: String, value: String?)] {
        guard environment !== base else { return [] }
        if let last = lastChanges, last.of === environment, last.from === base { return last.found }
        let secrets = context.options.secrets
        let old = Dictionary(base.variables.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        let new = Dictionary(environment.variables.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        let found = Set(old.keys).union(new.keys).sorted().compactMap { name -> (name: String, value: String?)? in
            old[name] == new[name] ? nil : (name, new[name].map(secrets.masked))
        }
        lastChanges = (environment, base, found)
        return found
    }

    // MARK: Commands of `vars`

    /// Adds the commands of `vars` that a step or the groups around it read, those first that others read.
    private func showValues(readBy row: PlanIndex) {
        guard hasSharedValues else { return }
        for next in plan.rowAndAround(row).reversed() {
            let read = PlanReads(by: plan.nodes[next].definition, of: plan.workflow).sharedValues
            for id in read.sorted(by: { plan.workflow[$0].range.start < plan.workflow[$1].range.start }) {
                showValue(id, readBy: row)
            }
        }
    }

    private func showValue(_ id: SharedValueID, readBy row: PlanIndex) {
        let key = context.sharedKey(of: id, around: row)
        guard shownValues.insert(key).inserted else { return }
        for other in plan.workflow.dependencies(of: id) { showValue(other, readBy: row) }
        guard !id.isTree else {
            return entries.append(.copy(of: key.group, isKept: context.treeCopies?.isKept(key.group) == true))
        }
        guard let definition = plan.workflow[id].command else { return }
        let fate: RunPreview.Fate
        do throws(StepError) {
            fate = .starts(try command(of: definition, key))
        } catch {
            fate = .cannotStart(context.options.secrets.masked(error.message))
        }
        entries.append(.value(id, of: key.group, fate))
    }

    private func command(of definition: SharedValue.Command, _ key: SharedKey) throws(StepError) -> RunPreview.Command {
        let (arguments, script, scriptFile) = try context.words(of: definition, key)
        let user = plan.fileUser(around: key.group, isInside: true)
        var command = try command(
            arguments, script.map(StepStarted.Command.script) ?? .arguments(arguments),
            try context.surroundings(of: definition, key), plan.environmentPolicy(inside: user.flatMap(plan.use)))
        let shell = definition.shell ?? plan.shell(of: key.group, isInside: true)
        if script != nil, scriptFile == nil, shell != .bash { command.shell = shell.arguments }
        return command
    }
}
