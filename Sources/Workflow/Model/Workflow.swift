package import Syntax

/// The content of a workflow file and of those that it uses, with names that are not resolved yet.
///
/// Steps and groups are rows of one array in file order (preorder), so that a hundred thousand of them are one
/// allocation: row 0 is the workflow itself, seen as the outermost group, and a group's members follow it up to its
/// `subtreeEnd`.
package struct Workflow: Sendable {
    /// The file itself, which includes those that it uses.
    package let file: SourceFile
    package var name: String?
    package var description: String?
    /// The settings of every step that does not set them itself.
    package var defaults: Settings?
    /// The steps and groups that run when none is named, in file order; empty if the steps are listed then, nil for
    /// all.
    package var defaultSteps: [StepReference]?
    /// In file order, as are the next two.
    package var parameters: [Parameter] = []
    package var secrets: [Secret] = []
    package var pools: [Pool] = []
    /// The amount of the steps' output that a run keeps in files, in bytes; nil if the file does not say.
    package var outputLimit: Int?
    /// Row 0 is the workflow: its settings hold the top level's `timeout`, `env`, `max-parallel`, …
    package var nodes: [WorkflowNode]
    /// The entries of all `needs` one after another; `WorkflowNode.needs` is a range of it.
    package var needs: [Need]
    /// In the order of their groups.
    package var uses: [Use] = []
    /// True if a key of some row or of `defaults` has a value that is still to be computed.
    package var hasComputedSettings = false
    /// Those of `aliases`, `internal` and `params` that some step or group has: without them, the words of a command
    /// line have no other meaning than ids.
    package var namingKeys = KeySet()

    package init(
        file: SourceFile, name: String? = nil, description: String? = nil, defaults: Settings? = nil,
        nodes: [WorkflowNode], needs: [Need] = []
    ) {
        self.file = file
        self.name = name
        self.description = description
        self.defaults = defaults
        self.nodes = nodes
        self.needs = needs
    }

    package subscript(index: NodeIndex) -> WorkflowNode { nodes[index.row] }

    /// The less common keys of a row; cheaper than taking the whole row for them.
    package func settings(of index: NodeIndex) -> Settings? { nodes[index.row].settings }

    /// True for a step without a command.
    package func isMilestone(_ index: NodeIndex) -> Bool {
        if case .milestone = nodes[index.row].body { true } else { false }
    }

    /// The place of a row's key in the file; cheaper than taking the whole row for it.
    package func range(of index: NodeIndex) -> SourceRange { nodes[index.row].range }

    /// The needs of a row, in file order; the indices are those of all needs.
    package func needs(of row: Int) -> ArraySlice<Need> { needs(of: nodes[row]) }

    package func needs(of node: WorkflowNode) -> ArraySlice<Need> {
        needs[Int(node.needs.lowerBound)..<Int(node.needs.upperBound)]
    }

    /// One entry of a row's needs, counted from 0.
    package func need(_ position: Int, of row: Int) -> Need { needs[Int(nodes[row].needs.lowerBound) + position] }

    /// The direct members of a group, in file order; empty for a step.
    package func members(of group: NodeIndex) -> MemberSequence {
        MemberSequence(nodes: nodes, row: group.row + 1, end: Int(nodes[group.row].subtreeEnd))
    }

    package struct MemberSequence: Sequence, IteratorProtocol {
        let nodes: [WorkflowNode]
        var row: Int
        let end: Int

        package mutating func next() -> NodeIndex? {
            guard row < end else { return nil }
            defer { row = Int(nodes[row].subtreeEnd) }
            return NodeIndex(row)
        }
    }
}

/// The row of a step or group in `Workflow.nodes`. Inlined everywhere, so that it costs no more than the number in
/// it.
@usableFromInline
package struct NodeIndex: Hashable, Comparable, Sendable {
    @usableFromInline let value: UInt32

    @inlinable
    package init(_ row: Int) { value = UInt32(row) }

    @inlinable package var row: Int { Int(value) }
    /// The workflow itself.
    @inlinable package static var root: NodeIndex { NodeIndex(0) }

    @inlinable
    package static func == (left: NodeIndex, right: NodeIndex) -> Bool { left.value == right.value }

    @inlinable
    package static func < (left: NodeIndex, right: NodeIndex) -> Bool { left.value < right.value }
}

/// A step or group by its full id, as on the command line.
package struct StepReference: Sendable, Hashable {
    package let name: String
    /// The place of the name.
    package let range: SourceRange
}

extension Workflow {
    /// The ids from the outermost group down, such as `build.compile`; empty for the workflow itself.
    package func path(of node: NodeIndex) -> String {
        var ids: [String] = []
        var row = node.row
        while row != 0 {
            ids.append(nodes[row].id)
            row = nodes[row].parent.row
        }
        return ids.reversed().joined(separator: ".")
    }

    /// Returns the group whose body a step in a hook counts as undoing, and the undone members, nil for all of them;
    /// nil for a step outside of hooks. Of nested hooks the outermost counts, because a hook is never restored.
    /// O(depth).
    package func undoing(by step: NodeIndex) -> (group: NodeIndex, members: [StepReference]?)? {
        var found: (NodeIndex, [StepReference]?)?
        var declared: [StepReference]?
        var next = step
        while next != .root {
            if nodes[next.row].hook != nil {
                found = (nodes[next.row].parent, declared)
                declared = nil
            } else if declared == nil {
                declared = nodes[next.row].settings?.undoes
            }
            next = nodes[next.row].parent
        }
        return found
    }
}

/// One of `secrets`: a value that no output ever shows.
package struct Secret: Sendable {
    package enum Source: Sendable, Hashable {
        /// A variable of flowrun's own environment.
        case environment(String)
        /// The text of a file, without the line end at its end.
        case file(String)
    }

    package let name: String
    package let source: Source
    package let range: SourceRange
}

extension Workflow {
    /// Returns the findings about a workflow in the form in which they are shown: one in a body that is used in
    /// several places is reported once, and one about a used file says where the file is used. O(findings × uses).
    package func explained(_ findings: [Diagnostic]) -> [Diagnostic] {
        guard !uses.isEmpty else { return findings }
        var told: Set<Told> = []
        return findings.compactMap { finding in
            guard told.insert(Told(range: finding.range, code: finding.code, message: finding.message)).inserted else {
                return nil
            }
            let notes = usersOf(finding.file)
            return notes.isEmpty ? finding : finding.adding(notes, in: file)
        }
    }

    private struct Told: Hashable {
        let range: SourceRange
        let code: DiagnosticCode
        let message: String
    }

    /// Notes on the first use of a file, then on the first use of its user, up to the workflow's own file.
    private func usersOf(_ used: SourceFile) -> [Diagnostic.Note] {
        var notes: [Diagnostic.Note] = []
        var used = used
        while used !== file, notes.count < uses.count {
            guard let use = uses.first(where: { $0.source == .file && $0.file === used }) else { break }
            notes.append(Diagnostic.Note("`\(used.name)` is used here, by `\(path(of: use.group))`", at: use.range))
            used = file.file(at: use.range.lowerOffset)
        }
        return notes
    }
}

// Steps that use the arguments after `--` on the command line.
extension Workflow {
    /// True if a step takes arguments: its script reads them as a shell does, or its list names `args`. True as well
    /// for a group that gives them to the body it uses. O(length).
    package func takesArguments(_ node: NodeIndex) -> Bool {
        switch nodes[node.row].body {
        case .script(let script): Script.readsArguments(script.text(in: file))
        case .arguments(let words):
            words.contains(where: \.readsArguments)
        case .group: use(of: node)?.arguments.contains { $0.templates.contains(where: \.readsArguments) } ?? false
        case .milestone: false
        }
    }
}

extension Script {
    /// True if a text has `$@`, `$*`, `$#` or `$1` and so on, with braces or without, or the word `shift`; or `argv`,
    /// as in scripts for other interpreters. Comments and quotes count like everything else.
    static func readsArguments(_ script: String) -> Bool {
        let bytes = Array(script.utf8)
        for index in bytes.indices where bytes[index] == UInt8(ascii: "$") {
            var next = index + 1
            let isBraced = next < bytes.count && bytes[next] == UInt8(ascii: "{")
            if isBraced { next += 1 }
            guard next < bytes.count else { break }
            switch bytes[next] {
            case UInt8(ascii: "@"), UInt8(ascii: "*"), UInt8(ascii: "1")...UInt8(ascii: "9"): return true
            case UInt8(ascii: "#"):
                // `${#name}` is a length.
                let behind = next + 1 < bytes.count ? bytes[next + 1] : 0
                if !isBraced || "}@*".utf8.contains(behind) { return true }
            default: break
            }
        }
        return ["shift", "argv", "ARGV"].contains { script.hasWord($0) }
    }
}

extension Shell {
    /// Returns the command that starts a script with arguments. Shells take the first word after a script as `$0`, so
    /// that word is the name that `$0` has without arguments; other interpreters do not.
    package func command(for script: String, with arguments: [String] = []) -> [String] {
        guard !arguments.isEmpty, let program = self.arguments.first else { return self.arguments + [script] }
        let name = program.split(separator: "/").last.map(String.init) ?? program
        return self.arguments + [script] + (Self.namesItself.contains(name) ? [program] : []) + arguments
    }

    private static let namesItself: Set<String> = ["sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "yash"]
}

// Resolves the names of `vars`, and finds those that are read.
extension Workflow {
    /// The place of its name.
    package func place(of id: SharedValueID) -> (file: String, line: Int) {
        let offset = self[id].range.lowerOffset
        return (file.file(at: offset).name, file.line(at: offset))
    }

    package subscript(id: SharedValueID) -> SharedValue {
        guard id.isTree else { return sharedValues(of: id.scope)[id.position] }
        guard let range = settings(of: id.scope)?.isolationRange else { preconditionFailure("no `isolate` there") }
        return .tree(at: range)
    }

    /// In file order; empty for a step.
    package func sharedValues(of group: NodeIndex) -> [SharedValue] { settings(of: group)?.sharedValues ?? [] }

    /// True if any group has `vars` or `isolate`. O(groups and steps with settings).
    package var hasSharedValues: Bool {
        nodes.indices.contains {
            guard nodes[$0].isGroup, let settings = nodes[$0].settings else { return false }
            return settings.isolationRange != nil || !settings.sharedValues.isEmpty
        }
    }

    /// True if any step or group has a key among its settings. O(steps and groups).
    package func has(_ key: WorkflowKey) -> Bool {
        nodes.indices.contains { nodes[$0].settings?.keys.contains(key) == true }
    }

    /// Returns the copy of the tree that a step, or the command of one of `vars` of a group, runs in; nil if no
    /// enclosing group is isolated.
    private func tree(inside group: NodeIndex) -> SharedValueID? {
        var next = group
        while next != .root {
            if nodes[next.row].settings?.isolationRange != nil { return .tree(of: next) }
            next = nodes[next.row].parent
        }
        return nil
    }

    /// Returns what a name means inside a group: a value of its own, or of the nearest enclosing group that has it.
    package func sharedValue(_ name: String, in group: NodeIndex) -> SharedValueID? {
        var scope = group
        while true {
            if let position = sharedValues(of: scope).firstIndex(where: { $0.name == name }) {
                return SharedValueID(scope: scope, position: position)
            }
            guard let next = sharedScope(around: scope) else { return nil }
            scope = next
        }
    }

    /// The next group outwards in which names of `vars` are looked up: from a template its file, and none from a
    /// file. nil for the outermost.
    private func sharedScope(around group: NodeIndex) -> NodeIndex? {
        guard group != .root else { return nil }
        guard let use = use(of: group) else { return nodes[group.row].parent }
        return use.source == .file ? nil : usedFile(around: group)?.group ?? .root
    }

    /// All values that have a name for expressions and scripts inside a group; of two with the same name, the inner
    /// one. Outermost last.
    package func sharedValues(visibleIn group: NodeIndex) -> [SharedValueID] {
        var found: [SharedValueID] = []
        var names: Set<String> = []
        var scope = group
        while true {
            for (position, value) in sharedValues(of: scope).enumerated()
            where value.purpose == .value && names.insert(value.name).inserted {
                found.append(SharedValueID(scope: scope, position: position))
            }
            guard let next = sharedScope(around: scope) else { return found }
            scope = next
        }
    }

    /// Returns the `vars` that the command of a step reads in any case and therefore has as environment variables:
    /// those that its expressions name, except in parts that may be left unevaluated, and those that its script has
    /// as a word; then the copy of the tree that it runs in. O(length of the script times the visible `vars`).
    package func sharedValuesRead(by step: NodeIndex) -> [SharedValueID] {
        let node = nodes[step.row]
        var expressions: [Expression] = []
        if let settings = node.settings {
            for entry in settings.env { expressions += entry.value?.expressions ?? [] }
            expressions += settings.workingDirectory?.expressions ?? []
            expressions += settings.standardInput?.expressions ?? []
        }
        return sharedValuesRead(by: node.body, expressions, in: node.parent) + treesRead(inside: node.parent)
    }

    private func treesRead(inside group: NodeIndex) -> [SharedValueID] { tree(inside: group).map { [$0] } ?? [] }

    /// Returns the same for the command of one of `vars`; its own name does not count as a word that it reads.
    package func sharedValuesRead(by id: SharedValueID) -> [SharedValueID] {
        guard let command = self[id].command else { return [] }
        // A tree is copied from the one around it.
        guard command.purpose != .tree else { return treesRead(inside: nodes[id.scope.row].parent) }
        return sharedValuesRead(by: command.body, [], in: id.scope).filter { $0 != id || !command.body.isScript }
            + treesRead(inside: id.scope)
    }

    /// Returns all that one of `vars` may depend on.
    package func dependencies(of id: SharedValueID) -> [SharedValueID] {
        let named = sharedValues(namedBy: self[id].expressions, in: id.scope)
        return named + sharedValuesRead(by: id).filter { !named.contains($0) }
    }

    private func sharedValuesRead(
        by body: WorkflowNode.Body, _ expressions: [Expression], in scope: NodeIndex
    ) -> [SharedValueID] {
        var expressions = expressions
        if case .arguments(let words) = body { expressions += words.flatMap(\.expressions) }
        var found = sharedValues(in: expressions.flatMap(\.certainReferences), scope)
        guard case .script(let script) = body else { return found }
        let visible = sharedValues(visibleIn: scope)
        guard !visible.isEmpty else { return found }
        let text = script.text(in: file)
        for id in visible where !found.contains(id) && text.hasWord(self[id].name) { found.append(id) }
        return found
    }

    /// Without repetitions, in the order in which the expressions name them.
    package func sharedValues(namedBy expressions: [Expression], in scope: NodeIndex) -> [SharedValueID] {
        sharedValues(in: expressions.flatMap(\.references), scope)
    }

    private func sharedValues(in references: [(root: String, field: String?)], _ scope: NodeIndex) -> [SharedValueID] {
        var found: [SharedValueID] = []
        for case ("vars", let field?) in references {
            if let id = sharedValue(field, in: scope), !found.contains(id) { found.append(id) }
        }
        return found
    }
}

extension Template {
    /// True if an expression in it names `args`.
    fileprivate var readsArguments: Bool { expressions.contains { $0.references.contains { $0.root == "args" } } }

    /// True if an expression in it names one of `vars`.
    package var readsSharedValues: Bool { expressions.contains(where: \.readsSharedValues) }
}

extension Expression {
    /// True if it names one of `vars`.
    package var readsSharedValues: Bool { references.contains { $0.root == "vars" } }
}

extension WorkflowNode.Body {
    fileprivate var isScript: Bool { if case .script = self { true } else { false } }
}
