import Syntax
import Workflow

/// Finds mistakes in `vars`: values that read each other in a cycle or in too long a chain, and names that are in use
/// for something else.
struct SharedValueFindings {
    let workflow: Workflow
    private var declared: DeclaredNames
    private var findings = FindingList()
    /// The length of the chain of reads from each value examined so far, itself included. A read that closes a cycle
    /// does not count, because the cycle has its own finding.
    private var depths: [SharedValueID: Int] = [:]
    /// True if a chain is too long to be followed by any other check.
    private(set) var isTooDeep = false
    /// The largest length of a chain.
    private static let depthLimit = 64

    init(workflow: Workflow) {
        self.workflow = workflow
        declared = DeclaredNames(workflow)
    }

    mutating func add(to list: inout FindingList) {
        guard workflow.hasSharedValues else { return }
        for row in workflow.nodes.indices where workflow.nodes[row].isGroup {
            let scope = NodeIndex(row)
            for (position, value) in workflow.sharedValues(of: scope).enumerated() {
                checkName(value, of: scope)
                search(from: SharedValueID(scope: scope, position: position))
            }
        }
        list.append(findings)
    }

    /// Reports a name that is in use for something else: a step has all of these in its environment.
    private mutating func checkName(_ value: SharedValue, of scope: NodeIndex) {
        let other: (what: String, range: SourceRange)?
        if let parameter = declared.parameter(value.name, of: workflow.use(around: scope, isInside: true)) {
            other = ("a parameter", parameter.range)
        } else if let secret = declared.secret(value.name) {
            other = ("a secret", secret)
        } else if let fanOut = workflow.settings(of: scope)?.fanOut, fanOut.axes.contains(value.name) {
            other = ("the variable of a fan-out", fanOut.range)
        } else {
            other = nil
        }
        guard let other else { return }
        let file = workflow.file
        findings.add(.error) {
            Diagnostic(
                .conflictingKeys, "`\(value.name)` is one of `vars` and \(other.what)", in: file, at: value.range,
                notes: [.init("the other one is declared here", at: other.range)], fix: .init("rename one of the two"))
        }
    }

    /// Follows the reads, depth first, without recursion.
    private mutating func search(from start: SharedValueID) {
        guard depths[start] == nil else { return }
        var path = [(id: start, rest: workflow.dependencies(of: start)[...], depth: 1)]
        while let last = path.indices.last {
            guard let next = path[last].rest.popFirst() else {
                let (id, _, depth) = path.removeLast()
                depths[id] = depth
                if depth > Self.depthLimit { reportDepth(of: id) }
                if let reader = path.indices.last { path[reader].depth = max(path[reader].depth, depth + 1) }
                continue
            }
            if let first = path.firstIndex(where: { $0.id == next }) {
                report(path[first...].map(\.id))
                for hop in path[first...] { depths[hop.id] = 1 }
            } else if let depth = depths[next] {
                path[last].depth = max(path[last].depth, depth + 1)
            } else {
                path.append((next, workflow.dependencies(of: next)[...], 1))
            }
        }
    }

    private mutating func reportDepth(of id: SharedValueID) {
        guard !isTooDeep else { return }
        isTooDeep = true
        let (file, place) = (workflow.file, workflow[id].range)
        findings.add(.error) {
            Diagnostic(
                .fanOutTooLarge, "more than \(Self.depthLimit) of `vars` follow from one another", in: file, at: place,
                fix: .init("let one command make several of them, as `type: json`"))
        }
    }

    private mutating func report(_ ring: [SharedValueID]) {
        let names = ring.map { "`vars.\(workflow[$0].name)`" }
        let hops = ring.indices.dropFirst().map { hop in
            Diagnostic.Note(read(ring, from: hop), at: workflow[ring[hop]].range)
        }
        let (file, place) = (workflow.file, workflow[ring[0]].range)
        let notes = [Diagnostic.Note(read(ring, from: 0))] + hops
        findings.add(.error) {
            Diagnostic(
                .sharedValueCycle,
                "`vars` that read each other: \((names + names.prefix(1)).joined(separator: " -> "))", in: file,
                at: place, notes: notes, fix: .init("give one of them a value that does not depend on the others"))
        }
    }

    private func read(_ ring: [SharedValueID], from hop: Int) -> String {
        let (reader, other) = (workflow[ring[hop]], workflow[ring[(hop + 1) % ring.count]])
        let isNamed = workflow.sharedValues(namedBy: reader.expressions, in: ring[hop].scope)
            .contains(ring[(hop + 1) % ring.count])
        return isNamed
            ? "`vars.\(reader.name)` reads `vars.\(other.name)`"
            : "the script of `vars.\(reader.name)` has the word `\(other.name)`"
    }
}
