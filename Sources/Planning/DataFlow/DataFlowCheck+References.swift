import Syntax
import Workflow

// What a name is, and what lies behind it.
extension DataFlowCheck {
    mutating func reference(_ name: ExpressionNode.Name, _ path: [ExpressionNode.Accessor]) -> ValueType {
        switch name.text {
        case "steps": return steps(name, path)
        case "params": return parameters(name, path)
        case "env": return environment(name, path)
        case "run": return run(name, path)
        case "args": return arguments(name, path)
        case "vars": return shared(name, path)
        case "previous":
            guard let previous = previous(name) else { return .any }
            return walk(ValueType(.result(previous)), path[...], from: name.range)
        default:
            guard let variable = variable(name, path) else { return .any }
            return walk(variable, path[...], from: name.range)
        }
    }

    // MARK: the way into a value

    mutating func walk(
        _ type: ValueType, _ path: ArraySlice<ExpressionNode.Accessor>, from range: SourceRange
    ) -> ValueType {
        var (type, end) = (type, range)
        for position in path.indices {
            let absence = type.absence
            switch path[position] {
            case .field(let name):
                guard let field = field(name, of: type) else { return .any }
                type = field
                end = end.joined(with: name.range)
            case .index(let index):
                type = element(of: type, at: index)
                end = end.joined(with: index.range)
            case .every(let star):
                let element: ValueType
                if case .list(let known) = type.kind {
                    element = known
                } else if type.isAny {
                    element = .any
                } else {
                    report(.valueType, "`.*` takes a list, found \(type.described)", at: star)
                    return .any
                }
                let rest = walk(element, path[(position + 1)...], from: star)
                return ValueType(
                    .list(ValueType(rest.kind, absence: element.absence ?? rest.absence)), absence: absence)
            }
            if type.absence == nil { type.absence = absence }
        }
        return type
    }

    private mutating func field(_ name: ExpressionNode.Name, of type: ValueType) -> ValueType? {
        switch type.kind {
        case .any: return .any
        case .object(let fields):
            if let field = fields.first(where: { $0.name == name.text }) { return field.type }
            unknownField(name, "this has no field", among: fields.lazy.map(\.name))
        case .result(let result):
            if let field = field(name.text, of: result) { return field }
            unknownResult(name, result)
        case .outputs(let result):
            if let output = output(name.text, of: result) { return output }
            let id = workflow.nodes[result.row].id
            let declared = (workflow.nodes[result.row].settings?.outputs ?? []).lazy.map(\.name)
            unknownField(
                name, "`\(id)` declares no output", among: declared,
                otherwise: "declare it: `outputs: { \(name.text): string }` of `\(id)`",
                note: .init("`\(id)` is declared here", at: workflow.nodes[result.row].range))
        case .list:
            report(
                .valueType, "a list has no field \(Phrase.quoted(name.text))", at: name.range,
                fix: .init("write `.*.\(name.text)` for that of every element, or `[0].\(name.text)` for the first's"))
        default:
            report(.valueType, "\(type.described) has no field \(Phrase.quoted(name.text))", at: name.range)
        }
        return nil
    }

    private mutating func element(of type: ValueType, at index: ExpressionNode) -> ValueType {
        let key = present(index)
        switch type.kind {
        case .any: return .any
        case .list(let element):
            guard key.isAny || key.isNumber else {
                report(.valueType, "the index of a list is a whole number, found \(key.described)", at: index.range)
                return .any
            }
            // The length of a list is not known before the run: an index beyond it fails where it is read, and `??` is
            // for that.
            return element
        case .object, .result, .outputs:
            guard key.isAny || key.isText else {
                report(.valueType, "a field of an object is a text, found \(key.described)", at: index.range)
                return .any
            }
            return .any
        default:
            report(.valueType, "\(type.described) has no index", at: index.range)
            return .any
        }
    }

    // MARK: roots

    private mutating func parameters(_ root: ExpressionNode.Name, _ path: [ExpressionNode.Accessor]) -> ValueType {
        guard let name = member(root, path) else { return .any }
        let use = workflow.use(around: NodeIndex(place.row), isInside: place.isInBody)
        guard let parameter = declared.parameter(name.text, of: use) else {
            unknownField(
                name, "there is no parameter", among: workflow.parameters(of: use).lazy.map(\.name),
                otherwise: use?.source == .template
                    ? "declare it under the `params` of the template, and give it a value with `with`"
                    : "declare it under `params` at the top of the file")
            return .any
        }
        let kind: ValueType.Kind =
            switch parameter.kind {
            case .string, .path: .string
            case .int: .int
            case .bool: .bool
            case .list: .list(ValueType(.string))
            case .choice(let words): .word(words)
            }
        return walk(ValueType(kind), path.dropFirst(), from: name.range)
    }

    private mutating func environment(_ root: ExpressionNode.Name, _ path: [ExpressionNode.Accessor]) -> ValueType {
        guard let name = member(root, path) else { return .any }
        // Who names the run's folder has one.
        let isSet = name.text == "FLOWRUN_TEMP" || isSetAtTop(name.text)
        let type = ValueType(.string, absence: isSet ? nil : "the variable may not be set")
        return walk(type, path.dropFirst(), from: name.range)
    }

    /// What the top of the file sets is there, except while it is being set, and what reads `vars` while they are made.
    private mutating func isSetAtTop(_ name: String) -> Bool {
        let use = workflow.usedFile(around: NodeIndex(place.row), isInside: place.isInBody)
        let isBeingSet = use.map { place.isInside && $0.group.row == place.row } ?? (place.row == 0)
        guard !isBeingSet || place.isShared, let value = declared.environmentEntry(name, atTopOf: use)?.value else {
            return false
        }
        return !place.isShared || !value.readsSharedValues
    }

    /// The group whose `vars` are read at the place, and those around it.
    var sharedScope: NodeIndex {
        let node = workflow.nodes[place.row]
        let seesOwn = node.isUse ? place.isInBody : node.isGroup && place.seesOwnVariables
        return seesOwn ? NodeIndex(place.row) : node.parent
    }

    /// `vars.NAME`, of the group that the place is in, or of one around.
    private mutating func shared(_ root: ExpressionNode.Name, _ path: [ExpressionNode.Accessor]) -> ValueType {
        guard let name = member(root, path) else { return .any }
        let scope = sharedScope
        guard let id = workflow.sharedValue(name.text, in: scope) else {
            unknownField(
                name, "there is no var", among: workflow.sharedValues(visibleIn: scope).map { workflow[$0].name },
                otherwise: "declare it under `vars` at the top of the file or in the group")
            return .any
        }
        let type: ValueType
        switch workflow[id].source {
        case .literal(let value): type = Self.type(of: value)
        case .template(let template): type = self.type(of: template, at: Place(row: id.scope.row, isShared: true))
        case .command(let command): type = Self.type(of: command.kind)
        }
        return walk(type, path.dropFirst(), from: name.range)
    }

    private mutating func run(_ root: ExpressionNode.Name, _ path: [ExpressionNode.Accessor]) -> ValueType {
        guard let name = member(root, path) else { return .any }
        switch name.text {
        case "id", "name": return walk(ValueType(.string), path.dropFirst(), from: name.range)
        case "outcome":
            if place.isShared || !isInHookOfWorkflow {
                report(
                    .notKnownHere, "the outcome of the run is known only in `finally` and `on-failure` of the workflow",
                    at: name.range, fix: .init("read the outcome of a step with `steps.ID.outcome`"))
            }
            return walk(ValueType(.word(Array(Self.outcomes.prefix(4)))), path.dropFirst(), from: name.range)
        default:
            unknownField(name, "`run` has no field", among: ["id", "name", "outcome"])
            return .any
        }
    }

    private mutating func arguments(_ name: ExpressionNode.Name, _ path: [ExpressionNode.Accessor]) -> ValueType {
        if !place.isWord {
            report(
                .notKnownHere, "`args` is known only in the words of a step's `run` list", at: name.range,
                fix: .init("a script reads the arguments as \"$@\""))
        }
        return walk(ValueType(.list(ValueType(.string))), path[...], from: name.range)
    }

    private var isInHookOfWorkflow: Bool {
        var row = place.row
        while row != 0 {
            let node = workflow.nodes[row]
            if node.hook != nil, node.parent == .root || isFile(node.parent) { return true }
            row = node.parent.row
        }
        return false
    }

    /// Whether a group is a file that is used: `run.outcome` of its hooks is its own.
    private func isFile(_ group: NodeIndex) -> Bool { workflow.use(of: group)?.source == .file }

    /// The name behind a root, which does not stand alone.
    private mutating func member(
        _ root: ExpressionNode.Name, _ path: [ExpressionNode.Accessor]
    ) -> ExpressionNode.Name? {
        if case .field(let name)? = path.first { return name }
        let isVariable = hasVariable(root.text)
        report(
            .unknownName, "a name is missing after `\(root.text)`", at: root.range,
            notes: isVariable
                ? [.init("`\(root.text)` means something else here, which hides the fan-out's variable of this name")]
                : [],
            fix: .init(isVariable ? "give the variable another name" : "write `\(root.text).NAME`"))
        return nil
    }

    // MARK: variables

    /// The variables of the fan-outs around a place, innermost first, with the rows that have them.
    mutating func variables(around row: Int) -> [(name: String, row: Int)] {
        var variables: [(name: String, row: Int)] = []
        var row = row
        guard !place.isInBody || !workflow.nodes[row].isUse else { return [] }
        while row != 0 {
            variables += declared.variables(of: row)?.names.map { ($0, row) } ?? []
            row = workflow.nodes[row].parent.row
            if workflow.nodes[row].isUse { break }
        }
        return variables
    }

    /// The row whose fan-out has the variable that a name means at the place: the innermost, but not the row itself
    /// where its variables have no value yet. O(depth).
    private mutating func rowOfVariable(_ name: String, seesOwn: Bool) -> Int? {
        var row = place.row
        guard !place.isInBody || !workflow.nodes[row].isUse else { return nil }
        while row != 0 {
            if declared.hasVariable(name, of: row), row != place.row || seesOwn { return row }
            row = workflow.nodes[row].parent.row
            if workflow.nodes[row].isUse { break }
        }
        return nil
    }

    /// True if a fan-out around the place has a variable of the name.
    mutating func hasVariable(_ name: String) -> Bool { rowOfVariable(name, seesOwn: true) != nil }

    /// The fan-out around the place that has the variable.
    mutating func fanOut(withVariable name: String) -> FanOut? {
        rowOfVariable(name, seesOwn: true).flatMap { workflow.nodes[$0].settings?.fanOut }
    }

    private mutating func variable(
        _ name: ExpressionNode.Name, _ path: [ExpressionNode.Accessor]
    ) -> ValueType? {
        guard let row = rowOfVariable(name.text, seesOwn: place.seesOwnVariables) else {
            unknownRoot(name, path)
            return nil
        }
        if workflow.nodes[row].settings?.fanOut?.items != nil { return item(of: row) }
        let isRare = declared.variables(of: row)?.rare.contains(name.text) == true
        return ValueType(.string, absence: isRare ? "not every combination of the matrix has it" : nil)
    }
}
