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
            let member =
                search.member(part.id, of: group)
                ?? members(of: group).first { settings(of: $0)?.aliases.contains { $0.name == part.id } == true }
            guard let member else { return name }
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

/// The words of a command line that choose what runs: steps and groups, and behind a step with `params` their values.
///
/// A value is the next word, for the first parameter that has none yet, or `NAME=VALUE`. A word that is a value and
/// could be a step as well is refused, so that a new step never changes what a command line means.
package struct StepWords {
    package struct Given: Sendable {
        package let name: String
        package let text: String

        package init(name: String, text: String) { (self.name, self.text) = (name, text) }
    }

    /// The full ids, in the order of the command line.
    package private(set) var steps: [String] = []
    /// The values for parameters of the workflow.
    package private(set) var ofWorkflow: [Given] = []
    /// One sentence for each word that must not be there.
    package private(set) var mistakes: [String] = []
    private let workflow: Workflow
    private var ofSteps: [NodeIndex: [Given]] = [:]
    /// The last step, with its name as it is written.
    private var open: (node: NodeIndex, word: String)?
    private var called: Set<NodeIndex> = []

    /// `given` are the values of `--param`, whose names are `NAME` or `STEP.NAME`. O(words × members of their groups).
    package init(_ words: [String], given: [Given] = [], in workflow: Workflow) {
        self.workflow = workflow
        guard !workflow.namingKeys.isEmpty else {
            (steps, ofWorkflow) = (words, given)
            return
        }
        for given in given { take(given) }
        for word in words { take(word) }
    }

    /// The values for the parameters of one step.
    package func given(for step: NodeIndex) -> [(name: String, text: String)] {
        (ofSteps[step] ?? []).map { ($0.name, $0.text) }
    }

    /// The parameters of the last step that have no value yet; empty for a step without any.
    package var openParameters: [Parameter] {
        guard let (step, _) = open else { return [] }
        let given = Set((ofSteps[step] ?? []).map(\.name))
        return parameters(of: step).filter { !given.contains($0.name) }
    }

    private mutating func take(_ given: Given) {
        guard let dot = given.name.lastIndex(of: ".") else { return takeForWorkflow(given) }
        let (step, name) = (String(given.name[..<dot]), String(given.name[given.name.index(after: dot)...]))
        guard let node = node(named: step) else {
            let near = workflow.suggestion(for: step).map { "; did you mean `\($0)`?" } ?? ""
            return mistakes.append("--param \(given.name)=\(given.text): there is no step `\(step)`" + near)
        }
        add(name, given.text, to: node, named: step)
    }

    private mutating func takeForWorkflow(_ given: Given) {
        let isKnown = workflow.parameters.contains { $0.name == given.name }
        let owner =
            isKnown
            ? nil
            : workflow.nodes.indices.first { row in
                workflow.settings(of: NodeIndex(row))?.parameters.contains { $0.name == given.name } == true
            }
        guard let owner else { return ofWorkflow.append(given) }
        let id = workflow.path(of: NodeIndex(owner))
        mistakes.append(
            """
            --param \(given.name)=\(given.text): the workflow has no parameter of this name, but `\(id)` has: write \
            --param \(id).\(given.name)=\(given.text)
            """)
    }

    private mutating func take(_ word: String) {
        let node = node(named: word)
        if let (step, name) = open, isValue(word, of: step, named: name, node) { return }
        let step = workflow.withoutAliases(word)
        steps.append(step)
        open = nil
        guard let node else { return }
        if workflow.isInternal(node) {
            mistakes.append("`\(word)` is internal and cannot be named; name a step that needs it")
        }
        guard !parameters(of: node).isEmpty else { return }
        open = (node, word)
        if !called.insert(node).inserted {
            mistakes.append("`\(word)` is named twice: a step runs once, with one value for each of its parameters")
        }
    }

    /// Takes a word as a value of the step before it; returns false if it is not one.
    private mutating func isValue(_ word: String, of step: NodeIndex, named name: String, _ node: NodeIndex?) -> Bool {
        if let equals = word.firstIndex(of: "="), node == nil, VariableName.isValid(String(word[..<equals])) {
            add(String(word[..<equals]), String(word[word.index(after: equals)...]), to: step, named: name)
            return true
        }
        guard let parameter = openParameters.first else {
            guard node == nil else { return false }
            let count = parameters(of: step).count
            mistakes.append(
                "`\(word)` is no step, and `\(name)` takes no more than \(count == 1 ? "one value" : "\(count) values")"
            )
            return true
        }
        if let node {
            guard (try? parameter.value(from: word)) != nil else { return false }
            let asValue = "`\(name) \(parameter.name)=\(word)` for the value"
            let asStep =
                parameters(of: node).isEmpty
                ? ", `\(word) \(name)` for both steps"
                : "; for both steps, give `\(name)` each of its values as NAME=VALUE in front of `\(word)`"
            mistakes.append(
                "`\(word)` is a step and could be the value of `\(parameter.name)`: write \(asValue)\(asStep)")
        }
        ofSteps[step, default: []].append(Given(name: parameter.name, text: word))
        return true
    }

    private mutating func add(_ name: String, _ text: String, to step: NodeIndex, named word: String) {
        let names = parameters(of: step).map(\.name)
        guard !names.contains(name) else { return ofSteps[step, default: []].append(Given(name: name, text: text)) }
        let near = Suggestion.nearest(to: name, among: names).map { "; did you mean `\($0)`?" }
        mistakes.append(
            "`\(word)` has no parameter `\(name)`"
                + (near ?? (names.isEmpty ? "" : ", only \(Phrase.alternatives(names))")))
    }

    private func node(named word: String) -> NodeIndex? {
        workflow.definition(named: workflow.withoutAliases(word))
    }

    private func parameters(of node: NodeIndex) -> [Parameter] { workflow.settings(of: node)?.parameters ?? [] }
}
