import SourceDiagnostics
import WorkflowModel

/// Words for a component in which everything waits for everything else.
struct CycleReporter {
    private let workflow: Workflow
    private let needs: ResolvedNeeds
    private let graph: DependencyGraph

    /// Edges that all searches for short cycles and small cuts together may look at, about half a second's worth: a file
    /// of nothing but knots is to be refused in time too. One component gets at most an eighth of it.
    private var budget = 16_000_000

    /// Longer cycles are told by their two ends.
    private static let longestTold = 200
    private static let mostNamed = 8
    private static let mostCuts = 10

    init(_ workflow: Workflow, _ needs: ResolvedNeeds, _ graph: DependencyGraph) {
        self.workflow = workflow
        self.needs = needs
        self.graph = graph
    }

    /// Every hop of the shortest cycle with its place and its reason, then what else is caught, then the smallest cut.
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

    /// Gives a search its part of the budget and takes back what it leaves.
    private mutating func spending<Result>(_ search: (inout Int) -> Result) -> Result {
        let share = max(0, min(budget, 2_000_000))
        var left = share
        defer { budget -= share - left }
        return search(&left)
    }

    /// The cycle turned so that it starts at the `needs` entry that comes first in the file.
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

    /// Where `order: sequence` stands, once for each group whose order is part of the cycle.
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
        var low = 0
        var high = needs.starts.count - 1
        while high - low > 1 {
            let middle = (low + high) / 2
            if Int(needs.starts[middle]) <= entry { low = middle } else { high = middle }
        }
        return (low, workflow.need(Int(needs.entries[entry].position), of: low))
    }
}
