/// Finds the fewest `needs` entries whose removal leaves a component without a cycle.
///
/// This is the minimum feedback arc set, which is NP-hard. The search is exact while its budget lasts, and a
/// component written by hand is far below it.
struct CutFinder {
    struct Cut {
        /// Indices of `ResolvedNeeds.entries`, in file order.
        let entries: [Int]
        /// True if it is certain that fewer entries do not suffice.
        let isSmallest: Bool
    }

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

    mutating func find() -> Cut {
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

    private func cut(_ edges: [Int], isSmallest: Bool) -> Cut {
        Cut(entries: edges.compactMap { component.edges[$0].need }.sorted(), isSmallest: isSmallest)
    }

    private enum Answer { case found, impossible, unknown }

    /// Looks for a cut of at most `left` further entries. One edge of every cycle has to go, so it tries each `needs`
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

        let candidates = cycle.filter { component.edges[$0].need != nil && !isKept[$0] }
            .sorted { (component.edges[$0].need ?? 0) < (component.edges[$1].need ?? 0) }
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

/// A set of `needs` edges whose removal leaves no cycle, found in linear time: the edges that lead against an order
/// of all vertices. The order is the postorder of a depth-first search, adjusted where the layout of the file
/// (members and their group, sequences) demands it.
struct GreedyCut {
    private let component: WaitComponent

    init(_ component: WaitComponent) { self.component = component }

    /// Returns the edges of the cut in file order. If the budget lasts to try each, none of them can be spared.
    func edges(budget: inout Int) -> [Int] {
        let everything = postorder(from: Array(component.vertices.indices)) { _ in true }
        let order = postorder(from: everything) { component.edges[$0].need == nil }
        var position = [Int](repeating: 0, count: order.count)
        for (index, vertex) in order.enumerated() { position[vertex] = index }
        var removed = [Bool](repeating: false, count: component.edges.count)
        let cut = component.needEdges.filter {
            position[component.edges[$0].target] >= position[component.edges[$0].source]
        }
        for edge in cut { removed[edge] = true }
        for edge in cut where cut.count > 1 && budget > 0 {
            if !closesCycle(edge, without: removed, budget: &budget) { removed[edge] = false }
        }
        return cut.filter { removed[$0] }
    }

    /// Returns the vertices in the postorder of a depth-first search along the chosen edges.
    private func postorder(from roots: [Int], along isChosen: (Int) -> Bool) -> [Int] {
        var isReached = [Bool](repeating: false, count: component.vertices.count)
        var next = component.starts
        var order: [Int] = []
        var path: [Int] = []
        for root in roots where !isReached[root] {
            isReached[root] = true
            path.append(root)
            while let vertex = path.last {
                guard next[vertex] < component.starts[vertex + 1] else {
                    order.append(vertex)
                    path.removeLast()
                    continue
                }
                let edge = next[vertex]
                next[vertex] += 1
                let target = component.edges[edge].target
                guard isChosen(edge), !isReached[target] else { continue }
                isReached[target] = true
                path.append(target)
            }
        }
        return order
    }

    private func closesCycle(_ edge: Int, without removed: [Bool], budget: inout Int) -> Bool {
        let goal = component.edges[edge].source
        var isReached = [Bool](repeating: false, count: component.vertices.count)
        var worklist = [component.edges[edge].target]
        while let vertex = worklist.popLast() {
            if vertex == goal { return true }
            for index in component.edges(of: vertex) where !removed[index] {
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
