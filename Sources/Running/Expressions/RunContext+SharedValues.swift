internal import Planning
internal import RunLog
internal import Syntax
internal import Workflow

// What `vars.NAME` is: a value of the file, or what a command has printed.
extension RunContext {
    /// What a name means to a row.
    func sharedKey(of name: String, seenFrom row: PlanIndex, seesOwn: Bool) -> SharedKey? {
        let workflow = state.plan.workflow
        let definition = state.plan.nodes[row].definition
        let isOwn = seesOwn && workflow[definition].isGroup
        return workflow.sharedValue(name, in: isOwn ? definition : workflow[definition].parent).map {
            sharedKey(of: $0, around: row)
        }
    }

    /// One of `vars` in the copy of its group that a row is in.
    func sharedKey(of id: SharedValueID, around row: PlanIndex) -> SharedKey {
        var group = row
        while group != .root, state.plan.nodes[group].definition != id.scope || state.plan.nodes[group].role != .group {
            group = state.plan.parent(of: group)
        }
        return SharedKey(group: group, id: id)
    }

    /// Throws where it has no value, or none yet: then `pending` lacks it.
    func value(of key: SharedKey) throws(EvaluationError) -> Value {
        let definition = state.plan.workflow[key.id]
        switch definition.source {
        case .literal(let value): return value
        case .template(let template): return try text(template, of: key, definition)
        case .command:
            let result = pending.commands.value(of: key) { () throws(SharedFailure) in try makeCommand(key) }
            switch result {
            case .success(let value): return value
            case .failure(let failure):
                pending.failure = failure
                let (file, line) = state.plan.workflow.place(of: key.id)
                let place = file == state.plan.workflow.file.name ? "line \(line)" : "\(file):\(line)"
                throw EvaluationError(
                    "`vars.\(definition.name)` (\(place)) has no value: \(failure.cause.message)",
                    at: definition.range)
            // Nobody reads this: what came to it is evaluated once more.
            case nil: throw EvaluationError("the value is still to be made", at: definition.range)
            }
        }
    }

    private func text(
        _ template: Template, of key: SharedKey, _ definition: SharedValue
    ) throws(EvaluationError) -> Value {
        if let known = sharedTexts[key] { return known }
        let value = try template.value(in: RowScope(context: self, row: key.group, isShared: true))
        if case .string(let text) = value, text.utf8.count > OutputDeclaration.Kind.sizeLimit {
            throw EvaluationError("`vars.\(definition.name)` has more than 1 MiB", at: definition.range)
        }
        if !pending.isMissing { sharedTexts[key] = value }
        return value
    }
}
