internal import AsyncOperations
internal import ProcessExecution
internal import RunEvents
internal import SourceDiagnostics
internal import WorkflowModel
internal import WorkflowPlanning

/// What the expressions of one row may name: a step's, a group's, or those of a group's outputs, which see its members.
@EventLoopActor
struct RowScope: ExpressionScope {
    let facts: RunFacts
    let row: Int
    /// Whether the members of the row itself are in sight.
    var seesMembers = false

    func value(of name: String) -> Value? {
        switch name {
        case "params": facts.parameters
        case "run": facts.run
        case "env": row == 0 && !seesMembers ? facts.inherited : facts.environment
        case "previous": facts.book.previous(of: row).map(result)
        default: facts.book.plan.nodes[row].variables.last { $0.name == name }?.typedValue
        }
    }

    func step(_ id: String) -> Value? {
        facts.names.row(named: id, seenFrom: row, seesMembers: seesMembers).map(result)
    }

    func status(_ function: StatusFunction) -> Bool { facts.status(function, of: row) }

    func hash(files patterns: [String]) throws(EvaluationError) -> String {
        try facts.hash(files: patterns, at: facts.book.workflow.range(of: facts.book.plan.nodes[row].definition))
    }

    /// What was written to standard output, byte for byte, where a template is nothing but its name; nil for any other.
    func output(namedBy template: Template) -> [UInt8]? {
        guard case .parsed(let parsed) = template, case .reference(let name, let path)? = parsed.expression?.root.kind
        else { return nil }
        let fields = path.compactMap { if case .field(let field) = $0 { field.text } else { nil } }
        guard fields.count == path.count, fields.last == "stdout" else { return nil }
        let source: Int? =
            switch (name.text, fields.count) {
            case ("previous", 1): facts.book.previous(of: row)
            case ("steps", 2): facts.names.row(named: fields[0], seenFrom: row, seesMembers: seesMembers)
            default: nil
            }
        return source.flatMap { facts.results.details(of: $0).standardOutput }
    }

    /// `{outcome, exit_code, outputs, stdout}`, and for a fan-out `{outcome, items, outputs}`.
    private func result(_ row: Int) -> Value {
        let plan = facts.book.plan
        guard plan.nodes[row].role == .fanOut else { return .object(fields(of: row)) }
        let instances = plan.members(of: row)
        let outputs = (facts.book.settings(of: row)?.outputs ?? []).map { output in
            let values = instances.map { facts.results.details(of: $0).outputs.first { $0.name == output.name } }
            return Value.Field(name: output.name, value: .list(values.map { $0?.value ?? .null }))
        }
        return .object([
            outcome(of: row),
            Value.Field(name: "items", value: .list(instances.map(item))),
            Value.Field(name: "outputs", value: .object(outputs)),
        ])
    }

    /// One of a fan-out's `items`: what its instance is for, what became of it, and of its members by their ids.
    private func item(_ row: Int) -> Value {
        let plan = facts.book.plan
        var fields = [Value.Field(name: "item", value: facts.item(of: row))]
        if plan.nodes[row].role == .group {
            fields.append(outcome(of: row))
            for member in plan.members(of: row) {
                let name = plan.workflow[plan.nodes[member].definition].id
                fields.append(Value.Field(name: name, value: result(member)))
            }
        } else {
            fields += self.fields(of: row)
        }
        return .object(fields)
    }

    private func fields(of row: Int) -> [Value.Field] {
        let details = facts.results.details(of: row)
        var fields = [outcome(of: row)]
        if facts.book.plan.nodes[row].role == .step {
            fields.append(Value.Field(name: "exit_code", value: exitCode(of: row)))
        }
        fields.append(Value.Field(name: "outputs", value: .object(details.outputs)))
        if let output = details.standardOutput {
            fields.append(Value.Field(name: "stdout", value: .string(String(decoding: output, as: UTF8.self))))
        }
        return fields
    }

    /// That of a plain success is not kept.
    private func exitCode(of row: Int) -> Value {
        let status = facts.results.details(of: row).status
        if let status { return status.exitCode.map { .int(Int($0)) } ?? .null }
        return facts.results.outcome(of: row) == .success ? .int(0) : .null
    }

    private func outcome(of row: Int) -> Value.Field {
        let outcome = facts.results.outcome(of: row).map { Value.string(StepOutcome($0).rawValue) }
        return Value.Field(name: "outcome", value: outcome ?? .null)
    }
}
