import Basics
import Syntax
import Workflow

/// Builds the finding for a component in which everything waits for everything else.
struct CycleReporter {
    private let workflow: Workflow
    private let needs: ResolvedNeeds
    private let graph: DependencyGraph

    /// The number of edges that all searches for short cycles and small cuts together may visit, about half a
    /// second's worth: a file full of entangled cycles has to be refused in time, too. One component gets at most an
    /// eighth.
    private var budget = 16_000_000

    /// A longer cycle is cut to its two ends.
    private static let longestTold = 200
    private static let mostNamed = 8
    private static let mostCuts = 10

    init(_ workflow: Workflow, _ needs: ResolvedNeeds, _ graph: DependencyGraph) {
        self.workflow = workflow
        self.needs = needs
        self.graph = graph
    }

    /// Lists every hop of the shortest cycle with its place and reason, then the number of others caught in it, then
    /// the smallest cut.
    mutating func diagnostic(for vertices: [UInt32]) -> Diagnostic {
        let component = WaitComponent(vertices, of: graph)
        var finder = CycleFinder(component)
        let none = [Bool](repeating: false, count: component.edges.count)
        let found = spending { finder.shortest(without: none, budget: &$0) } ?? []
        let cycle = fromFirstNeed(found, in: component).filter { component.edges[$0].reason != .ownStart }
        let hops = cycle.map { hop(component.edges[$0], in: component) }

        var notes = told(hops) + sequenceNotes(cycle, in: component)
        let caught = Set(vertices.map { graph.row(of: Int($0)) }).count - Set(hops.map(\.row)).count
        if caught > 0 {
            let subject = caught == 1 ? "step or group is" : "steps or groups are"
            notes.append(Diagnostic.Note("\(caught) more \(subject) caught in it"))
        }
        let cut = spending { budget in
            var cutFinder = CutFinder(component, budget: budget)
            defer { budget = cutFinder.budget }
            return cutFinder.find()
        }
        notes += cutNotes(cut)
        return Diagnostic(
            .dependencyCycle, message(hops), in: workflow.file, at: hops.first?.range ?? .beginning, notes: notes,
            fix: fix(cut))
    }

    /// Runs a search with its share of the budget and returns the unused part to the budget.
    private mutating func spending<Result>(_ search: (inout Int) -> Result) -> Result {
        let share = max(0, min(budget, 2_000_000))
        var left = share
        defer { budget -= share - left }
        return search(&left)
    }

    /// The cycle rotated to start at the `needs` entry that comes first in the file.
    private func fromFirstNeed(_ cycle: [Int], in component: WaitComponent) -> [Int] {
        let first = cycle.indices.min {
            (component.edges[cycle[$0]].need ?? Int.max, $0) < (component.edges[cycle[$1]].need ?? Int.max, $1)
        }
        guard let first else { return [] }
        return Array(cycle[first...] + cycle[..<first])
    }

    private func hop(_ edge: WaitComponent.Edge, in component: WaitComponent) -> WaitHop {
        let row = graph.row(of: Int(component.vertices[edge.source]))
        let target = graph.row(of: Int(component.vertices[edge.target]))
        return WaitHop(edge.reason, of: row, on: target, in: workflow, needs)
    }

    private func message(_ hops: [WaitHop]) -> String {
        var names: [String] = []
        for hop in hops {
            let name = "`\(workflow.path(of: NodeIndex(hop.row)))`"
            if names.last != name { names.append(name) }
            if names.count > Self.mostNamed { break }
        }
        guard let first = names.first else { return "dependency cycle" }
        if names.count == 1 { return "\(first) waits for itself, so it can never start" }
        if names.count > Self.mostNamed {
            names[Self.mostNamed - 1] = "…"
            names.removeLast()
        }
        return "dependency cycle, which could never finish: " + (names + [first]).joined(separator: " -> ")
    }

    private func told(_ hops: [WaitHop]) -> [Diagnostic.Note] {
        let notes = { (hops: ArraySlice<WaitHop>) in hops.map { Diagnostic.Note($0.message, at: $0.range) } }
        guard hops.count > Self.longestTold else { return notes(hops[...]) }
        let end = Self.longestTold / 2
        return notes(hops.prefix(end)) + [Diagnostic.Note("… and so on for \(hops.count - 2 * end) more hops …")]
            + notes(hops.suffix(end))
    }

    /// Notes on `order: sequence`, one for each group whose order is part of the cycle.
    private func sequenceNotes(_ cycle: [Int], in component: WaitComponent) -> [Diagnostic.Note] {
        var groups: Set<Int> = []
        for index in cycle where component.edges[index].reason == .sequence {
            let member = graph.row(of: Int(component.vertices[component.edges[index].source]))
            groups.insert(workflow.nodes[member].parent.row)
        }
        return groups.sorted().compactMap { group in
            workflow.nodes[group].settings?.orderRange.map {
                let name = group == 0 ? "the workflow" : "`\(workflow.path(of: NodeIndex(group)))`"
                return Diagnostic.Note("\(name) is made a sequence here", at: $0)
            }
        }
    }

    private func cutNotes(_ cut: CutFinder.Cut) -> [Diagnostic.Note] {
        let count = cut.entries.count
        let size = cut.isSmallest ? "the smallest cut" : "one possible cut"
        var notes = cut.entries.prefix(Self.mostCuts).enumerated().map { index, entry in
            let text = count == 1 ? size : "\(size), \(index + 1) of \(count) entries"
            return Diagnostic.Note("\(text): \(removal(of: entry))", at: need(entry).need.range)
        }
        if count > Self.mostCuts { notes.append(Diagnostic.Note("\(size) has \(count - Self.mostCuts) more entries")) }
        return notes
    }

    private func fix(_ cut: CutFinder.Cut) -> Diagnostic.Fix? {
        guard let first = cut.entries.first else { return nil }
        if cut.entries.count == 1 { return Diagnostic.Fix(removal(of: first)) }
        let listed = cut.entries.prefix(Self.mostCuts).map(removal).joined(separator: "; ")
        return Diagnostic.Fix(listed + (cut.entries.count > Self.mostCuts ? "; …" : ""))
    }

    private func removal(of entry: Int) -> String {
        let (row, need) = need(entry)
        return "remove `\(need.name)` from the needs of `\(workflow.path(of: NodeIndex(row)))`"
    }

    private func need(_ entry: Int) -> (row: Int, need: Need) {
        // The last row whose entries start at or before this one.
        let row = needs.starts.partitioningIndex { Int($0) > entry } - 1
        return (row, workflow.need(Int(needs.entries[entry].position), of: row))
    }
}

/// One hop of a cycle: the reason why something waits, in words.
struct WaitHop {
    /// The definition that waits.
    let row: Int
    let message: String
    /// The place that makes it wait.
    let range: SourceRange

    init(_ reason: DependencyGraph.Reason, of row: Int, on target: Int, in workflow: Workflow, _ needs: ResolvedNeeds) {
        let node = workflow.nodes[row]
        let path = workflow.path(of: NodeIndex(row))
        self.row = row
        switch reason {
        case .need(let entry):
            let need = workflow.need(Int(needs.entries[entry].position), of: row)
            message = "`\(path)` needs `\(need.name)`"
            range = need.range
        case .memberEnds:
            let member = workflow.nodes[target]
            message = "`\(path)` ends only when its member `\(member.id)` has ended"
            range = member.range
        case .sequence:
            message = "`\(path)` runs after `\(workflow.nodes[target].id)` because their group is a sequence"
            range = node.range
        case .ownStart:
            message = "`\(path)` ends after its start"
            range = node.range
        }
    }
}

/// One strongly connected component as a graph of its own, its vertices numbered from 0 in ascending order.
struct WaitComponent {
    struct Edge {
        let source: Int
        let target: Int
        let reason: DependencyGraph.Reason

        /// The index in `ResolvedNeeds.entries` of the entry that made the edge; nil if the layout of the file made
        /// it.
        var need: Int? {
            if case .need(let entry) = reason { entry } else { nil }
        }
    }

    /// The numbers of the vertices in the whole graph.
    let vertices: [UInt32]
    /// Sorted by source; edges that leave the component are omitted.
    private(set) var edges: [Edge] = []
    private(set) var starts: [Int] = [0]

    init(_ vertices: [UInt32], of graph: DependencyGraph) {
        self.vertices = vertices
        var local: [UInt32: Int] = [:]
        local.reserveCapacity(vertices.count)
        for (index, vertex) in vertices.enumerated() { local[vertex] = index }
        for (source, vertex) in vertices.enumerated() {
            for edge in graph.edges(of: Int(vertex)) {
                guard let target = local[graph.targets[edge]] else { continue }
                edges.append(Edge(source: source, target: target, reason: graph.reason(edge, of: Int(vertex))))
            }
            starts.append(edges.count)
        }
    }

    func edges(of vertex: Int) -> Range<Int> { starts[vertex]..<starts[vertex + 1] }

    /// The edges that a change of `needs` can remove, in file order.
    var needEdges: [Int] {
        edges.indices.filter { edges[$0].need != nil }.sorted { (edges[$0].need ?? 0) < (edges[$1].need ?? 0) }
    }

    /// True if the component has no cycle without the removed edges. O(V + E).
    func isAcyclic(without removed: [Bool]) -> Bool {
        var waiters = [Int](repeating: 0, count: vertices.count)
        for (index, edge) in edges.enumerated() where !removed[index] { waiters[edge.target] += 1 }
        var free = waiters.indices.filter { waiters[$0] == 0 }
        var count = 0
        while let vertex = free.popLast() {
            count += 1
            for index in edges(of: vertex) where !removed[index] {
                waiters[edges[index].target] -= 1
                if waiters[edges[index].target] == 0 { free.append(edges[index].target) }
            }
        }
        return count == vertices.count
    }
}
