/// Finds the fewest `needs` entries whose removal leaves a component without a cycle.
///
/// That is the minimum feedback arc set, which is NP-hard: the search is exact while its budget lasts, and a component
/// that people write by hand is far below it.
struct CutFinder {
    struct Cut {
        /// Of `ResolvedNeeds.entries`, in file order.
        let entries: [Int]
        /// Whether fewer entries are known not to do.
        let isSmallest: Bool
    }

    private let component: WaitComponent
    private var finder: CycleFinder
    private var removed: [Bool]
    /// Edges that the current branch has decided to keep, so that no set is looked at twice.
    private var isKept: [Bool]
    /// Edges that may still be looked at.
    private(set) var budget: Int
    /// The search calls itself once per entry removed.
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

    /// One edge of every cycle has to go: tries each `needs` edge of a short one.
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
