import WorkflowModel

/// Which parameters and secrets the steps of a plan read: those that an expression names or a script has as a word, and
/// those that a step lists under `secrets`. What a condition over parameters alone switches off reads nothing.
package struct PlanReads {
    package private(set) var parameters: Set<String> = []
    package private(set) var secrets: Set<String> = []
    private let workflow: Workflow
    /// Parameters that are looked for in scripts.
    private let names: [String]

    /// `wanted` are the parameters that somebody asks about. O(rows), and the length of the scripts where some are wanted.
    package init(_ plan: Plan, known: KnownValues, wanted: [String]) {
        let outline = plan.outline
        workflow = outline.workflow
        names = wanted
        if let folder = workflow.defaults.workingDirectory { note(folder) }
        var isNoted = [Bool](repeating: false, count: workflow.nodes.count)
        var row = PlanIndex.root
        while row < outline.rows.upperBound {
            if let condition = outline.condition(of: row) {
                note(condition)
                guard !known.rulesOut(condition) else {
                    row = outline.nodes[row].subtreeEnd
                    continue
                }
            }
            let definition = outline.nodes[row].definition
            if !isNoted[definition.row] {
                isNoted[definition.row] = true
                note(definition)
            }
            row = row.next
        }
    }

    private mutating func note(_ definition: NodeIndex) {
        switch workflow.nodes[definition.row].body {
        case .script(let script): note(script)
        case .arguments(let words): words.forEach { note($0) }
        case .group, .milestone: break
        }
        guard let settings = workflow.settings(of: definition) else { return }
        for use in settings.secrets { secrets.insert(use.name) }
        for entry in settings.env { if let value = entry.value { note(value) } }
        if let folder = settings.workingDirectory { note(folder) }
        if let input = settings.standardInput { note(input) }
        if let items = settings.fanOut?.items { note(items) }
        for case .expression(let template) in settings.outputs.map(\.source) { note(template) }
    }

    private mutating func note(_ template: Template) { template.expressions.forEach { note($0) } }

    private mutating func note(_ expression: Expression) {
        for (root, field) in expression.references where root == "params" {
            if let field { parameters.insert(field) }
        }
    }

    private mutating func note(_ script: Script) {
        guard !names.isEmpty else { return }
        let text = script.text(in: workflow.file)
        for name in names where !parameters.contains(name) && text.hasWord(name) { parameters.insert(name) }
    }
}
