import Syntax
import Workflow

/// The declarations of a workflow, by name. Each list becomes a table when a name of it is first requested, so that a
/// file that reads many names of a long list is checked in linear time.
struct DeclaredNames {
    /// The variables of one fan-out.
    struct Variables {
        /// The variables of the axes, then those that `include` adds, in file order.
        let names: [String]
        /// Variables that some combinations lack.
        let rare: Set<String>
        fileprivate let all: Set<String>
    }

    private let workflow: Workflow
    /// By the place of the first parameter, which is the same for all groups that use one body.
    private var parameters: [SourceRange: [String: Int]] = [:]
    private var outputs: [Int: [String: Int]] = [:]
    private var environments: [Int: [String: Int]] = [:]
    private var fanOuts: [Int: Variables] = [:]
    private lazy var secrets = Dictionary(workflow.secrets.map { ($0.name, $0.range) }) { first, _ in first }

    init(_ workflow: Workflow) { self.workflow = workflow }

    /// Returns a parameter that expressions of a body can read: one of its own or, in a template, one of its file.
    /// nil for `use` means the workflow itself.
    mutating func parameter(_ name: String, of use: Use?) -> Parameter? {
        let own = use?.parameters ?? workflow.parameters
        if let first = own.first {
            let table = parameters[first.range] ?? Self.table(of: own, by: \.name)
            parameters[first.range] = table
            if let position = table[name] { return own[position] }
        }
        guard let use, use.source == .template else { return nil }
        return parameter(name, of: workflow.usedFile(around: use.group))
    }

    /// The place where a secret of the name is declared.
    mutating func secret(_ name: String) -> SourceRange? { secrets[name] }

    /// A declared output of a step or group.
    mutating func output(_ name: String, of row: Int) -> OutputDeclaration? {
        guard let declared = workflow.nodes[row].settings?.outputs, !declared.isEmpty else { return nil }
        let table = outputs[row] ?? Self.table(of: declared, by: \.name)
        outputs[row] = table
        return table[name].map { declared[$0] }
    }

    /// The last value that `env` at the top of a file gives a variable. nil for `use` means the workflow's own file.
    mutating func environmentEntry(_ name: String, atTopOf use: Use?) -> EnvironmentEntry? {
        let settings = use == nil ? workflow.nodes[0].settings : use?.settings
        guard let entries = settings?.env, !entries.isEmpty else { return nil }
        let row = use?.group.row ?? 0
        let table = environments[row] ?? Dictionary(zip(entries.map(\.name), entries.indices)) { _, last in last }
        environments[row] = table
        return table[name].map { entries[$0] }
    }

    /// The variables of the fan-out of a row; nil if it has none.
    mutating func variables(of row: Int) -> Variables? {
        if let known = fanOuts[row] { return known }
        guard let fanOut = workflow.nodes[row].settings?.fanOut else { return nil }
        var names = fanOut.axes + fanOut.included
        var counts = Dictionary(fanOut.axes.map { ($0, 0) }) { first, _ in first }
        for instance in fanOut.instances {
            for variable in instance.variables {
                if let count = counts[variable.name] {
                    counts[variable.name] = count + 1
                } else {
                    counts[variable.name] = 1
                    names.append(variable.name)
                }
            }
        }
        let rare = names.filter { counts[$0, default: 0] < fanOut.instances.count }
        let found = Variables(names: names, rare: Set(rare + fanOut.included), all: Set(names))
        fanOuts[row] = found
        return found
    }

    /// True if the fan-out of a row has a variable of the name.
    mutating func hasVariable(_ name: String, of row: Int) -> Bool { variables(of: row)?.all.contains(name) == true }

    private static func table<Item>(of items: [Item], by name: (Item) -> String) -> [String: Int] {
        Dictionary(zip(items.map(name), items.indices)) { first, _ in first }
    }
}

/// Finds names in expressions that have no value before the first step. Each name is examined once.
struct LateNames {
    private let workflow: Workflow
    /// True if the parameters of a body count as known, because their values are at hand when the expression is
    /// evaluated.
    private let acceptsParameters: Bool
    private var values: Set<SharedValueID> = []
    private var parameters: Set<BodyParameter> = []

    private struct BodyParameter: Hashable {
        let group: NodeIndex
        let name: String
    }

    init(_ workflow: Workflow, acceptsParameters: Bool = false) {
        (self.workflow, self.acceptsParameters) = (workflow, acceptsParameters)
    }

    /// Returns the first one; nil if all names have a value. `isCopy` is true for the variables that may be read.
    mutating func first(
        in expression: Expression, of group: NodeIndex, isCopy: (String) -> Bool = { _ in false }
    ) -> (text: String, range: SourceRange)? {
        var nodes: [ExpressionNode] = []
        expression.root.visit { nodes.append($0) }
        for node in nodes {
            switch node.kind {
            case .call(let function, _) where function.asksTheRun: return ("\(function.rawValue)()", node.range)
            case .reference(let name, let path):
                var field: String?
                if case .field(let first)? = path.first { field = first.text }
                if !isEarly(name.text, field, in: group, isCopy) {
                    return (field.map { "\(name.text).\($0)" } ?? name.text, node.range)
                }
            default: break
            }
        }
        return nil
    }

    private mutating func isEarly(
        _ root: String, _ field: String?, in group: NodeIndex, _ isCopy: (String) -> Bool
    ) -> Bool {
        switch (root, field) {
        case ("params", let name?): acceptsParameters || isEarly(parameter: name, in: group)
        case ("vars", let name?): workflow.sharedValue(name, in: group).map { isEarly($0) } ?? true
        case ("params", nil), ("vars", nil): true
        default: isCopy(root)
        }
    }

    private mutating func isEarly(parameter name: String, in group: NodeIndex) -> Bool {
        guard let use = workflow.use(around: group, isInside: true) else { return true }
        guard let parameter = use.parameters.first(where: { $0.name == name }) else {
            guard use.source == .template else { return true }
            return isEarly(parameter: name, in: workflow.usedFile(around: use.group)?.group ?? .root)
        }
        guard parameters.insert(BodyParameter(group: use.group, name: name)).inserted else { return true }
        if let argument = use.arguments.last(where: { $0.name == name }) {
            return areEarly(argument.templates, in: workflow.nodes[use.group.row].parent)
        }
        return areEarly(parameter.computedDefault?.source.templates ?? [], in: use.group)
    }

    private mutating func isEarly(_ id: SharedValueID) -> Bool {
        guard values.insert(id).inserted else { return true }
        let value = workflow[id]
        guard value.command == nil else { return false }
        for expression in value.expressions where first(in: expression, of: id.scope) != nil { return false }
        return true
    }

    private mutating func areEarly(_ templates: [Template], in group: NodeIndex) -> Bool {
        for expression in templates.flatMap(\.expressions) where first(in: expression, of: group) != nil {
            return false
        }
        return true
    }
}

extension Workflow {
    /// The parameters that an expression inside a group reads, also through the `vars` of the group.
    func parameters(readBy expression: Expression, of group: NodeIndex) -> Set<String> {
        var found: Set<String> = []
        var values: Set<SharedValueID> = []
        var rest = [expression]
        while let next = rest.popLast() {
            for case (let root, let field?) in next.references {
                if root == "params" { found.insert(field) }
                guard root == "vars", let id = sharedValue(field, in: group), id.scope == group,
                    values.insert(id).inserted
                else { continue }
                rest += self[id].expressions
            }
        }
        return found
    }
}

extension ExpressionFunction {
    fileprivate var asksTheRun: Bool {
        switch self {
        case .hashFiles, .glob, .exists: true
        default: status != nil
        }
    }
}
