internal import Planning
internal import Processes
internal import RunLog
internal import Scheduling
internal import Workflow

// The value of `steps.ID` in expressions: for a step `{outcome, exit_code, outputs}`, for a group `{outcome, outputs}`,
// for a fan-out `{outcome, items, outputs}`. The standard output of a step is kept only where it is read, and is
// available only by the step's own name.
extension RunContext {
    private static let resultFields = ["outcome", "exit_code", "items", "outputs"]

    /// One field of a row's result, for which no other is made; nil if it has no value. Without `field` the whole.
    func result(of row: PlanIndex, _ field: String?) -> Value? {
        guard let field else { return .object(fields(of: row)) }
        return self.field(field, of: row)
    }

    /// The same for what the caller has not chosen to run, which counts as skipped.
    func result(ofLeftOut definition: NodeIndex, _ field: String?) -> Value? {
        let settings = state.plan.workflow.settings(of: definition)
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

    /// The value of an instance's loop variable, or its axes by name.
    private func item(of row: PlanIndex) -> Value {
        let node = state.plan.nodes[row]
        let own = node.variables.dropFirst(state.plan.nodes[state.plan.parent(of: row)].variables.count)
        if let only = own.first, own.count == 1 { return only.typedValue }
        return .object(own.map { Value.Field(name: $0.name, value: $0.typedValue) })
    }

    private func fields(of row: PlanIndex) -> [Value.Field] {
        Self.resultFields.compactMap { name in field(name, of: row).map { Value.Field(name: name, value: $0) } }
    }

    private func field(_ name: String, of row: PlanIndex) -> Value? {
        let role = state.plan.nodes[row].role
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
        let made = make(state.plan.members(of: row))
        if state.outcome(of: row) != nil { lists[key] = made }
        return made
    }

    /// Each declared output of a fan-out as the list of its instances' values.
    private func outputs(of row: PlanIndex, in instances: [PlanIndex]) -> [Value.Field] {
        (state.plan.settings(of: row)?.outputs ?? []).map { output in
            let values = instances.map { state.result(of: $0).outputs.first { $0.name == output.name } }
            return Value.Field(name: output.name, value: .list(values.map { $0?.value ?? .null }))
        }
    }

    /// One of a fan-out's `items`: the item, the result of its instance, and those of the members by their ids.
    private func instance(_ row: PlanIndex) -> Value {
        var fields = [Value.Field(name: "item", value: item(of: row))] + fields(of: row)
        guard state.plan.nodes[row].role == .group else { return .object(fields) }
        for member in state.plan.members(of: row) where state.plan.nodes[member].hook == nil {
            let name = state.plan.workflow[state.plan.nodes[member].definition].id
            fields.append(Value.Field(name: name, value: .object(self.fields(of: member))))
        }
        for definition in state.plan.leftOut(of: row) where state.plan.workflow[definition].hook == nil {
            guard let value = result(ofLeftOut: definition, nil) else { continue }
            fields.append(Value.Field(name: state.plan.workflow[definition].id, value: value))
        }
        return .object(fields)
    }

    /// The status of a plain success is not kept.
    private func exitCode(of row: PlanIndex) -> Value {
        let status = state.result(of: row).status
        if let status { return status.exitCode.map { .int(Int($0)) } ?? .null }
        return state.outcome(of: row) == .success ? .int(0) : .null
    }
}
