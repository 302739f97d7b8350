internal import Planning
internal import Processes
internal import RunLog
internal import Syntax
internal import Workflow

/// What all parts of a run share: its options, how far it has come, and what its expressions have read so far.
@EventLoopActor
final class RunContext {
    /// What an id means to the row that names it.
    enum Meaning {
        case row(PlanIndex)
        /// It is in the file, but the caller has not chosen to run it.
        case leftOut(NodeIndex)
    }

    struct ListKey: Hashable {
        let row: PlanIndex
        let field: String
    }

    let options: RunOptions
    var state: RunState
    let parameters: Value
    let pending: PendingValues
    /// `env`: flowrun's own environment with the top of the file on it; asked for at its first use.
    var readEnvironment: @EventLoopActor () -> Value = { .object([]) }
    var environment: Value {
        if let knownEnvironment { return knownEnvironment }
        let environment = readEnvironment()
        if !pending.isMissing { knownEnvironment = environment }
        return environment
    }
    private var knownEnvironment: Value?
    /// `env` in `vars`: the same without what reads `vars`.
    var readSharedEnvironment: @EventLoopActor () -> Value = { .object([]) }
    var sharedEnvironment: Value {
        if let knownSharedEnvironment { return knownSharedEnvironment }
        let environment = readSharedEnvironment()
        if !pending.isMissing { knownSharedEnvironment = environment }
        return environment
    }
    private var knownSharedEnvironment: Value?
    /// `env` while the top of the file is evaluated: what flowrun has inherited.
    var readInherited: @EventLoopActor () -> Value = { .object([]) }
    private(set) lazy var inherited = readInherited()

    /// The same at the top of a file that a group uses: first, whether it is being set, which takes what is around the
    /// group; then, whether it is for `vars`, which see nothing that reads `vars`.
    var readEnvironmentOfFile: @EventLoopActor (PlanIndex, Bool, Bool) -> Value = { _, _, _ in .object([]) }

    /// What the parameters of bodies are given, by the groups that use them.
    private var givenParameters: [PlanIndex: [Value.Field]] = [:]
    /// Per group that somebody has looked into: its members by their ids.
    private var members: [PlanIndex: [String: Meaning]] = [:]
    /// What makes one of `vars`; nil if it lacks something itself.
    var makeCommand: @EventLoopActor (SharedKey) throws(SharedFailure) -> SharedLaunch? = { _ in nil }
    /// The values of `vars` that are texts and were asked for.
    var sharedTexts: [SharedKey: Value] = [:]
    /// The lists of fan-outs that have ended and were asked for: each copy of another one may ask again.
    var lists: [ListKey: Value] = [:]

    init(_ plan: Plan, options: RunOptions, fileReader: any FileReader) {
        self.options = options
        pending = PendingValues(FileQuestions(fileReader, in: options.folder ?? "."), SharedCommands())
        state = RunState(plan, options: options)
        parameters = .object(options.parameters.fields)
    }

    /// Forgets what was read of rows that run again, and the `vars` of bodies used there, which may be given something
    /// else now.
    func roundBegins(_ group: PlanIndex) {
        (lists, givenParameters) = ([:], [:])
        guard !state.plan.workflow.uses.isEmpty else { return }
        let isStale = { [plan = state.plan] (key: SharedKey) in
            (key.group == group || plan.isInside(key.group, group))
                && plan.user(around: key.group, isInside: true) != nil
        }
        sharedTexts = sharedTexts.filter { !isStale($0.key) }
        pending.commands.forget(where: isStale)
    }

    /// `params` inside the body that a group uses, nil being the workflow itself. One that is given nothing that can be
    /// evaluated has no value; the group has failed then.
    func parameters(inside user: PlanIndex?) -> Value {
        user == nil ? parameters : .object(parameterFields(inside: user))
    }

    /// The same by name.
    func parameterFields(inside user: PlanIndex?) -> [Value.Field] {
        guard let user, let use = state.plan.use(of: user) else { return options.parameters.fields }
        if let known = givenParameters[user] { return known }
        let own = use.parameters.compactMap { parameter in
            (try? value(of: parameter, of: use, at: user)).map { Value.Field(name: parameter.name, value: $0) }
        }
        let fields = use.adding(
            parameterFields(inside: state.plan.fileUser(around: user)), to: own, named: \.name)
        if !pending.isMissing { givenParameters[user] = fields }
        return fields
    }

    /// What `with` gives to one parameter, or else its default.
    func value(of parameter: Parameter, of use: Use, at user: PlanIndex) throws(EvaluationError) -> Value {
        guard let argument = use.arguments.last(where: { $0.name == parameter.name }) else {
            return parameter.absentValue
        }
        return try argument.value(for: parameter, in: RowScope(context: self, row: user))
    }

    /// A field of `run`, or with nil the whole. Its outcome is that of the file's body, which is over for the hooks
    /// that may ask for it; asking is O(members).
    func run(_ field: String?, seenFrom row: PlanIndex) -> Value? {
        switch field {
        case "id": return .string(options.run)
        case "name": return .string(state.plan.workflow.name ?? "")
        case "outcome":
            return .string(StepOutcome(state.bodyOutcome(of: state.plan.fileUser(around: row) ?? .root)).rawValue)
        case .some: return nil
        case nil:
            return .object(
                ["id", "name", "outcome"].compactMap { name in
                    run(name, seenFrom: row).map { Value.Field(name: name, value: $0) }
                })
        }
    }

    /// `args`: what follows `--` on the command line, where the row is to get it.
    func arguments(of row: PlanIndex) -> Value {
        .list(state.plan.isNamed(row) ? options.arguments.map(Value.string) : [])
    }

    /// Finds what an id means: a member of the same copy of the group, or of a group around it.
    func find(_ id: String, seenFrom row: PlanIndex, seesMembers: Bool) -> Meaning? {
        var group = seesMembers ? row : state.plan.parent(of: row)
        while true {
            if state.plan.nodes[group].role != .fanOut, let found = members(of: group)[id] { return found }
            if group == .root || state.plan.use(of: group) != nil { return nil }
            group = state.plan.parent(of: group)
        }
    }

    private func members(of group: PlanIndex) -> [String: Meaning] {
        if let known = members[group] { return known }
        let plan = state.plan
        var made: [String: Meaning] = [:]
        for row in plan.members(of: group) { made[plan.workflow[plan.nodes[row].definition].id] = .row(row) }
        for definition in plan.leftOut(of: group) { made[plan.workflow[definition].id] = .leftOut(definition) }
        members[group] = made
        return made
    }
}
