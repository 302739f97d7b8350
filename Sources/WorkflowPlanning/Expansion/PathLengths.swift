/// The longest paths of a plan for given lengths of its steps; groups count nothing themselves.
struct PathLengths {
    /// Per row: the longest path that must be over before it starts.
    private(set) var beforeStart: [Int]
    /// Per row: the same up to its end.
    private(set) var beforeEnd: [Int]
    /// Per row: the longest path from its start to the end of the run, itself included.
    private(set) var remaining: [Int]

    init(_ nodes: [PlanNode], _ edges: [PlanEdge], length: (Int) -> Int) {
        let order = PlanOrder(nodes, edges)
        var beforeStart = [Int](repeating: 0, count: nodes.count)
        var beforeEnd = beforeStart
        for moment in order.moments {
            let row = moment.row
            let parent = Int(nodes[row].parent)
            if !moment.isEnd {
                // What came before a hook is over when the group's other members are, and those have counted already.
                var longest = nodes[row].hook == nil ? beforeStart[parent] : beforeEnd[parent]
                for edge in nodes[row].edgeRange { longest = max(longest, beforeEnd[Int(edges[edge].target)]) }
                beforeStart[row] = longest
                beforeEnd[row] = nodes[row].role == .step ? longest + length(row) : longest
            }
            beforeEnd[parent] = max(beforeEnd[parent], beforeEnd[row])
        }

        var remaining = [Int](repeating: 0, count: nodes.count)
        var afterEnd = remaining
        // Per group with a hook: the path from the start of the first one.
        var hooks: [Int: Int] = [:]
        for moment in order.moments.reversed() {
            let row = moment.row
            let parent = Int(nodes[row].parent)
            if moment.isEnd || nodes[row].role == .step {
                afterEnd[row] = max(afterEnd[row], afterEnd[parent])
                if !hooks.isEmpty, let hook = hooks[parent] { afterEnd[row] = max(afterEnd[row], hook) }
                remaining[row] = afterEnd[row]
            }
            guard !moment.isEnd else { continue }
            if nodes[row].role == .step { remaining[row] += length(row) }
            remaining[parent] = max(remaining[parent], remaining[row])
            if nodes[row].hook != nil { hooks[parent] = remaining[row] }
            for edge in nodes[row].edgeRange {
                let target = Int(edges[edge].target)
                afterEnd[target] = max(afterEnd[target], remaining[row])
            }
        }
        self.beforeStart = beforeStart
        self.beforeEnd = beforeEnd
        self.remaining = remaining
    }
}
