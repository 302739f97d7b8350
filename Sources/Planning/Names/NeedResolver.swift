import Basics
import Syntax
import Workflow

/// Resolves the names in `needs`.
struct NeedResolver {
    let workflow: Workflow
    let names: ScopedNames
    var findings = FindingList()
    /// The first row of every id, built when a name is first not found.
    var rowsByID: [String: Int]?
    var suggestions = Suggestion()
    /// The largest number of visible names considered for a suggestion.
    static let candidateLimit = 20_000

    init(_ workflow: Workflow) {
        self.workflow = workflow
        names = ScopedNames(workflow.nodes)
    }

    mutating func resolve() -> ResolvedNeeds {
        let (nodes, allNeeds) = (workflow.nodes, workflow.needs)
        // Outside of `self`, which the closures mutate; they run only while there is room for a finding.
        var findings = FindingList()
        var resolved = ResolvedNeeds(rows: nodes.count, needs: allNeeds.count)
        var hashes = NameHashes { ByteHash.of(allNeeds[$0].name) }
        // By target: the last row that needed it, which reveals a repeated entry at once.
        var neededBy = [UInt32](repeating: 0, count: nodes.count)
        for row in nodes.indices {
            let first = Int(nodes[row].needs.lowerBound)
            for position in 0..<nodes[row].needs.count {
                let need = first + position
                let hash = hashes.hash(need, of: allNeeds.count)
                let scope = nodes[row].parent.row
                guard let target = names.visible(allNeeds[need].name, hash: hash, from: scope) else {
                    findings.add(.error) { unresolved(allNeeds[need], of: row) }
                    continue
                }
                if neededBy[target] == UInt32(row), row != 0 {
                    findings.add(.warning) { repeated(position, of: row) }
                    continue
                }
                neededBy[target] = UInt32(row)
                resolved.append(ResolvedNeeds.Entry(target: UInt32(target), position: UInt32(position)))
            }
            resolved.closeRow()
        }
        self.findings = findings
        return resolved
    }
}

extension NeedResolver {
    func repeated(_ position: Int, of row: Int) -> Diagnostic {
        let needs = Array(workflow.needs(of: row))
        let need = needs[position]
        return Diagnostic(
            .repeatedDependency, "`\(need.name)` is needed twice", in: workflow.file, at: need.range,
            severity: .warning,
            notes: needs[..<position].first { $0.name == need.name }
                .map { [Diagnostic.Note("the first one is here", at: $0.range)] } ?? [],
            fix: .removingItem(at: need.range, in: workflow.file, "remove the second `\(need.name)`"))
    }

    mutating func unresolved(_ need: Need, of row: Int) -> Diagnostic {
        let scope = workflow.nodes[row].parent.row
        // An id that exists beats a near one: the name is right, and the place is what the user has to learn about.
        let meant = dotted(need.name, from: scope) ?? hook(named: need.name, from: scope) ?? elsewhere(need.name)
        if let inside = meant, isInSameBody(inside, as: row) {
            return acrossHook(need, inside, of: row) ?? insideGroup(need, inside, of: row)
        }
        var notes: [Diagnostic.Note] = []
        var fix: Diagnostic.Fix?
        if let nearest = suggestion(for: need.name, of: row) {
            let node = workflow.nodes[nearest]
            notes = [Diagnostic.Note("did you mean `\(node.id)`, declared here?", at: node.range)]
            fix = replacing(need, with: node.id)
        } else {
            notes = [Diagnostic.Note(accepted(from: scope, except: row))]
        }
        return Diagnostic(
            .unknownDependency, "unknown dependency `\(need.name)`", in: workflow.file, at: need.range, notes: notes,
            fix: fix)
    }

    private func insideGroup(_ need: Need, _ inside: Int, of row: Int) -> Diagnostic {
        let nodes = workflow.nodes
        let scope = nodes[row].parent.row
        var scopes: Set<Int> = [0]
        var enclosing = scope
        while enclosing != 0 {
            scopes.insert(enclosing)
            enclosing = nodes[enclosing].parent.row
        }
        // The outermost group enclosing the target that is a sibling of the row that needs it, or of a group
        // enclosing that row.
        var group = inside
        while !scopes.contains(nodes[group].parent.row) { group = nodes[group].parent.row }

        let message: String
        var fix: Diagnostic.Fix?
        if group == row {
            message = "`\(need.name)` is a member of `\(nodes[row].id)` itself, which starts before its members"
            fix = Diagnostic.Fix("remove `\(need.name)` from the needs of `\(nodes[row].id)`")
        } else if group == inside {
            message = "`\(need.name)` is one copy of the fan-out `\(nodes[group].id)`; `needs` takes the whole"
        } else {
            let path = workflow.path(of: NodeIndex(group))
            message = "`\(need.name)` is inside the group `\(path)`; `needs` takes the group as a whole"
        }
        if group != row, names.visible(nodes[group].id, from: scope) == group {
            fix = replacing(need, with: nodes[group].id)
        }
        return Diagnostic(
            .dependencyInsideGroup, message, in: workflow.file, at: need.range,
            notes: [Diagnostic.Note("`\(nodes[inside].id)` is declared here", at: nodes[inside].range)], fix: fix)
    }

    /// Returns a finding if a hook is between the two: it starts when everything else in its group has ended.
    private func acrossHook(_ need: Need, _ target: Int, of row: Int) -> Diagnostic? {
        let nodes = workflow.nodes
        let message: String
        var notes: [Diagnostic.Note] = []
        if let hook = hook(around: row, without: target) {
            let path = workflow.path(of: NodeIndex(hook))
            message = "`\(need.name)` is outside of `\(path)`, whose steps can need each other only"
            notes = [Diagnostic.Note("everything else has ended when `\(path)` starts", at: nodes[hook].range)]
        } else if let hook = hook(around: target, without: row) {
            let path = workflow.path(of: NodeIndex(hook))
            let name = target == hook ? "`\(path)`" : "`\(need.name)` is in `\(path)`, which"
            message = "\(name) starts when everything else has ended, so nothing outside of it can need it"
            notes = [
                Diagnostic.Note("to run something after it, write a step with `needs` here", at: nodes[hook].range)
            ]
        } else {
            return nil
        }
        return Diagnostic(
            .dependencyAcrossHook, message, in: workflow.file, at: need.range, notes: notes,
            fix: Diagnostic.Fix(
                "remove `\(need.name)` from the needs of `\(workflow.path(of: NodeIndex(row)))`"))
    }

    /// Returns the hook of this name in the group or in an enclosing one.
    private func hook(named name: String, from scope: Int) -> Int? {
        var scope = scope
        while true {
            if let row = names.member(name, of: scope), workflow.nodes[row].hook != nil { return row }
            if scope == 0 { return nil }
            scope = workflow.nodes[scope].parent.row
        }
    }

    /// Returns the outermost hook that encloses a row, or is that row, and does not enclose the other one.
    private func hook(around row: Int, without other: Int) -> Int? {
        var hook: Int?
        var row = row
        while row != 0 {
            let node = workflow.nodes[row]
            if node.hook != nil, other < row || other >= Int(node.subtreeEnd) { hook = row }
            row = node.parent.row
        }
        return hook
    }

    /// True if both rows are in the same body: a name never means anything outside of its own file or template.
    private func isInSameBody(_ other: Int, as row: Int) -> Bool {
        guard !workflow.uses.isEmpty else { return true }
        let (other, own) = (workflow.use(around: NodeIndex(other)), workflow.use(around: NodeIndex(row)))
        return other?.group == own?.group
    }

    private func replacing(_ need: Need, with id: String) -> Diagnostic.Fix {
        // No edit for an alias: the anchored text may be right for its other uses.
        let isAlias = workflow.file.bytes(in: need.range).first == UInt8(ascii: "*")
        let edit = Diagnostic.Fix.Edit(range: need.range, replacement: id)
        return Diagnostic.Fix("replace `\(need.name)` by `\(id)`", edits: isAlias ? [] : [edit])
    }

    /// Returns the row that `group.member`, `group[key]` or `group[key].member` means, seen from a scope.
    private func dotted(_ name: String, from scope: Int) -> Int? {
        var parts = InstancePath(name).parts[...]
        guard parts.count > 1 || parts.first?.key != nil, let first = parts.popFirst() else { return nil }
        var row = names.visible(first.id, from: scope)
        for part in parts { row = row.flatMap { names.member(part.id, of: $0) } }
        return row
    }

    /// Returns the first step or group in the file with this id, visible or not.
    private mutating func elsewhere(_ name: String) -> Int? {
        if let rowsByID { return rowsByID[name] }
        var rows: [String: Int] = [:]
        for (row, node) in workflow.nodes.enumerated().dropFirst() where rows[node.id] == nil { rows[node.id] = row }
        rowsByID = rows
        return rows[name]
    }

    private mutating func suggestion(for name: String, of row: Int) -> Int? {
        guard !suggestions.isSpent else { return nil }
        let scope = workflow.nodes[row].parent.row
        var candidates: [String] = []
        forEachVisible(from: scope) { candidate in
            if isOfUse(candidate, to: row) { candidates.append(workflow.nodes[candidate].id) }
            return candidates.count < Self.candidateLimit
        }
        return suggestions.nearest(to: name, among: candidates).flatMap { names.visible($0, from: scope) }
    }

    /// False for the row itself and its enclosing groups, which cannot have been meant.
    private func isOfUse(_ candidate: Int, to row: Int) -> Bool {
        candidate > row || row >= Int(workflow.nodes[candidate].subtreeEnd)
    }

    private func accepted(from scope: Int, except row: Int) -> String {
        var ids: [String] = []
        var more = false
        forEachVisible(from: scope) { candidate in
            guard isOfUse(candidate, to: row) else { return true }
            more = ids.count == 6
            if !more { ids.append("`\(workflow.nodes[candidate].id)`") }
            return !more
        }
        guard !ids.isEmpty else { return "there is nothing here that it could need" }
        return "`needs` takes siblings of the step or of an enclosing group: "
            + ids.joined(separator: ", ") + (more ? ", …" : "")
    }

    /// Calls the body for the members of the scope and of every enclosing group, innermost first, until it returns
    /// false.
    private func forEachVisible(from scope: Int, _ body: (Int) -> Bool) {
        var scope = scope
        while true {
            var member = scope + 1
            while member < Int(workflow.nodes[scope].subtreeEnd) {
                guard workflow.nodes[member].hook != nil || body(member) else { return }
                member = Int(workflow.nodes[member].subtreeEnd)
            }
            if scope == 0 || workflow.nodes[scope].isClosed { return }
            scope = workflow.nodes[scope].parent.row
        }
    }
}

/// The needs of every definition, as rows: one range of a shared array per row, in file order, without repetitions.
struct ResolvedNeeds {
    struct Entry {
        let target: UInt32
        /// The position of the entry in the `needs` of the node.
        let position: UInt32
    }

    /// `starts[row]..<starts[row + 1]` are the row's entries.
    private(set) var starts: [UInt32] = [0]
    private(set) var entries: [Entry] = []

    init(rows: Int, needs: Int) {
        starts.reserveCapacity(rows + 1)
        entries.reserveCapacity(needs)
    }

    func range(of row: Int) -> Range<Int> { Int(starts[row])..<Int(starts[row + 1]) }

    /// Adds an entry to the row that is still open.
    mutating func append(_ entry: Entry) { entries.append(entry) }

    mutating func closeRow() { starts.append(UInt32(entries.count)) }

    /// True if every row comes after all that it needs, including everything inside. Then the order of the file is
    /// one in which all can run, and there is no cycle. O(rows + needs).
    func followFileOrder(_ nodes: [WorkflowNode]) -> Bool {
        nodes.indices.allSatisfy { row in
            range(of: row).allSatisfy { nodes[Int(entries[$0].target)].subtreeEnd <= UInt32(row) }
        }
    }
}

/// Edits that give a step further needs. There are none if it is uncertain how the text has to be written.
struct NeedEdits {
    private let workflow: Workflow

    init(_ workflow: Workflow) { self.workflow = workflow }

    /// Inserts names after an entry of `needs` that is in brackets.
    func adding(_ names: [String], behind entry: SourceRange) -> [Diagnostic.Fix.Edit] {
        let file = workflow.file.file(at: entry.lowerOffset)
        let rest = file.bytes[(entry.upperOffset - file.start)...].drop { $0 == 0x20 }
        guard rest.first == UInt8(ascii: "]") || rest.first == UInt8(ascii: ",") else { return [] }
        return [insertion(names.map { ", \($0)" }.joined(), at: entry.upperOffset)]
    }

    /// Makes a row need another one; `isDone` accepts any outcome of it.
    func adding(_ name: String, isDone: Bool, to row: Int) -> [Diagnostic.Fix.Edit] {
        if let last = workflow.needs(of: row).last { return isDone ? [] : adding([name], behind: last.range) }
        let key = workflow.nodes[row].range
        let file = workflow.file.file(at: key.lowerOffset)
        let needs = isDone ? "needs: { \(name): done }" : "needs: [\(name)]"
        var rest = file.bytes[(key.upperOffset - file.start)...].drop { $0 == 0x20 }
        guard rest.popFirst() == UInt8(ascii: ":") else { return [] }
        rest = rest.drop { $0 == 0x20 }
        if rest.first == UInt8(ascii: "{") {
            return [insertion(" \(needs),", at: file.start + rest.startIndex + 1)]
        }
        // On the first line below the id, with the same indent.
        guard rest.first == UInt8(ascii: "\n") else { return [] }
        let line = rest.dropFirst()
        let indentation = line.prefix { $0 == 0x20 }
        guard let first = line.dropFirst(indentation.count).first, first != UInt8(ascii: "#"), first > 0x20 else {
            return []
        }
        let blanks = String(repeating: " ", count: indentation.count)
        return [insertion("\(blanks)\(needs)\n", at: file.start + line.startIndex)]
    }

    private func insertion(_ text: String, at offset: Int) -> Diagnostic.Fix.Edit {
        Diagnostic.Fix.Edit(range: SourceRange(offset..<offset), replacement: text)
    }
}
