import Syntax
import Workflow

// What `steps.ID` and what is in it is.
extension DataFlowCheck {
    static let outcomes = ["success", "failure", "timeout", "cancelled", "skipped", "not-run"]

    /// One field of a result; nil where it has none of the name.
    mutating func field(_ name: String, of result: ValueType.Result) -> ValueType? {
        let node = workflow.nodes[result.row]
        let isFanOut = node.settings?.fanOut != nil && !result.isInstance
        switch name {
        case "outcome": return ValueType(.word(Self.outcomes))
        case "outputs": return ValueType(.outputs(result))
        case "items" where isFanOut: return ValueType(.list(ValueType(.result(instance(of: result)))))
        case "exit_code" where node.hasCommand && !isFanOut:
            return ValueType(
                .int, absence: result.facts.contains(.succeeded) ? nil : "`\(node.id)` may not have ended by itself")
        case "stdout" where node.hasReadableOutput && !isFanOut && !result.isInstance:
            standardOutputReads.insert(NodeIndex(result.row))
            return ValueType(.string, absence: result.facts.contains(.started) ? nil : absence(of: result.row))
        case "item" where result.isInstance: return item(of: result.row)
        default:
            guard result.isInstance, let member = names.member(name, of: result.row), workflow.nodes[member].hook == nil
            else { return nil }
            let facts = result.facts.contains(.succeeded) ? knowledge.facts(aboutMember: member) : .ended
            return ValueType(.result(.init(row: member, facts: facts)))
        }
    }

    /// What the fields of a result are called.
    func fieldNames(of result: ValueType.Result) -> [String] {
        let node = workflow.nodes[result.row]
        var fields = ["outputs", "outcome"]
        if result.isInstance { fields.append("item") }
        if node.settings?.fanOut != nil, !result.isInstance {
            fields.append("items")
        } else if node.hasCommand {
            fields.append("exit_code")
            if node.hasReadableOutput, !result.isInstance { fields.append("stdout") }
        }
        if result.isInstance {
            fields += workflow.members(of: NodeIndex(result.row)).filter { workflow[$0].hook == nil }.map {
                workflow[$0].id
            }
        }
        return fields
    }

    /// A declared output; nil where there is none of the name.
    mutating func output(_ name: String, of result: ValueType.Result) -> ValueType? {
        let settings = workflow.nodes[result.row].settings
        guard let output = declared.output(name, of: result.row) else { return nil }
        let type = type(of: output, in: result.row)
        let isThere = result.facts.contains(.succeeded)
        guard settings?.fanOut != nil, !result.isInstance else {
            return ValueType(type.kind, absence: isThere ? nil : absence(of: result.row))
        }
        let facts = instance(of: result).facts
        let element = ValueType(type.kind, absence: facts.contains(.succeeded) ? nil : absence(of: result.row))
        return ValueType(.list(element))
    }

    /// One copy: it succeeded where the whole did, no failure is tolerated and no copy has a condition of its own.
    private func instance(of result: ValueType.Result) -> ValueType.Result {
        let settings = workflow.nodes[result.row].settings
        let mayBeOtherwise = settings?.continueOnError == true || settings?.fanOut?.decidesCopies == true
        let isSuccess = result.facts.contains(.succeeded) && !mayBeOtherwise
        return ValueType.Result(row: result.row, facts: isSuccess ? result.facts : .ended, isInstance: true)
    }

    private func absence(of row: Int) -> String { "`\(workflow.nodes[row].id)` may not have succeeded" }

    private mutating func type(of output: OutputDeclaration, in row: Int) -> ValueType {
        switch output.source {
        case .file(let kind), .standardOutput(let kind): return Self.type(of: kind)
        case .expression(let template): return type(of: template, at: Place(row: row, readsMembers: true))
        }
    }

    static func type(of kind: OutputDeclaration.Kind) -> ValueType {
        switch kind {
        case .string: ValueType(.string)
        case .int: ValueType(.int)
        case .bool: ValueType(.bool)
        case .list: ValueType(.list(.any))
        case .lines: ValueType(.list(ValueType(.string)))
        case .json: .any
        }
    }

    /// A text, or the value of the one expression that a template is.
    mutating func type(of template: Template, at place: Place) -> ValueType {
        guard case .parsed(let parsed) = template, let expression = parsed.expression else {
            return ValueType(.string)
        }
        return remembered(expression, at: place)
    }

    /// What one item of a fan-out is.
    mutating func item(of row: Int) -> ValueType {
        guard let fanOut = workflow.nodes[row].settings?.fanOut else { return .any }
        guard let items = fanOut.items else {
            let isLoop = fanOut.axes.count == 1 && fanOut.instances.first?.variables.count == 1
            if isLoop { return ValueType(.string) }
            return ValueType(.object(fanOut.axes.map { .init(name: $0, type: ValueType(.string)) }))
        }
        let list = remembered(items, at: Place(row: row, seesOwnVariables: false))
        guard case .list(let element) = list.kind else { return .any }
        return ValueType(element.kind)
    }

    /// The type of an expression of another place, found once; any where it is defined by itself.
    private mutating func remembered(_ expression: Expression, at place: Place) -> ValueType {
        let key = TypePlace(row: place.row, range: expression.range)
        if let known = types[key] { return known ?? .any }
        types[key] = .some(nil)
        // Far deeper than any workflow goes; a cycle of needs has its own finding.
        let type = silence > 64 ? .any : quietly(at: place) { $0.type(of: expression.root) }
        types[key] = type
        return type
    }
}

extension WorkflowNode {
    /// Whether what it writes can be kept; what goes to the terminal cannot.
    fileprivate var hasReadableOutput: Bool { hasCommand && settings?.isInteractive != true }
}
