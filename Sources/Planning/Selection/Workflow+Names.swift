import Syntax
import Workflow

// The meaning of names of steps and groups before there are rows.
extension Workflow {
    /// True if any step or group runs only when it is named. O(definitions).
    package var hasManual: Bool { nodes.indices.contains { nodes[$0].settings?.isManual == true } }

    /// The path of the definition that a full id means, without the instances in it: `build.compile` for
    /// `build[x86_64].compile`; nil if it means nothing.
    package func path(ofStepNamed name: String) -> String? { definition(named: name).map(path) }

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
