internal import OperationScheduling
internal import ProcessExecution
internal import RunEvents
internal import WorkflowModel
internal import WorkflowPlanning

/// What `steps.ID` is to expressions: of a step `{outcome, exit_code, outputs, stdout}`, of a group `{outcome, outputs}`,
/// of a fan-out `{outcome, items, outputs}`.
@EventLoopActor
final class ResultReader {
    private struct ListKey: Hashable {
        let row: Int
        let field: String
    }

    private let book: RunBook
    private let results: RunResults
    /// The lists of fan-outs that have ended and were asked for: each copy of another one may ask again.
    private var lists: [ListKey: Value] = [:]

    private static let fields = ["outcome", "exit_code", "items", "outputs", "stdout"]

    init(_ book: RunBook, _ results: RunResults) {
        self.book = book
        self.results = results
    }

    /// One field of a row's result, for which no other is made; nil where it has no value. Without `field` the whole.
    func value(of row: Int, _ field: String?) -> Value? {
        guard let field else { return .object(fields(of: row)) }
        return self.field(field, of: row)
    }

    /// The same of what the caller has not chosen to run, which counts as skipped.
    func value(ofLeftOut definition: NodeIndex, _ field: String?) -> Value? {
        let settings = book.workflow.settings(of: definition)
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

    /// Forgets a row whose group runs once more.
    func forget(_ row: Int) {
        guard !lists.isEmpty, book.plan.nodes[row].role == .fanOut else { return }
        for field in Self.fields { lists[ListKey(row: row, field: field)] = nil }
    }

    /// The value of an instance's loop variable, or its axes by name.
    private func item(of row: Int) -> Value {
        let node = book.plan.nodes[row]
        let own = node.variables.dropFirst(book.plan.nodes[book.parent(of: row)].variables.count)
        if let only = own.first, own.count == 1 { return only.typedValue }
        return .object(own.map { Value.Field(name: $0.name, value: $0.typedValue) })
    }

    private func fields(of row: Int) -> [Value.Field] {
        Self.fields.compactMap { name in field(name, of: row).map { Value.Field(name: name, value: $0) } }
    }

    private func field(_ name: String, of row: Int) -> Value? {
        let role = book.plan.nodes[row].role
        switch name {
        case "outcome": return results.outcome(of: row).map { .string(StepOutcome($0).rawValue) } ?? .null
        case "exit_code" where role == .step: return exitCode(of: row)
        case "stdout" where role == .step:
            let output = results.details(of: row).standardOutput
            // Where the condition could not be decided there was nobody to write.
            return (output ?? (results.outcome(of: row) == .failure ? [] : nil)).map {
                .string(String(decoding: $0, as: UTF8.self))
            }
        case "items" where role == .fanOut: return list(name, of: row) { .list($0.map(self.instance)) }
        case "outputs" where role == .fanOut:
            return list(name, of: row) { .object(self.outputs(of: row, in: $0)) }
        case "outputs": return .object(results.details(of: row).outputs)
        default: return nil
        }
    }

    private func list(_ name: String, of row: Int, _ make: ([Int]) -> Value) -> Value {
        let key = ListKey(row: row, field: name)
        if let known = lists[key] { return known }
        let made = make(book.plan.members(of: row))
        if results.outcome(of: row) != nil { lists[key] = made }
        return made
    }

    /// Each declared output of a fan-out as the list of its instances' values.
    private func outputs(of row: Int, in instances: [Int]) -> [Value.Field] {
        (book.settings(of: row)?.outputs ?? []).map { output in
            let values = instances.map { results.details(of: $0).outputs.first { $0.name == output.name } }
            return Value.Field(name: output.name, value: .list(values.map { $0?.value ?? .null }))
        }
    }

    /// One of a fan-out's `items`: what its instance is for, what became of it, and of its members by their ids.
    private func instance(_ row: Int) -> Value {
        var fields = [Value.Field(name: "item", value: item(of: row))] + fields(of: row)
        guard book.plan.nodes[row].role == .group else { return .object(fields) }
        let members = book.plan.members(of: row)
        for member in members {
            let name = book.workflow[book.plan.nodes[member].definition].id
            fields.append(Value.Field(name: name, value: .object(self.fields(of: member))))
        }
        for definition in book.leftOut(of: row) {
            guard let value = value(ofLeftOut: definition, nil) else { continue }
            fields.append(Value.Field(name: book.workflow[definition].id, value: value))
        }
        return .object(fields)
    }

    /// That of a plain success is not kept.
    private func exitCode(of row: Int) -> Value {
        let status = results.details(of: row).status
        if let status { return status.exitCode.map { .int(Int($0)) } ?? .null }
        return results.outcome(of: row) == .success ? .int(0) : .null
    }
}
