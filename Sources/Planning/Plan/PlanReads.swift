package import Workflow

/// The parameters and secrets that the steps of a plan read: those that an expression names or a script has as a
/// word, those that a step lists under `secrets`, and those that the `vars` in use read. Anything that a condition
/// over known values alone switches off reads nothing.
package struct PlanReads {
    package private(set) var parameters: Set<String> = []
    package private(set) var secrets: Set<String> = []
    package private(set) var sharedValues: Set<SharedValueID> = []
    /// The steps with `params`.
    package private(set) var steps: Set<NodeIndex> = []
    private let workflow: Workflow
    private let hasSharedValues: Bool
    /// The parameters to look for in scripts.
    private let names: [String]

    /// `wanted` are the parameters to look for in scripts. O(rows), and the length of the scripts if some are wanted
    /// or there are `vars`.
    package init(_ plan: Plan, known: KnownValues, wanted: [String]) {
        let outline = plan.outline
        workflow = outline.workflow
        hasSharedValues = workflow.hasSharedValues
        names = wanted
        if let folder = workflow.defaults?.workingDirectory { note(folder, in: .root) }
        if workflow.hasComputedSettings { note(workflow.defaults?.computed ?? [], of: .root) }
        var isNoted = [Bool](repeating: false, count: workflow.nodes.count)
        var row = PlanIndex.root
        while row < outline.rows.upperBound {
            let definition = outline.nodes[row].definition
            if let condition = outline.condition(of: row) { note(condition, in: workflow[definition].parent) }
            guard !known.rulesOut(row, of: outline) else {
                row = outline.nodes[row].subtreeEnd
                continue
            }
            if !isNoted[definition.row] {
                isNoted[definition.row] = true
                note(definition)
            }
            row = row.next
        }
    }

    /// Collects the names that one definition reads, its condition included.
    package init(by definition: NodeIndex, of workflow: Workflow) {
        self.workflow = workflow
        hasSharedValues = true
        names = []
        if let condition = workflow.settings(of: definition)?.condition {
            note(condition, in: workflow[definition].parent)
        }
        note(definition)
    }

    private mutating func note(_ definition: NodeIndex) {
        let node = workflow.nodes[definition.row]
        // The values that a group passes to the body it uses are evaluated in the enclosing scope.
        let scope = node.isGroup && !node.isUse ? definition : node.parent
        note(node.body, in: scope)
        if hasSharedValues, node.hasCommand {
            for id in workflow.sharedValuesRead(by: definition) { note(id) }
        }
        if let use = workflow.use(of: definition) {
            for template in use.arguments.flatMap(\.templates) { note(template, in: scope) }
            for parameter in use.parameters where !use.arguments.contains(where: { $0.name == parameter.name }) {
                for template in parameter.computedDefault?.source.templates ?? [] { note(template, in: definition) }
            }
            if let settings = use.settings {
                noteEnvironment(settings, in: definition)
                note(settings.requirements, in: definition)
            }
            if let folder = use.defaults?.workingDirectory { note(folder, in: definition) }
            if workflow.hasComputedSettings { note(use.defaults?.computed ?? [], of: definition) }
        }
        guard let settings = node.settings else { return }
        if settings.keys.contains(.params) { steps.insert(definition) }
        note(settings.secrets)
        noteEnvironment(settings, in: scope)
        note(settings.requirements, in: scope)
        if let input = settings.standardInput { note(input, in: scope) }
        if let items = settings.fanOut?.items { note(items, in: node.parent) }
        if workflow.hasComputedSettings {
            note(settings.computed, of: definition)
            if let matrix = settings.fanOut?.matrix { note([matrix], of: definition) }
        }
        for case .expression(let template) in settings.outputs.map(\.source) {
            note(template, in: node.isGroup ? definition : scope)
        }
    }

    /// Those that have no value yet, because a parameter has none.
    private mutating func note(_ settings: [ComputedSetting], of row: NodeIndex) {
        for setting in settings {
            for expression in setting.expressions { note(expression, in: workflow.scope(of: setting, at: row)) }
        }
    }

    private mutating func noteEnvironment(_ settings: Settings, in scope: NodeIndex) {
        for entry in settings.env { if let value = entry.value { note(value, in: scope) } }
        if let folder = settings.workingDirectory { note(folder, in: scope) }
    }

    private mutating func note(_ requirements: [Requirement], in scope: NodeIndex) {
        for requirement in requirements {
            switch requirement.condition {
            case .expression(let condition): note(condition, in: scope)
            case .command(let name, _): if let id = workflow.sharedValue(name, in: scope) { note(id) }
            }
            if let message = requirement.message { note(message, in: scope) }
        }
    }

    private mutating func note(_ body: WorkflowNode.Body, in scope: NodeIndex) {
        switch body {
        case .script(let script): note(script, in: scope)
        case .arguments(let words): words.forEach { note($0, in: scope) }
        case .group, .milestone: break
        }
    }

    private mutating func note(_ id: SharedValueID) {
        guard sharedValues.insert(id).inserted else { return }
        let value = workflow[id]
        for expression in value.expressions { note(expression, in: id.scope) }
        guard let command = value.command else { return }
        note(command.body, in: id.scope)
        note(command.secrets)
        for other in workflow.dependencies(of: id) { note(other) }
    }

    private mutating func note(_ uses: [SecretUse]) { for use in uses { secrets.insert(use.name) } }

    private mutating func note(_ template: Template, in scope: NodeIndex) {
        template.expressions.forEach { note($0, in: scope) }
    }

    private mutating func note(_ expression: Expression, in scope: NodeIndex) {
        for case (let root, let field?) in expression.references {
            if root == "params", isWorkflows(field, in: scope) { note(parameter: field) }
            if root == "vars", let id = workflow.sharedValue(field, in: scope) { note(id) }
        }
    }

    private mutating func note(_ script: Script, in scope: NodeIndex) {
        guard !names.isEmpty else { return }
        let text = script.text(in: workflow.file)
        for name in names where !parameters.contains(name) && isWorkflows(name, in: scope) && text.hasWord(name) {
            note(parameter: name)
        }
    }

    /// Also those that its default is made of.
    private mutating func note(parameter name: String) {
        guard parameters.insert(name).inserted else { return }
        guard let parameter = workflow.parameters.first(where: { $0.name == name }), !parameter.isRequired else {
            return
        }
        for template in parameter.computedDefault?.source.templates ?? [] { note(template, in: .root) }
    }

    /// True if the inside of a group sees the workflow's own parameter of this name.
    private func isWorkflows(_ name: String, in scope: NodeIndex) -> Bool {
        guard let use = workflow.use(around: scope, isInside: true) else { return true }
        guard use.source == .template, workflow.usedFile(around: use.group) == nil else { return false }
        return !use.parameters.contains { $0.name == name }
    }
}
