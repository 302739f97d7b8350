import WorkflowModel

/// Names with given values; statuses that are true.
struct SampleScope: ExpressionScope {
    var values: [String: Value] = [:]
    var steps: [String: Value] = [:]
    var statuses: Set<StatusFunction> = []

    func value(of name: String) -> Value? { values[name] }
    func step(_ id: String) -> Value? { steps[id] }
    func status(_ function: StatusFunction) -> Bool { statuses.contains(function) }
    func hash(files patterns: [String]) throws(EvaluationError) -> String { patterns.joined(separator: "+") }
}

/// A value written as JSON.
func json(_ text: String) -> Value {
    do throws(JSONProblem) {
        return try Value(json: text)
    } catch {
        preconditionFailure("\(error)")
    }
}
