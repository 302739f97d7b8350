import Syntax
import Workflow

// Types of names and of the paths into their values.
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
            // The length of a list is not known before the run: an index beyond its end fails when it is read, unless
            // `??` gives a default.
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
        let own = place.isInBody ? [] : workflow.nodes[place.row].settings?.parameters ?? []
        let parameter = own.first { $0.name == name.text } ?? declared.parameter(name.text, of: use)
        guard let parameter else {
            unknownField(
                name, "there is no parameter", among: (own + workflow.parameters(of: use)).lazy.map(\.name),
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
        // flowrun always sets both; naming the first is enough to have its folder made.
        let isSet = ["FLOWRUN_TEMP", "FLOWRUN_INVOCATION_DIR"].contains(name.text) || isSetAtTop(name.text)
        let type = ValueType(.string, absence: isSet ? nil : "the variable may not be set")
        return walk(type, path.dropFirst(), from: name.range)
    }

    /// True if the top of the file sets the variable. It does not count while the top itself is evaluated, nor, for
    /// values that read `vars`, while `vars` are evaluated.
    private mutating func isSetAtTop(_ name: String) -> Bool {
        let use = workflow.usedFile(around: NodeIndex(place.row), isInside: place.isInBody)
        let isBeingSet = use.map { place.isInside && $0.group.row == place.row } ?? (place.row == 0)
        guard !isBeingSet || place.isShared, let value = declared.environmentEntry(name, atTopOf: use)?.value else {
            return false
        }
        return !place.isShared || !value.readsSharedValues
    }

    /// The innermost group whose `vars` the place can read; those of the enclosing groups are visible as well.
    var sharedScope: NodeIndex {
        let node = workflow.nodes[place.row]
        let seesOwn = node.isUse ? place.isInBody : node.isGroup && place.seesOwnVariables
        return seesOwn ? NodeIndex(place.row) : node.parent
    }

    /// The type of `vars.NAME`, declared in the group of the place or in an enclosing one.
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
        if !place.seesArguments {
            report(
                .notKnownHere, "`args` is known only in the words of a step's `run` list and in `with`", at: name.range,
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

    /// True if the group uses a file: `run.outcome` in its hooks is its own.
    private func isFile(_ group: NodeIndex) -> Bool { workflow.use(of: group)?.source == .file }

    /// Returns the name after a root, or reports that it is missing.
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

    /// The variables of the fan-outs of a row and its enclosing groups, innermost first, with the rows that declare
    /// them.
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

    /// The row of the innermost fan-out with the variable. The row of the place itself is skipped if its variables
    /// have no value yet. O(depth).
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

    /// True if the fan-out of the place or of an enclosing group has the variable.
    mutating func hasVariable(_ name: String) -> Bool { rowOfVariable(name, seesOwn: true) != nil }

    /// The innermost fan-out of the place that has the variable.
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

// `with` and the defaults of parameters: checks that the values fit the parameters.
extension DataFlowCheck {
    mutating func check(_ argument: Use.Argument, for parameter: Parameter) { check(argument.value, for: parameter) }

    /// Checks the defaults with expressions of a file or a template.
    mutating func checkDefaults(of parameters: [Parameter]) {
        for (index, parameter) in parameters.enumerated() {
            guard let computed = parameter.computedDefault else { continue }
            let count = findings.count
            check(computed.source, for: parameter)
            let later = Set(parameters[index...].map(\.name))
            for expression in computed.source.templates.flatMap(\.expressions) where findings.count == count {
                check(expression, asDefaultOf: parameter, later)
            }
        }
    }

    private mutating func check(
        _ expression: Expression, asDefaultOf parameter: Parameter, _ later: Set<String>
    ) {
        let group = NodeIndex(place.row)
        var names = LateNames(workflow, acceptsParameters: true)
        if let late = names.first(in: expression, of: group) {
            report(
                .notKnownHere, "a default has its value before the first step, and `\(late.text)` has not",
                at: late.range, fix: .init("read parameters, or `vars` without a command"))
        } else if let name = workflow.parameters(readBy: expression, of: group).intersection(later).min() {
            report(
                .notKnownHere,
                "the default of `\(parameter.name)` reads `params.\(name)`, which is not declared before it",
                at: expression.root.range, fix: .init("declare `\(name)` before `\(parameter.name)`"))
        }
    }

    private mutating func check(_ value: Use.Argument.Source, for parameter: Parameter) {
        guard case .text(let template) = value, let expression = template.expression else {
            for template in value.templates { check(template, what: "an item of a list") }
            return
        }
        let type = present(expression.root)
        let (kind, note) = (parameter.kind, Diagnostic.Note("the parameter is declared here", at: parameter.range))
        if let text = texts(of: expression, type)?.first(where: { (try? parameter.value(from: $0)) == nil }) {
            return report(
                .valueType,
                "the parameter `\(parameter.name)` is \(kind.described), and one of the values is "
                    + Phrase.quoted(text),
                at: expression.root.range, notes: [note])
        }
        guard !type.isAny, !kind.accepts(type, isVariable: isVariable(expression)) else { return }
        report(
            .valueType, "the parameter `\(parameter.name)` is \(kind.described), found \(type.described)",
            at: expression.root.range, notes: [note],
            fix: type.isText
                ? .init("declare it as \(kind.word) where it comes from, or write `fromJSON(\(expression.text))`")
                : nil)
    }

    /// Returns all values of an expression that is a matrix axis or an `enum`; nil for any other.
    private mutating func texts(of expression: Expression, _ type: ValueType) -> [String]? {
        if case .word(let words) = type.kind { return words }
        guard let name = expression.name, let fanOut = fanOut(withVariable: name), fanOut.items == nil
        else { return nil }
        return fanOut.instances.compactMap { instance in instance.variables.first { $0.name == name }?.value }
    }

    /// True for the variable of a fan-out, whose values are all texts, even those written as numbers.
    private mutating func isVariable(_ expression: Expression) -> Bool {
        expression.name.map { hasVariable($0) } ?? false
    }
}

extension Expression {
    /// The name, if the expression is nothing else; nil otherwise.
    fileprivate var name: String? {
        if case .reference(let name, let path) = root.kind, path.isEmpty { name.text } else { nil }
    }
}

extension Parameter.Kind {
    /// True if a value of the type may fit the parameter. A text may be one of the words of an `enum`, and a fan-out
    /// variable may be the text of a number or a bool.
    fileprivate func accepts(_ type: ValueType, isVariable: Bool) -> Bool {
        switch (self, type.kind) {
        case (_, .any), (.list, .list), (.bool, .bool), (.int, .int), (.int, .number): true
        case (.string, _), (.path, _), (.choice, _): type.isScalar
        case (.int, _), (.bool, _): isVariable && type.isText
        case (.list, _): false
        }
    }

    /// Completes the message "the parameter is …".
    fileprivate var described: String {
        switch self {
        case .string, .path: "a text"
        case .choice(let choices): Phrase.alternatives(choices)
        case .int: "a whole number"
        case .bool: "true or false"
        case .list: "a list"
        }
    }

    /// The word for this kind in `type`.
    fileprivate var word: String {
        switch self {
        case .string: "`string`"
        case .path: "`path`"
        case .choice: "`enum`"
        case .int: "`int`"
        case .bool: "`bool`"
        case .list: "`list`"
        }
    }
}
