package import WorkflowModel

/// What is known of a run's values before it: those of its parameters.
package struct KnownValues: Sendable {
    /// Before anybody has given one.
    package static let none = KnownValues(fields: [])

    /// By name; without those that are required and that nobody gave.
    package let parameters: [Value.Field]
    /// Whether a text must not stand in the name of an instance, because there is a secret in it.
    let isHidden: @Sendable (String) -> Bool

    package init(fields: [Value.Field], isHidden: @escaping @Sendable (String) -> Bool = { _ in false }) {
        parameters = fields
        self.isHidden = isHidden
    }

    /// The value of an expression over parameters alone; nil where it reads anything else, or has none.
    package func value(of expression: Expression) -> Value? {
        guard expression.needsOnlyParameters else { return nil }
        return try? expression.evaluate(in: ParameterScope(parameters: .object(parameters)))
    }

    /// Whether a condition over parameters alone is false.
    package func rulesOut(_ condition: Expression) -> Bool { value(of: condition) == .bool(false) }
}

/// Only the parameters have values.
private struct ParameterScope: ExpressionScope {
    let parameters: Value

    func value(of name: String) -> Value? { name == "params" ? parameters : nil }
    func run(_ field: String?) -> Value? { nil }
    func step(_ id: String, _ field: String?) -> Value? { nil }
    func previous(_ field: String?) -> Value? { nil }
    func status(_ function: StatusFunction) -> Bool { false }

    func hash(files patterns: [String]) throws(EvaluationError) -> String {
        preconditionFailure("an expression over parameters reads no file")
    }
}

extension Workflow {
    /// The workflow with the instances of every fan-out over parameters, and nothing else, in it, as if the file said them; nil where
    /// there is no such fan-out. One whose list is wrong stays as it is: the run says what is wrong.
    func settling(_ known: KnownValues) -> Workflow? {
        var settled: Workflow?
        for row in nodes.indices {
            guard let settings = nodes[row].settings, let fanOut = settings.fanOut, let items = fanOut.items,
                !items.references.isEmpty, let list = known.value(of: items),
                let instances = try? fanOut.instances(over: list, isHidden: known.isHidden)
            else { continue }
            var workflow = settled ?? self
            workflow.nodes[row].settings = settings.with(
                FanOut(axes: fanOut.axes, instances: instances, limit: fanOut.limit, range: fanOut.range))
            settled = workflow
        }
        return settled
    }
}
