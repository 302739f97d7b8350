/// The moments of a plan, each after everything it waits for: the start of a row, and the end of a group or fan-out. A
/// step has one moment for both.
struct PlanOrder {
    struct Moment {
        private let value: UInt32

        static func start(_ row: Int) -> Moment { Moment(value: UInt32(row) * 2) }
        static func end(_ row: Int) -> Moment { Moment(value: UInt32(row) * 2 + 1) }

        var row: Int { Int(value / 2) }
        var isEnd: Bool { value % 2 == 1 }
        var index: Int { Int(value) }
    }

    private(set) var moments: [Moment] = []

    /// O(rows + edges), by a depth-first search with its own stack.
    init(_ nodes: [PlanNode], _ edges: [PlanEdge]) {
        moments.reserveCapacity(nodes.count)
        var isReached = [Bool](repeating: false, count: nodes.count * 2)
        var path: [(moment: Moment, next: Int)] = []

        func enter(_ moment: Moment) {
            guard !isReached[moment.index] else { return }
            isReached[moment.index] = true
            // At an end, `next` is its own row and then member after member; at a start, an edge and then the parent. A
            // hook has no edges: it starts after each member before it.
            let node = nodes[moment.row]
            path.append(
                (moment, moment.isEnd ? moment.row : node.hook == nil ? Int(node.edgeStart) : Int(node.parent) + 1))
        }
        func endMoment(of row: Int) -> Moment { nodes[row].role == .step ? .start(row) : .end(row) }

        enter(.end(0))
        while let (moment, next) = path.last {
            let row = moment.row
            let isDone: Bool
            if moment.isEnd {
                isDone = next >= Int(nodes[row].subtreeEnd)
                if !isDone {
                    path[path.count - 1].next = next == row ? row + 1 : Int(nodes[next].subtreeEnd)
                    enter(next == row ? .start(row) : endMoment(of: next))
                }
            } else if nodes[row].hook != nil {
                isDone = next > row
                if !isDone {
                    path[path.count - 1].next = next == row ? row + 1 : Int(nodes[next].subtreeEnd)
                    enter(next == row ? .start(Int(nodes[row].parent)) : endMoment(of: next))
                }
            } else {
                let edgeEnd = Int(nodes[row].edgeEnd)
                isDone = next > edgeEnd
                if !isDone {
                    path[path.count - 1].next = next + 1
                    enter(next < edgeEnd ? endMoment(of: Int(edges[next].target)) : .start(Int(nodes[row].parent)))
                }
            }
            if isDone {
                moments.append(moment)
                path.removeLast()
            }
        }
    }
}
