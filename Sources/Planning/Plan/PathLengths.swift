internal import BasicContainers

/// The longest paths of a plan for given lengths of its steps; groups have no length of their own.
struct PathLengths {
    /// Per row: the longest path that must have ended before it starts.
    private(set) var beforeStart: [Int]
    /// Per row: the same up to its end.
    private(set) var beforeEnd: [Int]
    /// Per row: the longest path from its start to the end of the run, itself included.
    private(set) var remaining: [Int]

    init(_ nodes: [PlanNode], _ edges: [PlanEdge], length: (PlanIndex) -> Int) {
        let order = PlanOrder(nodes, edges)
        var beforeStart = [Int](repeating: 0, count: nodes.count)
        var beforeEnd = beforeStart
        for index in 0..<order.moments.count {
            let moment = order.moments[index]
            let row = moment.row
            let parent = nodes[row].parent
            if !moment.isEnd {
                // Everything before a hook has ended when the group's other members have, and those are included
                // already.
                var longest = nodes[row].hook == nil ? beforeStart[parent] : beforeEnd[parent]
                for edge in nodes[row].edgeRange { longest = max(longest, beforeEnd[edges[edge].target]) }
                beforeStart[row] = longest
                beforeEnd[row] = nodes[row].role == .step ? longest + length(row) : longest
            }
            beforeEnd[parent] = max(beforeEnd[parent], beforeEnd[row])
        }

        var remaining = [Int](repeating: 0, count: nodes.count)
        var afterEnd = remaining
        // Per group with a hook: the path from the start of the first one.
        var hooks: [PlanIndex: Int] = [:]
        for index in (0..<order.moments.count).reversed() {
            let moment = order.moments[index]
            let row = moment.row
            let parent = nodes[row].parent
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
                let target = edges[edge].target
                afterEnd[target] = max(afterEnd[target], remaining[row])
            }
        }
        self.beforeStart = beforeStart
        self.beforeEnd = beforeEnd
        self.remaining = remaining
    }
}

/// The moments of a plan, each after everything it waits for: the start of every row, and the end of every group or
/// fan-out. A step has one moment for both.
struct PlanOrder: ~Copyable {
    struct Moment {
        private let value: UInt32

        static func start(_ row: PlanIndex) -> Moment { Moment(value: row.value * 2) }
        static func end(_ row: PlanIndex) -> Moment { Moment(value: row.value * 2 + 1) }

        var row: PlanIndex { PlanIndex(Int(value / 2)) }
        var isEnd: Bool { value % 2 == 1 }
        var index: Int { Int(value) }
    }

    private(set) var moments = UniqueArray<Moment>()

    /// O(rows + edges). Uses a depth-first search with its own stack if the order of the rows is not valid.
    init(_ nodes: [PlanNode], _ edges: [PlanEdge]) {
        moments.reserveCapacity(nodes.count)
        let rows = .root..<nodes[.root].subtreeEnd
        let areSorted = rows.allSatisfy { row in
            nodes[row].edgeRange.allSatisfy { nodes[edges[$0].target].subtreeEnd <= row }
        }
        guard !areSorted else {
            appendInOrder(nodes, rows)
            return
        }
        var isReached = [Bool](repeating: false, count: nodes.count * 2)
        // `next` counts rows, or the edges of a start.
        var path: [(moment: Moment, next: Int)] = []

        func enter(_ moment: Moment) {
            guard !isReached[moment.index] else { return }
            isReached[moment.index] = true
            // At an end, `next` is its own row and then member after member; at a start, an edge and then the parent. A
            // hook has no edges: it starts after each member before it.
            let node = nodes[moment.row]
            let first = moment.isEnd ? moment.row : node.parent.next
            path.append((moment, moment.isEnd || node.hook != nil ? first.offset : Int(node.edgeStart)))
        }
        func endMoment(of row: PlanIndex) -> Moment { nodes[row].role == .step ? .start(row) : .end(row) }

        enter(.end(.root))
        while let (moment, next) = path.last {
            let row = moment.row
            let isDone: Bool
            if moment.isEnd || nodes[row].hook != nil {
                let member = PlanIndex(next)
                isDone = moment.isEnd ? member >= nodes[row].subtreeEnd : member > row
                if !isDone {
                    path[path.count - 1].next = (member == row ? row.next : nodes[member].subtreeEnd).offset
                    enter(member != row ? endMoment(of: member) : .start(moment.isEnd ? row : nodes[row].parent))
                }
            } else {
                let edgeEnd = Int(nodes[row].edgeEnd)
                isDone = next > edgeEnd
                if !isDone {
                    path[path.count - 1].next = next + 1
                    enter(next < edgeEnd ? endMoment(of: edges[next].target) : .start(nodes[row].parent))
                }
            }
            if isDone {
                moments.append(moment)
                path.removeLast()
            }
        }
    }
}

extension PlanOrder {
    /// Appends all rows in their order, if none waits for a later one; hooks come after everything that they wait
    /// for.
    private mutating func appendInOrder(_ nodes: [PlanNode], _ rows: Range<PlanIndex>) {
        var open: [PlanIndex] = []
        func close(before row: PlanIndex) {
            while let last = open.last, nodes[last].subtreeEnd <= row {
                moments.append(.end(last))
                open.removeLast()
            }
        }
        for row in rows {
            close(before: row)
            moments.append(.start(row))
            if nodes[row].role != .step { open.append(row) }
        }
        close(before: rows.upperBound)
    }
}

extension Plan {
    /// Returns the rows of a longest chain of steps, each waiting for the one before. The lengths of steps are at
    /// least 1; without them, every step takes equally long. Of several chains, it is the one whose steps come first
    /// in the file, compared from the last step backwards. Empty for a plan without steps.
    package func criticalPath(byLength length: (PlanIndex) -> Int = { _ in 1 }) -> [PlanIndex] {
        let lengths = PathLengths(nodes, edges, length: length)
        var left = lengths.beforeEnd[.root]
        guard var step = step(in: .root, endingAt: left, lengths) else { return [] }
        var path = [step]
        while left > length(step) {
            left -= length(step)
            guard let before = lastStep(before: step, endingAt: left, lengths) else { break }
            path.append(before)
            step = before
        }
        return path.reversed()
    }

    /// Returns the sum of lengths along the longest chain of steps. O(rows + edges).
    package func longestPath(length: (PlanIndex) -> Int) -> Int {
        PathLengths(nodes, edges, length: length).beforeEnd[.root]
    }

    /// Returns the first step in a subtree for which the longest path up to its end has exactly this length.
    private func step(in row: PlanIndex, endingAt length: Int, _ lengths: PathLengths) -> PlanIndex? {
        (row..<nodes[row].subtreeEnd).first { nodes[$0].role == .step && lengths.beforeEnd[$0] == length }
    }

    /// Returns a step that ends at the given length, and that the start of the row waits for: by an edge of its own
    /// or of an enclosing group, directly or through groups without steps.
    private func lastStep(before row: PlanIndex, endingAt length: Int, _ lengths: PathLengths) -> PlanIndex? {
        var seen: Set<PlanIndex> = [row]
        var worklist = [row]
        while let waiting = worklist.popLast() {
            for target in prerequisites(of: waiting) where lengths.beforeEnd[target] == length {
                if let step = step(in: target, endingAt: length, lengths) { return step }
                if seen.insert(target).inserted { worklist.append(target) }
            }
            let parent = nodes[waiting].parent
            if lengths.beforeStart[parent] == length, seen.insert(parent).inserted { worklist.append(parent) }
        }
        return nil
    }

    /// The rows that a row waits for itself: its needs or, for a hook, all previous members of its group.
    private func prerequisites(of row: PlanIndex) -> [PlanIndex] {
        guard nodes[row].hook != nil else { return edges(of: row).map { $0.target } }
        return members(of: nodes[row].parent).filter { $0 < row }
    }
}
