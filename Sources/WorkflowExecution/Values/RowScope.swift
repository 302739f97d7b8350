internal import ProcessExecution
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
        case "env": row == 0 && !seesMembers ? facts.inherited : facts.environment
        default: facts.book.plan.nodes[row].variables.last { $0.name == name }?.typedValue
        }
    }

    func run(_ field: String?) -> Value? { facts.run(field) }

    func step(_ id: String, _ field: String?) -> Value? {
        switch facts.names.find(id, seenFrom: row, seesMembers: seesMembers) {
        case .row(let found): facts.reader.value(of: found, field)
        case .leftOut(let definition): facts.reader.value(ofLeftOut: definition, field)
        case nil: nil
        }
    }

    func previous(_ field: String?) -> Value? {
        facts.book.previous(of: row).flatMap { facts.reader.value(of: $0, field) }
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
        var source: Int?
        switch (name.text, fields.count) {
        case ("previous", 1): source = facts.book.previous(of: row)
        case ("steps", 2):
            if case .row(let found)? = facts.names.find(fields[0], seenFrom: row, seesMembers: seesMembers) {
                source = found
            }
        default: break
        }
        return source.flatMap { facts.results.details(of: $0).standardOutput }
    }
}
