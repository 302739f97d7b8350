/// A set of `needs` edges whose removal leaves no cycle, found in linear time: what leads against an order of all
/// vertices. The order is the one in which a depth-first search leaves them, bent where the layout of the file (members
/// and their group, sequences) demands it.
struct GreedyCut {
    private let component: WaitComponent

    init(_ component: WaitComponent) { self.component = component }

    /// Edges in file order. None of them can be left out alone, if the budget lasts to try that for each.
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

    /// Vertices in the order in which a depth-first search along the chosen edges leaves them.
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
