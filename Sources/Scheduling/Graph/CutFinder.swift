/// Finds the fewest removable edges without which a component has no cycle.
///
/// This is the minimum feedback arc set, which is NP-hard. The search is exact while its budget lasts, and a
/// component written by hand is far below it.
struct CutFinder {
    private let component: WaitComponent
    private var finder: CycleFinder
    private var removed: [Bool]
    /// Edges that the current branch has decided to keep, so that no set is tried twice.
    private var isKept: [Bool]
    /// The number of edges that may still be visited.
    private(set) var budget: Int
    /// The limit of the recursion: the search calls itself once per removed entry.
    private static let deepestSearch = 12

    init(_ component: WaitComponent, budget: Int) {
        self.component = component
        self.budget = budget
        finder = CycleFinder(component)
        removed = [Bool](repeating: false, count: component.edges.count)
        isKept = removed
    }

    mutating func find() -> WaitComponent.Cut {
        let greedy = GreedyCut(component).edges(budget: &budget)
        var isSmallest = greedy.count == 1
        deepening: for size in 1..<max(greedy.count, 1) {
            guard size <= Self.deepestSearch, budget > 0 else { break }
            switch search(size) {
            case .found: return cut(component.edges.indices.filter { removed[$0] }, isSmallest: true)
            case .impossible: isSmallest = size + 1 == greedy.count
            case .unknown: break deepening
            }
        }
        return cut(greedy, isSmallest: isSmallest)
    }

    private func cut(_ edges: [Int], isSmallest: Bool) -> WaitComponent.Cut {
        WaitComponent.Cut(
            removals: edges.compactMap { component.edges[$0].traits.removal }.sorted(), isSmallest: isSmallest)
    }

    private enum Answer { case found, impossible, unknown }

    /// Looks for a cut of at most `left` further entries. One edge of every cycle has to go, so it tries each removable
    /// edge of a short one.
    private mutating func search(_ left: Int) -> Answer {
        budget -= component.edges.count
        if component.isAcyclic(without: removed) { return .found }
        guard left > 0 else { return .impossible }
        guard budget > 0 else { return .unknown }
        var share = min(budget, 8 * component.edges.count)
        let allotted = share
        guard let cycle = finder.shortest(without: removed, budget: &share) else { return .found }
        budget -= allotted - share

        let candidates = component.ranked(
            cycle.filter { component.edges[$0].traits.removal != nil && !isKept[$0] })
        defer { for edge in candidates { isKept[edge] = false } }
        for edge in candidates {
            removed[edge] = true
            let answer = search(left - 1)
            if answer == .found { return .found }
            removed[edge] = false
            if answer == .unknown { return .unknown }
            isKept[edge] = true
        }
        return .impossible
    }
}

/// A set of removable edges without which there is no cycle, found in linear time: those that lead against an order of
/// all vertices. The order is the postorder of a depth-first search, adjusted where the edges that cannot be removed
/// demand it.
private struct GreedyCut {
    private let component: WaitComponent

    init(_ component: WaitComponent) { self.component = component }

    /// Returns the edges of the cut by rank. If the budget lasts to try each, none of them can be spared.
    func edges(budget: inout Int) -> [Int] {
        let everything = component.waits.postorder(from: component.vertices.indices)
        let order = component.waits.postorder(from: everything) { component.edges[$0].traits.removal == nil }
        var position = [Int](repeating: 0, count: order.count)
        for (index, vertex) in order.enumerated() { position[vertex] = index }
        var removed = [Bool](repeating: false, count: component.edges.count)
        let cut = component.removable.filter {
            position[component.edges[$0].target] >= position[component.edges[$0].source]
        }
        for edge in cut { removed[edge] = true }
        for edge in cut where cut.count > 1 && budget > 0 {
            if !closesCycle(edge, without: removed, budget: &budget) { removed[edge] = false }
        }
        return cut.filter { removed[$0] }
    }

    private func closesCycle(_ edge: Int, without removed: [Bool], budget: inout Int) -> Bool {
        let goal = component.edges[edge].source
        var isReached = [Bool](repeating: false, count: component.vertices.count)
        var worklist = [component.edges[edge].target]
        while let vertex = worklist.popLast() {
            if vertex == goal { return true }
            for index in component.waits.edges(of: vertex) where !removed[index] {
                budget -= 1
                let target = component.edges[index].target
                if !isReached[target] {
                    isReached[target] = true
                    worklist.append(target)
                }
            }
        }
        return false
    }
}
