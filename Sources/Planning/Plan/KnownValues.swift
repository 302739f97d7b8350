package import Workflow

/// The values that are known before a run: its parameters, and the `vars` that follow from them.
package struct KnownValues: Sendable {
    /// No parameter has a value yet.
    package static let none = KnownValues(fields: [])

    /// The parameters with a value; a required one that was not given is missing.
    package let parameters: [Value.Field]
    /// True for a text that must not be part of the name of an instance, because it contains a secret.
    let isHidden: @Sendable (String) -> Bool

    package init(fields: [Value.Field], isHidden: @escaping @Sendable (String) -> Bool = { _ in false }) {
        parameters = fields
        self.isHidden = isHidden
    }

    /// True if a parameter has a value.
    package func has(_ parameter: String) -> Bool { parameters.contains { $0.name == parameter } }

    /// The value of an `if` or `for-each` of a row, if it depends only on parameters and on `vars` without a command;
    /// nil if it reads anything else or has no value.
    package func value(of expression: Expression, at node: NodeIndex, of workflow: Workflow) -> Value? {
        KnownScope(known: self, workflow: workflow, group: workflow[node].parent).value(of: expression)
    }

    /// True if such a condition of a row is false, or if this machine is none of its `platforms`. The condition may
    /// also read the variables of the enclosing fan-outs. `assumingSuccess` means that nothing fails and nothing is
    /// cancelled.
    package func rulesOut(_ row: PlanIndex, of plan: Plan, assumingSuccess: Bool = false) -> Bool {
        guard plan.platforms(of: row).allow() else { return true }
        guard let condition = plan.condition(of: row) else { return false }
        let group = plan.workflow[plan.nodes[row].definition].parent
        let scope = KnownScope(
            known: self, workflow: plan.workflow, group: group, variables: plan.knownVariables(of: row),
            assumesSuccess: assumingSuccess)
        return scope.value(of: condition) == .bool(false)
    }

    /// The parameters inside a used body; nil for `use` means the workflow itself.
    fileprivate func fields(inside use: Use?, of workflow: Workflow) -> [Value.Field] {
        guard let use else { return parameters }
        let outside = KnownScope(known: self, workflow: workflow, group: workflow[use.group].parent)
        let own = use.parameters.compactMap { parameter in
            outside.value(of: parameter, of: use).map { Value.Field(name: parameter.name, value: $0) }
        }
        return use.adding(
            fields(inside: workflow.usedFile(around: use.group), of: workflow), to: own, named: \.name)
    }
}

extension Plan {
    /// The variables that a row has from its enclosing fan-outs, without those whose values only the run knows.
    fileprivate func knownVariables(of row: PlanIndex) -> [Variable] {
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

/// The meaning of names in a group before the run.
private struct KnownScope: ExpressionScope {
    /// Results for `vars`, so that each is evaluated once, however often the others read it.
    final class Memo {
        var isKnown: [SharedValueID: Bool] = [:]
        var values: [SharedValueID: Value] = [:]
    }

    private static let sizeLimit = 1 << 20

    let known: KnownValues
    let workflow: Workflow
    let group: NodeIndex
    /// Those of the enclosing fan-outs; none if only the run knows the items.
    var variables: [Variable] = []
    /// True if status functions have a value: that of a run in which nothing fails.
    var assumesSuccess = false
    var memo = Memo()

    func value(of expression: Expression) -> Value? {
        guard isKnown(expression) else { return nil }
        return try? expression.evaluate(in: self)
    }

    /// The value that a parameter of a body is given here, or its default; nil if it is unknown.
    func value(of parameter: Parameter, of use: Use) -> Value? {
        guard let argument = use.arguments.last(where: { $0.name == parameter.name }) else {
            return parameter.isRequired ? nil : parameter.absentValue
        }
        guard argument.templates.flatMap(\.expressions).allSatisfy(isKnown) else { return nil }
        return try? argument.value(for: parameter, in: self)
    }

    private func isKnown(_ expression: Expression) -> Bool {
        (assumesSuccess ? !expression.asksFiles : !expression.asksTheRun)
            && expression.references.allSatisfy { root, field in
                switch root {
                case "params": return true
                case "vars":
                    return field.flatMap { workflow.sharedValue($0, in: group) }.map(isKnown) ?? false
                default: return variables.contains { $0.name == root }
                }
            }
    }

    private func isKnown(_ id: SharedValueID) -> Bool {
        if let known = memo.isKnown[id] { return known }
        let value = workflow[id]
        let isKnown = value.command == nil && value.expressions.allSatisfy(seen(from: id.scope).isKnown)
        memo.isKnown[id] = isKnown
        return isKnown
    }

    private func seen(from group: NodeIndex) -> KnownScope {
        KnownScope(known: known, workflow: workflow, group: group, assumesSuccess: assumesSuccess, memo: memo)
    }

    func value(of name: String) -> Value? {
        guard name == "params" else { return variables.last { $0.name == name }?.typedValue }
        return .object(known.fields(inside: workflow.use(around: group, isInside: true), of: workflow))
    }

    func shared(_ name: String) throws(EvaluationError) -> Value? {
        guard let id = workflow.sharedValue(name, in: group) else { return nil }
        switch workflow[id].source {
        case .literal(let value): return value
        case .template(let template):
            if let value = memo.values[id] { return value }
            let value = try template.value(in: seen(from: id.scope))
            if case .string(let text) = value, text.utf8.count > Self.sizeLimit {
                throw EvaluationError("`vars.\(name)` has more than 1 MiB", at: workflow[id].range)
            }
            memo.values[id] = value
            return value
        case .command: return nil
        }
    }

    func run(_ field: String?) -> Value? { nil }
    func step(_ id: String, _ field: String?) -> Value? { nil }
    func previous(_ field: String?) -> Value? { nil }
    func status(_ function: StatusFunction) -> Bool { function == .success || function == .always }

    func files(matching patterns: [String]) throws(EvaluationError) -> [String] {
        preconditionFailure("what asks the run has no known value")
    }

    func exists(_ path: String) throws(EvaluationError) -> Bool {
        preconditionFailure("what asks the run has no known value")
    }

    func hash(files patterns: [String]) throws(EvaluationError) -> String {
        preconditionFailure("what asks the run has no known value")
    }
}

extension Workflow {
    /// Returns the workflow with the instances of every fan-out over known values filled in, as if the file listed
    /// them; nil if there is no such fan-out. A fan-out with an invalid list is unchanged: the run reports the
    /// mistake.
    func settling(_ known: KnownValues) -> Workflow? {
        var settled: Workflow?
        for row in nodes.indices {
            guard let settings = nodes[row].settings, let fanOut = settings.fanOut, let items = fanOut.items,
                !items.references.isEmpty, let list = known.value(of: items, at: NodeIndex(row), of: self),
                let instances = try? fanOut.instances(over: list, isHidden: known.isHidden)
            else { continue }
            var workflow = settled ?? self
            workflow.nodes[row].settings = settings.with(
                fanOut.with(instances))
            settled = workflow
        }
        return settled
    }
}
