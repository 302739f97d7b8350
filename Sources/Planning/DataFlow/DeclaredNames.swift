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
        var names = fanOut.axes
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
        let found = Variables(names: names, rare: Set(rare), all: Set(names))
        fanOuts[row] = found
        return found
    }

    /// True if the fan-out of a row has a variable of the name.
    mutating func hasVariable(_ name: String, of row: Int) -> Bool { variables(of: row)?.all.contains(name) == true }

    private static func table<Item>(of items: [Item], by name: (Item) -> String) -> [String: Int] {
        Dictionary(zip(items.map(name), items.indices)) { first, _ in first }
    }
}
