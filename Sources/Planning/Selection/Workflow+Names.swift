import Syntax
package import Workflow

// The meaning of names of steps and groups before there are rows.
extension Workflow {
    /// True if any step or group runs only when it is named. O(definitions).
    package var hasManual: Bool { nodes.indices.contains { nodes[$0].settings?.isManual == true } }

    /// The path of the definition that a full id means, without the instances in it: `build.compile` for
    /// `build[x86_64].compile`; nil if it means nothing.
    package func path(ofStepNamed name: String) -> String? { definition(named: name).map(path) }

    /// True if the command line cannot name a step or group: it, or a group around it, is `internal`. O(depth).
    package func isInternal(_ node: NodeIndex) -> Bool {
        guard namingKeys.contains(.internal) else { return false }
        var node = node
        while node != .root {
            if settings(of: node)?.isInternal == true { return true }
            node = nodes[node.row].parent
        }
        return false
    }

    /// Returns the full id that a name of the command line means, with ids in place of aliases; what means nothing is
    /// unchanged.
    package func withoutAliases(_ name: String) -> String {
        guard namingKeys.contains(.aliases) else { return name }
        var parts: [InstancePath.Part] = []
        var group = NodeIndex.root
        let search = EachMember(workflow: self)
        for part in InstancePath(name).parts {
            let aliased = members(of: group).first { settings(of: $0)?.aliases.contains { $0.name == part.id } == true }
            guard let member = search.member(part.id, of: group) ?? aliased else { return name }
            parts.append(InstancePath.Part(id: nodes[member.row].id, key: part.key))
            group = member
        }
        return InstancePath(parts: parts).text
    }

    /// True if the command line can name such a step or group, not in another one.
    package func hasMember(named id: String) -> Bool {
        members(of: .root).contains { nodes[$0.row].id == id && !isInternal($0) }
    }

    /// Returns the definition that a full id means; nil if it means nothing. An instance that only the run knows is
    /// assumed to exist. `scope` is the group in which the id is resolved.
    func definition(
        named name: String, in scope: NodeIndex = .root, by search: inout some MemberSearch
    ) -> NodeIndex? {
        var group = scope
        for part in InstancePath(name).parts {
            guard let member = search.member(part.id, of: group) else { return nil }
            if let key = part.key {
                guard let fanOut = settings(of: member)?.fanOut else { return nil }
                guard fanOut.isDynamic || search.hasInstance(key, of: member) else { return nil }
            }
            group = member
        }
        return group == scope ? nil : group
    }

    /// Returns the path of a fan-out of which a name means one instance, or something inside of one, although only
    /// the run knows the instances; nil for any other name.
    func instanceOfDynamicFanOut(
        in name: String, of scope: NodeIndex = .root, by search: inout some MemberSearch
    ) -> String? {
        var path: [String] = []
        var dynamic: String?
        var group = scope
        for part in InstancePath(name).parts {
            guard let member = search.member(part.id, of: group) else { return nil }
            path.append(part.id)
            if dynamic == nil, settings(of: member)?.fanOut?.isDynamic == true { dynamic = path.joined(separator: ".") }
            if let dynamic, part.key != nil { return dynamic }
            group = member
        }
        return nil
    }

    /// Variant for a single name.
    func definition(named name: String, in scope: NodeIndex = .root) -> NodeIndex? {
        var search = EachMember(workflow: self)
        return definition(named: name, in: scope, by: &search)
    }

    func instanceOfDynamicFanOut(in name: String, of scope: NodeIndex = .root) -> String? {
        var search = EachMember(workflow: self)
        return instanceOfDynamicFanOut(in: name, of: scope, by: &search)
    }

    /// Returns the id that was probably meant by one that means nothing; `rows` give more to choose from.
    func suggestion(for name: String, orAmong rows: [PlanNode] = []) -> String? {
        let definitions = nodes.indices.dropFirst()
        if let row = definitions.first(where: { nodes[$0].id == name }) { return path(of: NodeIndex(row)) }
        // Enough to help in files written by hand, and fast for generated ones.
        let paths = definitions.prefix(20_000).map { path(of: NodeIndex($0)) }
        return Suggestion.nearest(to: name, among: paths + rows.dropFirst().prefix(20_000).map(\.id))
    }
}

/// Finds the members that the parts of a full id name.
protocol MemberSearch {
    mutating func member(_ id: String, of group: NodeIndex) -> NodeIndex?
    mutating func hasInstance(_ key: String, of fanOut: NodeIndex) -> Bool
}

/// Searches the members one by one, for a name or two.
private struct EachMember: MemberSearch {
    let workflow: Workflow

    func member(_ id: String, of group: NodeIndex) -> NodeIndex? {
        workflow.members(of: group).first { workflow.nodes[$0.row].id == id }
    }

    func hasInstance(_ key: String, of fanOut: NodeIndex) -> Bool {
        workflow.settings(of: fanOut)?.fanOut?.instances.contains { $0.key == key } == true
    }
}

/// The words of a command line that choose what runs.
package struct StepWords {
    /// The full ids, in the order of the command line.
    package let steps: [String]
    /// One sentence for each word that must not be there.
    package private(set) var mistakes: [String] = []

    package init(_ words: [String], in workflow: Workflow) {
        guard !workflow.namingKeys.isEmpty else {
            steps = words
            return
        }
        steps = words.map(workflow.withoutAliases)
        for (word, step) in zip(words, steps) {
            guard let node = workflow.definition(named: step), workflow.isInternal(node) else { continue }
            mistakes.append("`\(word)` is internal and cannot be named; name a step that needs it")
        }
    }
}
