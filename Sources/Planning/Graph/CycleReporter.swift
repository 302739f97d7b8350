import Basics
import Scheduling
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
        let component = WaitComponent(vertices, of: graph.waits) { edge, vertex in
            let reason = graph.reason(edge, of: vertex)
            // A group's own start is not shown as a hop.
            return WaitComponent.Traits(removal: reason.need, isHop: reason != .ownStart)
        }
        let cycle = fromFirstNeed(spending { component.shortestCycle(budget: &$0) }, in: component)
            .filter(\.traits.isHop)
        let hops = cycle.map { hop($0, in: component) }

        var notes = told(hops) + sequenceNotes(hops)
        let caught = Set(vertices.map { graph.row(of: Int($0)) }).count - Set(hops.map(\.row)).count
        if caught > 0 {
            let subject = caught == 1 ? "step or group is" : "steps or groups are"
            notes.append(Diagnostic.Note("\(caught) more \(subject) caught in it"))
        }
        let cut = spending { component.smallestCut(budget: &$0) }
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
    private func fromFirstNeed(_ cycle: [Int], in component: WaitComponent) -> [WaitComponent.Edge] {
        let edges = cycle.map { component.edges[$0] }
        let first = edges.indices.min {
            (edges[$0].traits.removal ?? Int.max, $0) < (edges[$1].traits.removal ?? Int.max, $1)
        }
        guard let first else { return [] }
        return Array(edges[first...] + edges[..<first])
    }

    private func hop(_ edge: WaitComponent.Edge, in component: WaitComponent) -> WaitHop {
        let vertex = Int(component.vertices[edge.source])
        let target = graph.row(of: Int(component.vertices[edge.target]))
        let reason = graph.reason(edge.number, of: vertex)
        return WaitHop(reason, of: graph.row(of: vertex), on: target, in: workflow, needs)
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
    private func sequenceNotes(_ hops: [WaitHop]) -> [Diagnostic.Note] {
        let groups = Set(hops.filter { $0.reason == .sequence }.map { workflow.nodes[$0.row].parent.row })
        return groups.sorted().compactMap { group in
            workflow.nodes[group].settings?.orderRange.map {
                let name = group == 0 ? "the workflow" : "`\(workflow.path(of: NodeIndex(group)))`"
                return Diagnostic.Note("\(name) is made a sequence here", at: $0)
            }
        }
    }

    private func cutNotes(_ cut: WaitComponent.Cut) -> [Diagnostic.Note] {
        let count = cut.removals.count
        let size = cut.isSmallest ? "the smallest cut" : "one possible cut"
        var notes = cut.removals.prefix(Self.mostCuts).enumerated().map { index, entry in
            let text = count == 1 ? size : "\(size), \(index + 1) of \(count) entries"
            return Diagnostic.Note("\(text): \(removal(of: entry))", at: need(entry).need.range)
        }
        if count > Self.mostCuts { notes.append(Diagnostic.Note("\(size) has \(count - Self.mostCuts) more entries")) }
        return notes
    }

    private func fix(_ cut: WaitComponent.Cut) -> Diagnostic.Fix? {
        guard let first = cut.removals.first else { return nil }
        if cut.removals.count == 1 { return Diagnostic.Fix(removal(of: first)) }
        let listed = cut.removals.prefix(Self.mostCuts).map(removal).joined(separator: "; ")
        return Diagnostic.Fix(listed + (cut.removals.count > Self.mostCuts ? "; …" : ""))
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
private struct WaitHop {
    let reason: DependencyGraph.Reason
    /// The definition that waits.
    let row: Int
    let message: String
    /// The place that makes it wait.
    let range: SourceRange

    init(_ reason: DependencyGraph.Reason, of row: Int, on target: Int, in workflow: Workflow, _ needs: ResolvedNeeds) {
        let node = workflow.nodes[row]
        let path = workflow.path(of: NodeIndex(row))
        self.reason = reason
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
