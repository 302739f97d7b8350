internal import Glibc
internal import Planning
internal import Processes
internal import RunLog
internal import Scheduling
internal import Syntax
internal import Workflow

/// The state that all parts of a run share: its options, its progress, and what its expressions have read so far.
@EventLoopActor
final class RunContext {
    /// The meaning of an id for the row that names it.
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
    var control: ControlState
    let parameters: Value
    let pending: PendingValues
    let files: StepFiles
    let environments: BaseEnvironments
    /// The jobserver for the steps that take part in one; nil if there is none.
    var jobserver: JobserverFIFO?
    /// nil if no group runs in a copy of the tree.
    let treeCopies: TreeCopyStore?
    /// The values that only a run makes, while its commands are only shown; nil in a run.
    var unknown: UnknownValues?
    /// True if something in the file names `$FLOWRUN_TEMP`, so that there is one.
    let namesScratchFolder: Bool
    /// The definitions whose standard output may be read.
    private let standardOutputReads: Set<NodeIndex>
    /// By the group's row and, in the last bit, the policy; a hashed pair would cost each step more than all it holds.
    var surroundings: [Int: Surroundings] = [:]
    /// The `vars` that each step reads; nil if there are none.
    private lazy var sharedReads: [NodeIndex: [SharedValueID]]? = plan.workflow.hasSharedValues ? [:] : nil
    private var knownEnvironment: Value?
    private var knownSharedEnvironment: Value?
    /// `env` while the top of the file is evaluated: the environment that flowrun has inherited.
    private(set) lazy var inherited = inheritedVariables()
    /// The values of the parameters of bodies, by the groups that use them.
    private var givenParameters: [PlanIndex: [Value.Field]] = [:]
    /// By group in which an id was looked up: its members by their ids.
    private var members: [PlanIndex: [String: Meaning]] = [:]
    /// The values of `vars` that are texts and have been read.
    var sharedTexts: [SharedKey: Value] = [:]
    /// The lists of fan-outs that have ended and been read: each instance of another one may read them again.
    var lists: [ListKey: Value] = [:]

    init(_ plan: Plan, options: RunOptions, fileReader: any FileReader) {
        self.options = options
        pending = PendingValues(FileQuestions(fileReader))
        state = RunState(plan, options: options)
        control = ControlState(jobs: options.jobs)
        standardOutputReads = plan.standardOutputReads
        parameters = .object(options.parameters.fields)
        let files = StepFiles(in: options.temporaryFolder)
        let namesScratchFolder = plan.workflow.namesScratchFolder
        environments = BaseEnvironments(options) { namesScratchFolder ? try? files.scratchFolder() : nil }
        self.files = files
        treeCopies =
            plan.workflow.has(.isolate) ? TreeCopyStore(options.treeCopies, of: options.run, files) : nil
        self.namesScratchFolder = namesScratchFolder
    }

    // Yielded, because a copy costs more than the row that is read.
    var plan: Plan { _read { yield state.plan } }

    /// `env`: flowrun's own environment with the top of the file on top; made at its first use.
    var environment: Value {
        if let knownEnvironment { return knownEnvironment }
        let environment = variables()
        if !pending.isMissing { knownEnvironment = environment }
        return environment
    }

    /// `env` in `vars`: the same without variables that read `vars`.
    var sharedEnvironment: Value {
        if let knownSharedEnvironment { return knownSharedEnvironment }
        let environment = variables(isShared: true)
        if !pending.isMissing { knownSharedEnvironment = environment }
        return environment
    }

    /// Forgets the values read from rows that run again, the `vars` of bodies used there, whose parameters may have
    /// other values now, and the copies of the tree.
    func roundBegins(_ group: PlanIndex) {
        (lists, givenParameters) = ([:], [:])
        surroundings = surroundings.filter { key, _ in
            let row = PlanIndex(key >> 1)
            return row != group && !plan.isInside(row, group)
        }
        forgetCopies(inside: group)
        guard !plan.workflow.uses.isEmpty || treeCopies != nil else { return }
        let isStale = { [plan] (key: SharedKey) in
            (key.group == group || plan.isInside(key.group, group))
                && (key.id.isTree || plan.user(around: key.group, isInside: true) != nil)
        }
        sharedTexts = sharedTexts.filter { !isStale($0.key) }
        pending.shared.forget(where: isStale)
    }

    /// Returns true if the standard output of a step may be read.
    func keepsStandardOutput(of row: PlanIndex) -> Bool {
        !standardOutputReads.isEmpty && standardOutputReads.contains(plan.nodes[row].definition)
    }

    /// Returns the `vars` that a step reads; nil if the workflow has none.
    func reads(by step: NodeIndex) -> [SharedValueID]? {
        guard let reads = sharedReads else { return nil }
        if let known = reads[step] { return known }
        let found = plan.workflow.sharedValuesRead(by: step)
        sharedReads?[step] = found
        return found
    }

    /// Returns `params` inside the body that a group uses; nil is the workflow itself. A parameter whose value cannot
    /// be evaluated is missing; the group has failed then. `row` is one whose own parameters are visible as well.
    func parameters(inside user: PlanIndex?, of row: PlanIndex? = nil) -> Value {
        let own = row.flatMap(stepParameters)?.fields ?? []
        guard user != nil || !own.isEmpty else { return parameters }
        return .object(own + parameterFields(inside: user))
    }

    /// Returns the same as fields.
    func parameterFields(inside user: PlanIndex?) -> [Value.Field] {
        guard let user, let use = plan.use(of: user) else { return options.parameters.fields }
        if let known = givenParameters[user] { return known }
        let around = use.source == .template ? parameterFields(inside: plan.fileUser(around: user)) : []
        var own: [Value.Field] = []
        for parameter in use.parameters {
            // A default reads those before it.
            if parameter.computedDefault != nil {
                givenParameters[user] = use.adding(around, to: own, named: \.name)
            }
            if let value = try? value(of: parameter, of: use, at: user) {
                own.append(Value.Field(name: parameter.name, value: value))
            }
        }
        let fields = use.adding(around, to: own, named: \.name)
        givenParameters[user] = pending.isMissing ? nil : fields
        return fields
    }

    /// Returns the value that `with` gives to one parameter, or else its default.
    func value(of parameter: Parameter, of use: Use, at user: PlanIndex) throws(EvaluationError) -> Value {
        guard let argument = use.arguments.last(where: { $0.name == parameter.name }) else {
            guard parameter.computedDefault != nil else { return parameter.absentValue }
            return try parameter.absentValue(in: RowScope(context: self, row: user, isInside: true))
        }
        if let unknown, let standIn = standIn(for: argument, at: user, unknown) { return .string(standIn) }
        return try argument.value(for: parameter, in: RowScope(context: self, row: user))
    }

    /// Returns a field of `run`, or the whole for nil. Its outcome is that of the file's body, which is over for the
    /// hooks that may read it; reading it is O(members).
    func run(_ field: String?, seenFrom row: PlanIndex) -> Value? {
        if let unknown, field != "name" { return unknown.read() }
        switch field {
        case "id": return .string(options.run)
        case "name": return .string(plan.workflow.name ?? "")
        case "outcome":
            return .string(StepOutcome(state.bodyOutcome(of: plan.fileUser(around: row) ?? .root)).rawValue)
        case .some: return nil
        case nil:
            return .object(
                ["id", "name", "outcome"].compactMap { name in
                    run(name, seenFrom: row).map { Value.Field(name: name, value: $0) }
                })
        }
    }

    /// Returns `args`: the words after `--` on the command line, if the row is to get them.
    func arguments(of row: PlanIndex) -> Value {
        .list(plan.isNamed(row) ? options.arguments.map(Value.string) : [])
    }

    /// Finds the meaning of an id: a member of the same instance of the group, or of an enclosing group.
    func find(_ id: String, seenFrom row: PlanIndex, seesMembers: Bool) -> Meaning? {
        var group = seesMembers ? row : plan.parent(of: row)
        while true {
            if plan.nodes[group].role != .fanOut, let found = members(of: group)[id] { return found }
            if group == .root || plan.use(of: group) != nil { return nil }
            group = plan.parent(of: group)
        }
    }

    private func members(of group: PlanIndex) -> [String: Meaning] {
        if let known = members[group] { return known }
        let plan = plan
        var made: [String: Meaning] = [:]
        for row in plan.members(of: group) { made[plan.workflow[plan.nodes[row].definition].id] = .row(row) }
        for definition in plan.leftOut(of: group) { made[plan.workflow[definition].id] = .leftOut(definition) }
        members[group] = made
        return made
    }
}

// The value of `steps.ID` in expressions: for a step `{outcome, exit_code, outputs}`, for a group `{outcome,
// outputs}`, for a fan-out `{outcome, items, outputs}`. The standard output of a step is kept only if it is read, and
// is available only by the step's own name.
extension RunContext {
    private static let resultFields = ["outcome", "exit_code", "items", "outputs"]

    /// Returns one field of a row's result, without making any other; nil if it has no value. Without `field`,
    /// returns the whole.
    func result(of row: PlanIndex, _ field: String?) -> Value? {
        if let unknown, !unknown.knowsResult(row) { return unknown.read() }
        guard let field else { return .object(fields(of: row)) }
        return self.field(field, of: row)
    }

    /// Returns the same for what the caller has not chosen to run, which counts as skipped.
    func result(ofLeftOut definition: NodeIndex, _ field: String?) -> Value? {
        let settings = plan.workflow.settings(of: definition)
        let isFanOut = settings?.fanOut != nil
        let outputs = isFanOut ? settings?.outputs ?? [] : []
        var fields = [
            Value.Field(name: "outcome", value: .string(StepOutcome.skipped.rawValue)),
            Value.Field(
                name: "outputs", value: .object(outputs.map { Value.Field(name: $0.name, value: .list([])) })),
        ]
        if isFanOut { fields.append(Value.Field(name: "items", value: .list([]))) }
        guard let field else { return .object(fields) }
        return fields.first { $0.name == field }?.value
    }

    /// Returns the value of an instance's loop variable, or its axes by name.
    private func item(of row: PlanIndex) -> Value {
        let node = plan.nodes[row]
        let own = node.variables.dropFirst(plan.nodes[plan.parent(of: row)].variables.count)
        if let only = own.first, own.count == 1 { return only.typedValue }
        return .object(own.map { Value.Field(name: $0.name, value: $0.typedValue) })
    }

    private func fields(of row: PlanIndex) -> [Value.Field] {
        Self.resultFields.compactMap { name in field(name, of: row).map { Value.Field(name: name, value: $0) } }
    }

    private func field(_ name: String, of row: PlanIndex) -> Value? {
        let role = plan.nodes[row].role
        switch name {
        case "outcome": return state.outcome(of: row).map { .string(StepOutcome($0).rawValue) } ?? .null
        case "exit_code" where role == .step: return exitCode(of: row)
        case "stdout" where role == .step:
            let output = state.result(of: row).standardOutput
            // A step whose condition could not be decided has written nothing.
            return (output ?? (state.outcome(of: row) == .failure ? [] : nil)).map {
                .string(String(decoding: $0, as: UTF8.self))
            }
        case "items" where role == .fanOut: return list(name, of: row) { .list($0.map(self.instance)) }
        case "outputs" where role == .fanOut:
            return list(name, of: row) { .object(self.outputs(of: row, in: $0)) }
        case "outputs": return .object(state.result(of: row).outputs)
        default: return nil
        }
    }

    private func list(_ name: String, of row: PlanIndex, _ make: ([PlanIndex]) -> Value) -> Value {
        let key = ListKey(row: row, field: name)
        if let known = lists[key] { return known }
        let made = make(plan.members(of: row))
        if state.outcome(of: row) != nil { lists[key] = made }
        return made
    }

    /// Returns each declared output of a fan-out as the list of its instances' values.
    private func outputs(of row: PlanIndex, in instances: [PlanIndex]) -> [Value.Field] {
        (plan.settings(of: row)?.outputs ?? []).map { output in
            let values = instances.map { state.result(of: $0).outputs.first { $0.name == output.name } }
            return Value.Field(name: output.name, value: .list(values.map { $0?.value ?? .null }))
        }
    }

    /// Returns one of a fan-out's `items`: the item, the result of its instance, and those of the members by their
    /// ids.
    private func instance(_ row: PlanIndex) -> Value {
        var fields = [Value.Field(name: "item", value: item(of: row))] + fields(of: row)
        guard plan.nodes[row].role == .group else { return .object(fields) }
        for member in plan.members(of: row) where plan.nodes[member].hook == nil {
            let name = plan.workflow[plan.nodes[member].definition].id
            fields.append(Value.Field(name: name, value: .object(self.fields(of: member))))
        }
        for definition in plan.leftOut(of: row) where plan.workflow[definition].hook == nil {
            guard let value = result(ofLeftOut: definition, nil) else { continue }
            fields.append(Value.Field(name: plan.workflow[definition].id, value: value))
        }
        return .object(fields)
    }

    /// Returns the exit code of a step, whose status is not kept if it is a plain success.
    private func exitCode(of row: PlanIndex) -> Value {
        let status = state.result(of: row).status
        if let status { return status.exitCode.map { .int(Int($0)) } ?? .null }
        return state.outcome(of: row) == .success ? .int(0) : .null
    }
}

// The value of `vars.NAME`: one of the file, or the output of a command.
extension RunContext {
    /// Returns the variable that a name means to a row; nil if there is none.
    func sharedKey(of name: String, seenFrom row: PlanIndex, seesOwn: Bool) -> SharedKey? {
        let workflow = plan.workflow
        let definition = plan.nodes[row].definition
        let isOwn = seesOwn && workflow[definition].isGroup
        return workflow.sharedValue(name, in: isOwn ? definition : workflow[definition].parent).map {
            sharedKey(of: $0, around: row)
        }
    }

    /// Returns one of `vars` in the instance of its group that a row is in.
    func sharedKey(of id: SharedValueID, around row: PlanIndex) -> SharedKey {
        var group = row
        while group != .root, plan.nodes[group].definition != id.scope || plan.nodes[group].role != .group {
            group = plan.parent(of: group)
        }
        return SharedKey(group: group, id: id)
    }

    /// Returns the value. Throws if there is none, or none yet: then `pending` lacks it.
    func value(of key: SharedKey) throws(EvaluationError) -> Value {
        let definition = plan.workflow[key.id]
        switch definition.source {
        case .literal(let value): return value
        case .template(let template): return try text(template, of: key, definition)
        case .command:
            if let unknown {
                unknown.read()
                throw UnknownValues.error(at: definition.range)
            }
            let result = pending.shared.value(of: key) { () throws(SharedFailure) in try launch(for: key) }
            switch result {
            case .success(let value): return value
            case .failure(let failure):
                pending.failure = failure
                let (file, line) = plan.workflow.place(of: key.id)
                let place = file == plan.workflow.file.name ? "line \(line)" : "\(file):\(line)"
                let what = definition.purpose == .tree ? "cannot copy the tree" : "has no value"
                throw EvaluationError(
                    "`\(definition.words)` (\(place)) \(what): \(failure.cause.message)", at: definition.range)
            // Never shown: an evaluation without the value is repeated.
            case nil: throw EvaluationError("the value is still to be made", at: definition.range)
            }
        }
    }

    private func text(
        _ template: Template, of key: SharedKey, _ definition: SharedValue
    ) throws(EvaluationError) -> Value {
        if let known = sharedTexts[key] { return known }
        let scope = RowScope(context: self, row: key.group, isShared: true)
        if let unknown, template.expressions.contains(where: { unknown.isStandIn(in: $0, scope) }) {
            unknown.read()
            throw UnknownValues.error(at: definition.range)
        }
        let value = try template.value(in: scope)
        if case .string(let text) = value, text.utf8.count > OutputDeclaration.Kind.sizeLimit {
            throw EvaluationError("`vars.\(definition.name)` has more than 1 MiB", at: definition.range)
        }
        if !pending.isMissing { sharedTexts[key] = value }
        return value
    }
}
