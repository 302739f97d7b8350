internal import Syntax
package import Workflow

/// The values that are known before a run: its parameters, and the `vars` that follow from them.
package struct KnownValues: Sendable {
    /// No parameter has a value yet.
    package static let none = KnownValues(fields: [])

    /// The parameters with a value; a required one that was not given is missing.
    package let parameters: [Value.Field]
    /// True for a text that must not be part of the name of an instance, because it contains a secret.
    let isHidden: @Sendable (String) -> Bool
    /// Those of the steps with `params`; nil if there are none.
    package let ofSteps: StepParameterValues?

    package init(
        fields: [Value.Field], ofSteps: StepParameterValues? = nil,
        isHidden: @escaping @Sendable (String) -> Bool = { _ in false }
    ) {
        parameters = fields
        self.ofSteps = ofSteps
        self.isHidden = isHidden
    }

    /// True if a parameter has a value.
    package func has(_ parameter: String) -> Bool { parameters.contains { $0.name == parameter } }

    /// The value of an `if` or `for-each` of a row, if it depends only on parameters and on `vars` without a command;
    /// nil if it reads anything else or has no value.
    package func value(of expression: Expression, at node: NodeIndex, of workflow: Workflow) -> Value? {
        KnownScope(known: self, workflow: workflow, group: workflow[node].parent, step: node).value(of: expression)
    }

    /// True if such a condition of a row is false, or if this machine is none of its `platforms`. The condition may
    /// also read the variables of the enclosing fan-outs. `assumingSuccess` means that nothing fails and nothing is
    /// cancelled.
    package func rulesOut(_ row: PlanIndex, of plan: Plan, assumingSuccess: Bool = false) -> Bool {
        guard plan.platforms(of: row).allow() else { return true }
        guard let condition = plan.condition(of: row) else { return false }
        let definition = plan.nodes[row].definition
        let scope = KnownScope(
            known: self, workflow: plan.workflow, group: plan.workflow[definition].parent, step: definition,
            variables: plan.knownVariables(of: row),
            assumesSuccess: assumingSuccess)
        return scope.value(of: condition) == .bool(false)
    }

    /// The parameters inside a used body; nil for `use` means the workflow itself.
    fileprivate func fields(inside use: Use?, of workflow: Workflow) -> [Value.Field] {
        guard let use else { return parameters }
        let outside = KnownScope(known: self, workflow: workflow, group: workflow[use.group].parent)
        let around = use.source == .template ? fields(inside: workflow.usedFile(around: use.group), of: workflow) : []
        var own: [Value.Field] = []
        for parameter in use.parameters {
            var inside: KnownScope {
                let fields = use.adding(around, to: own, named: \.name)
                return KnownScope(known: self, workflow: workflow, group: use.group, given: (use.group, fields))
            }
            if let value = outside.value(of: parameter, of: use, inside: inside) {
                own.append(Value.Field(name: parameter.name, value: value))
            }
        }
        return use.adding(around, to: own, named: \.name)
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
    /// The step or group whose own parameters are visible; nil for none.
    var step: NodeIndex?
    /// Those of the enclosing fan-outs; none if only the run knows the items.
    var variables: [Variable] = []
    /// True if status functions have a value: that of a run in which nothing fails.
    var assumesSuccess = false
    /// The parameters inside a body whose defaults are being made.
    var given: (use: NodeIndex, fields: [Value.Field])?
    var memo = Memo()

    func value(of expression: Expression) -> Value? {
        guard isKnown(expression) else { return nil }
        return try? expression.evaluate(in: self)
    }

    /// The value that a parameter of a body is given here, or its default; nil if it is unknown.
    func value(of parameter: Parameter, of use: Use, inside: @autoclosure () -> KnownScope) -> Value? {
        guard let argument = use.arguments.last(where: { $0.name == parameter.name }) else {
            if parameter.isRequired { return nil }
            guard parameter.computedDefault != nil else { return parameter.absentValue }
            return try? inside().defaultValue(of: parameter)
        }
        guard argument.templates.flatMap(\.expressions).allSatisfy(isKnown) else { return nil }
        return try? argument.value(for: parameter, in: self)
    }

    func isKnown(_ expression: Expression) -> Bool {
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
        // Values that read each other have a finding of their own.
        memo.isKnown[id] = false
        let value = workflow[id]
        let isKnown = value.command == nil && value.expressions.allSatisfy(seen(from: id.scope).isKnown)
        memo.isKnown[id] = isKnown
        return isKnown
    }

    private func seen(from group: NodeIndex) -> KnownScope {
        KnownScope(
            known: known, workflow: workflow, group: group, assumesSuccess: assumesSuccess, given: given, memo: memo)
    }

    func value(of name: String) -> Value? {
        guard name == "params" else { return variables.last { $0.name == name }?.typedValue }
        let own = step.flatMap { known.ofSteps?[$0]?.fields } ?? []
        let use = workflow.use(around: group, isInside: true)
        if let given, given.use == use?.group { return .object(own + given.fields) }
        return .object(own + known.fields(inside: use, of: workflow))
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
    /// Returns the default of one of the file's parameters, made of the fields of those before it. The error says where
    /// the default is.
    package func defaultValue(
        of parameter: Parameter, after fields: [Value.Field]
    ) throws(EvaluationError) -> Value {
        let scope = KnownScope(known: KnownValues(fields: fields), workflow: self, group: .root)
        do throws(EvaluationError) {
            return try scope.defaultValue(of: parameter)
        } catch {
            let place = "\(file.name):\(file.line(at: error.range.lowerOffset))"
            throw EvaluationError("\(place): \(error.message)", at: error.range)
        }
    }
}

// Keys such as `timeout` whose values follow from parameters and `vars`: they have them before the first step.
extension Workflow {
    /// The group whose names the expressions in a key of a row read.
    func scope(of setting: ComputedSetting, at row: NodeIndex) -> NodeIndex {
        if setting.isInside { return row }
        let node = nodes[row.row]
        let isOfWhole = node.settings?.fanOut != nil && WorkflowKey.ofWhole.contains(setting.key)
        return node.isGroup && !node.isUse && !isOfWhole ? row : node.parent
    }

    /// Returns the workflow with these values, and a finding for each that its key does not accept. A value that
    /// follows from a parameter without one is left as it is; one that reads the variables of copies is only prepared.
    func computing(_ known: KnownValues) -> (workflow: Workflow, findings: [Diagnostic]) {
        var workflow = self
        var computation = Computation(workflow: self, known: known)
        for row in nodes.indices {
            guard let settings = nodes[row].settings else { continue }
            computation.compute(settings, of: NodeIndex(row)) { workflow.nodes[row].settings = $0 }
        }
        if let defaults { computation.compute(defaults, of: .root) { workflow.defaults = $0 } }
        for (index, use) in uses.enumerated() {
            guard let defaults = use.defaults else { continue }
            computation.compute(defaults, of: use.group) { workflow.uses[index].defaults = $0 }
        }
        workflow.hasComputedSettings = computation.isIncomplete
        return (workflow, computation.findings)
    }

    /// The computation of all values for given parameters.
    private struct Computation {
        let workflow: Workflow
        let known: KnownValues
        private(set) var findings: [Diagnostic] = []
        /// True if a value is still to be computed.
        private(set) var isIncomplete = false

        init(workflow: Workflow, known: KnownValues) { (self.workflow, self.known) = (workflow, known) }

        mutating func compute(_ settings: Settings, of row: NodeIndex, _ store: (Settings?) -> Void) {
            let (computed, fanOut) = (settings.computed, settings.fanOut)
            guard !computed.isEmpty || fanOut?.matrix != nil else { return }
            var made: [(key: WorkflowKey, value: (any Sendable)?)] = []
            if let fanOut, let instances = instances(of: fanOut, at: row) {
                made.append((.forEach, fanOut.with(instances)))
            }
            for setting in computed {
                if let value = value(of: setting, at: row) { made.append((setting.key, value.made)) }
            }
            store(settings.computing(made.sorted { $0.key.rawValue < $1.key.rawValue }))
        }

        /// The instances of a matrix with expressions in its axes; nil if they stay as they are.
        private mutating func instances(of fanOut: FanOut, at row: NodeIndex) -> [FanOut.Instance]? {
            guard let matrix = fanOut.matrix else { return nil }
            let group = workflow.scope(of: matrix, at: row)
            let scope = KnownScope(known: known, workflow: workflow, group: group, step: row)
            do throws(EvaluationError) {
                return try fanOut.instances(isHidden: known.isHidden) { expression throws(EvaluationError) in
                    try scope.evaluate(expression)
                }
            } catch {
                note(error, of: matrix, in: group)
                return nil
            }
        }

        private mutating func note(_ error: EvaluationError, of setting: ComputedSetting, in group: NodeIndex) {
            if lacksParameter(of: setting, in: group) {
                isIncomplete = true
            } else {
                findings.append(setting.refusal(error, in: workflow, hiding: known.isHidden))
            }
        }

        /// nil if the value stays as it is.
        private mutating func value(of setting: ComputedSetting, at row: NodeIndex) -> (made: (any Sendable)?, Void)? {
            let (workflow, known, group) = (workflow, known, workflow.scope(of: setting, at: row))
            guard !setting.readsCopies else {
                isIncomplete = true
                var prepared = setting
                prepared.evaluate = { expression, variables throws(EvaluationError) in
                    let scope = KnownScope(
                        known: known, workflow: workflow, group: group, step: row, variables: variables)
                    return try expression.evaluate(in: scope)
                }
                return (prepared, ())
            }
            let scope = KnownScope(known: known, workflow: workflow, group: group, step: row)
            do throws(EvaluationError) {
                return (try setting.made { expression throws(EvaluationError) in try scope.evaluate(expression) }, ())
            } catch {
                note(error, of: setting, in: group)
                return nil
            }
        }

        /// True if the value may follow from a required parameter that was not given, which its readers have to demand,
        /// or from one with a wrong value, which is reported before anything runs.
        private func lacksParameter(of setting: ComputedSetting, in group: NodeIndex) -> Bool {
            var missing = Set(workflow.parameters.map(\.name)).subtracting(known.parameters.map(\.name))
            if workflow.namingKeys.contains(.params), known.ofSteps?.areWhole != true {
                for node in workflow.nodes { missing.formUnion(node.settings?.parameters.map(\.name) ?? []) }
            }
            guard !missing.isEmpty else { return false }
            guard workflow.use(around: group, isInside: true) == nil else { return true }
            for (root, field) in setting.expressions.flatMap(\.references) {
                if root == "vars" { return true }
                if root == "params", let field, missing.contains(field) { return true }
            }
            return false
        }
    }

    /// Returns the first reason to refuse a value that a run could give to a key: one of an `enum`, a default, that of
    /// a copy. nil if it accepts all of them, or if they are not known.
    func refusal(of setting: ComputedSetting, at row: NodeIndex) -> (message: String, given: [Value.Field])? {
        let group = scope(of: setting, at: row)
        let references = setting.expressions.flatMap(\.references)
        let readsFile = use(around: group, isInside: true) == nil
        let read = Set(references.compactMap { readsFile && $0.root == "params" ? $0.field : nil })
        var choices: [[Value.Field]] = [[]]
        for parameter in parameters {
            let isRead = read.contains(parameter.name)
            let fields = parameter.possibleValues.map { Value.Field(name: parameter.name, value: $0) }
            guard let first = fields.first else {
                if isRead { return nil }
                continue
            }
            let longer = choices.flatMap { choice in (isRead ? fields : [first]).map { choice + [$0] } }
            choices = Array(longer.prefix(Self.choiceLimit))
        }
        for variables in copies(readBy: setting, at: row) ?? [] {
            for choice in choices {
                let known = KnownValues(fields: choice)
                let scope = KnownScope(known: known, workflow: self, group: group, variables: variables)
                do throws(EvaluationError) {
                    _ = try setting.made { expression throws(EvaluationError) in try scope.evaluate(expression) }
                } catch {
                    // What has no value may have one in a run.
                    guard error.range == setting.range else { continue }
                    return (error.message, choice.filter { read.contains($0.name) })
                }
            }
        }
        return nil
    }

    private static var choiceLimit: Int { 64 }

    /// The variables of the copies of the one fan-out that a value reads; nil if it reads several, or one whose items
    /// are not in the file.
    private func copies(readBy setting: ComputedSetting, at row: NodeIndex) -> [[Variable]]? {
        guard setting.readsCopies else { return [[]] }
        let names = Set(setting.expressions.flatMap(\.references).map(\.root)).subtracting(["params", "vars"])
        var next = row
        while next != .root {
            if let fanOut = settings(of: next)?.fanOut, names.isSubset(of: fanOut.axes) {
                return fanOut.isDynamic ? nil : fanOut.instances.prefix(Self.choiceLimit).map(\.variables)
            }
            next = nodes[next.row].parent
        }
        return nil
    }
}

extension ComputedSetting {
    /// True if it reads other names than parameters and `vars`: variables of copies.
    var readsCopies: Bool {
        expressions.contains { $0.references.contains { $0.root != "params" && $0.root != "vars" } }
    }

    /// The finding about a value that cannot be made, or that the key does not accept.
    func refusal(
        _ error: EvaluationError, in workflow: Workflow, hiding isHidden: (String) -> Bool, copy: String? = nil
    ) -> Diagnostic {
        let message = error.range == range ? error.message : "`\(key.spelling)` cannot be computed: \(error.message)"
        return Diagnostic(
            .invalidValue,
            isHidden(message) ? "`\(key.spelling)` does not accept the value, which has a secret in it" : message,
            in: workflow.file, at: error.range, notes: copy.map { [.init("it is that of `\($0)`")] } ?? [])
    }
}

extension KnownScope {
    func defaultValue(of parameter: Parameter) throws(EvaluationError) -> Value {
        for expression in parameter.computedDefault?.source.templates.flatMap(\.expressions) ?? [] {
            _ = try evaluate(expression)
        }
        return try parameter.absentValue(in: self)
    }

    /// Throws if the value is not known, or if there is none.
    func evaluate(_ expression: Expression) throws(EvaluationError) -> Value {
        guard isKnown(expression) else {
            throw EvaluationError("only the run knows the value", at: expression.root.range)
        }
        return try expression.evaluate(in: self)
    }
}

extension Parameter {
    /// The values that a run may give it, as far as they are in the file: the words of an `enum`, or the default.
    fileprivate var possibleValues: [Value] {
        switch kind {
        case .choice(let words): words.map(Value.string)
        case .bool: [.bool(false), .bool(true)]
        case .string, .int, .list, .path: isRequired || computedDefault != nil ? [] : [absentValue]
        }
    }
}
