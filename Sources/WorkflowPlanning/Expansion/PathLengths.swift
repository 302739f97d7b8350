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

extension Plan {
    /// The rows of a longest chain of steps, each waiting for the one before, when every step takes equally long; of
    /// several, the one whose steps come first in the file, from the last step backwards. Empty for a plan without steps.
    package func criticalPath() -> [Int] {
        let lengths = PathLengths(nodes, edges) { _ in 1 }
        var left = lengths.beforeEnd[0]
        guard var step = step(in: 0, endingAt: left, lengths) else { return [] }
        var path = [step]
        while left > 1 {
            left -= 1
            guard let before = lastStep(before: step, endingAt: left, lengths) else { break }
            path.append(before)
            step = before
        }
        return path.reversed()
    }

    /// The sum of lengths along the longest chain of steps. O(rows + edges).
    package func longestPath(length: (Int) -> Int) -> Int {
        PathLengths(nodes, edges, length: length).beforeEnd[0]
    }

    /// The first step in a subtree up to whose end the longest path is exactly so long.
    private func step(in row: Int, endingAt length: Int, _ lengths: PathLengths) -> Int? {
        (row..<Int(nodes[row].subtreeEnd)).first { nodes[$0].role == .step && lengths.beforeEnd[$0] == length }
    }

    /// A step that ends at the length given, and that the start of the row waits for: by an edge of its own or of a group
    /// around it, directly or through groups without steps.
    private func lastStep(before row: Int, endingAt length: Int, _ lengths: PathLengths) -> Int? {
        var seen: Set<Int> = [row]
        var worklist = [row]
        while let waiting = worklist.popLast() {
            for target in prerequisites(of: waiting) where lengths.beforeEnd[target] == length {
                if let step = step(in: target, endingAt: length, lengths) { return step }
                if seen.insert(target).inserted { worklist.append(target) }
            }
            let parent = Int(nodes[waiting].parent)
            if lengths.beforeStart[parent] == length, seen.insert(parent).inserted { worklist.append(parent) }
        }
        return nil
    }

    /// What a row waits for itself: its needs, or as a hook everything before it in its group.
    private func prerequisites(of row: Int) -> [Int] {
        guard nodes[row].hook != nil else { return edges(of: row).map { Int($0.target) } }
        return members(of: Int(nodes[row].parent)).filter { $0 < row }
    }
}
