import Basics
import Workflow

/// Names with given values; statuses that are true.
struct SampleScope: ExpressionScope {
    var values: [String: Value] = [:]
    var steps: [String: Value] = [:]
    var statuses: Set<StatusFunction> = []

    func value(of name: String) -> Value? { values[name] }
    func shared(_ name: String) -> Value? { Self.field(name, of: values["vars"]) }
    func run(_ field: String?) -> Value? { Self.field(field, of: values["run"]) }
    func step(_ id: String, _ field: String?) -> Value? { Self.field(field, of: steps[id]) }
    func previous(_ field: String?) -> Value? { Self.field(field, of: values["previous"]) }
    func status(_ function: StatusFunction) -> Bool { statuses.contains(function) }
    func files(matching patterns: [String]) throws(EvaluationError) -> [String] { patterns.map { "<\($0)>" } }
    func exists(_ path: String) throws(EvaluationError) -> Bool { path == "here" }
    func hash(files patterns: [String]) throws(EvaluationError) -> String { patterns.joined(separator: "+") }

    private static func field(_ name: String?, of value: Value?) -> Value? {
        guard let name else { return value }
        guard case .object(let fields)? = value else { return nil }
        return fields.first { $0.name == name }?.value
    }
}

/// A value written as JSON.
func json(_ text: String) -> Value {
    do throws(JSONError) {
        return try Value(json: text)
    } catch {
        preconditionFailure("\(error)")
    }
}
