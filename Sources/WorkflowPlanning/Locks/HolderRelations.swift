import WorkflowModel

/// What is known of groups that hold a mutex: what is over when one is active, and which can be active together.
struct HolderRelations {
    private let workflow: Workflow
    private let graph: DependencyGraph
    private let locks: LockTable
    private var overWhenActive: [Int: VertexSet] = [:]

    init(_ workflow: Workflow, _ graph: DependencyGraph, _ locks: LockTable) {
        self.workflow = workflow
        self.graph = graph
        self.locks = locks
    }

    /// Whether the row is inside another one, or is it.
    func isInside(_ row: Int, _ other: Int) -> Bool {
        row >= other && row < Int(workflow.nodes[other].subtreeEnd)
    }

    /// The starts and ends that have come about once the group has started, seen from the copies it stands in: what it
    /// and the groups around it need, and in a hook everything before the hook. O(rows + needs), once for each holder.
    mutating func over(whenActive holder: Int) -> VertexSet {
        if let known = overWhenActive[holder] { return known }
        var set = VertexSet(count: graph.vertexCount)
        var worklist: [Int] = []
        func reach(_ vertex: Int) { if set.insert(vertex) { worklist.append(vertex) } }
        reach(holder)
        while let vertex = worklist.popLast() {
            for edge in graph.edges(of: vertex) { reach(Int(graph.targets[edge])) }
            guard graph.isStart(vertex) else { continue }
            let node = workflow.nodes[vertex]
            reach(node.parent.row)
            guard node.hook != nil else { continue }
            for member in workflow.members(of: node.parent) where member.row < vertex {
                reach(graph.end(of: member.row))
            }
        }
        overWhenActive[holder] = set
        return set
    }

    /// Whether both can hold their mutexes at the same moment. Needs that come about at the same time whatever their
    /// kind and conditions count as they stand.
    mutating func canBeActiveTogether(_ first: Int, _ second: Int) -> Bool {
        let common = innermostCommon(first, second)
        let mutexes = mutexesHeld(from: first, inside: common)
        guard mutexes.isDisjoint(with: mutexesHeld(from: second, inside: common)) else { return false }
        if canBeInDifferentCopies(first, second) { return true }
        return !over(whenActive: first).contains(graph.end(of: second))
            && !over(whenActive: second).contains(graph.end(of: first))
    }

    /// Whether both can be active in different instances of a fan-out around both, which share nothing but what that
    /// fan-out needs. Not so where something around both, inside the instance, holds a mutex.
    func canBeInDifferentCopies(_ first: Int, _ second: Int) -> Bool {
        var row = innermostCommon(first, second)
        while row != 0 {
            if locks.wishesByRow[row] != nil { return false }
            if hasSeveralInstances(row) { return true }
            row = workflow.nodes[row].parent.row
        }
        return false
    }

    /// Whether a row that one holder waits for may lie in another instance than an active holder. Where all three lie in
    /// one fan-out, the row is in the waiting holder's instance.
    func canBeInOtherCopy(_ row: Int, waitedForBy waiting: Int, than active: Int) -> Bool {
        var outermost: Int?
        var around = innermostCommon(row, active)
        while around != 0 {
            if hasSeveralInstances(around) { outermost = around }
            around = workflow.nodes[around].parent.row
        }
        guard let outermost else { return false }
        if !isInside(waiting, outermost) { return true }
        return waiting != active && canBeInDifferentCopies(waiting, active)
    }

    /// The innermost fan-out whose instances two holders are in that are ordered inside of one instance.
    mutating func instancesNeeded(_ first: Int, _ second: Int) -> Int? {
        guard canBeInDifferentCopies(first, second),
            over(whenActive: first).contains(graph.end(of: second))
                || over(whenActive: second).contains(graph.end(of: first))
        else { return nil }
        var row = innermostCommon(first, second)
        while !hasSeveralInstances(row) { row = workflow.nodes[row].parent.row }
        return row
    }

    /// The innermost row that both are or are inside of.
    private func innermostCommon(_ first: Int, _ second: Int) -> Int {
        var row = first
        while !isInside(second, row) { row = workflow.nodes[row].parent.row }
        return row
    }

    /// The mutexes of a row and the groups around it, up to and without one of them.
    private func mutexesHeld(from row: Int, inside common: Int) -> Set<Int> {
        var mutexes: Set<Int> = []
        var row = row
        while row != common {
            for wish in locks.wishesByRow[row] ?? [] { mutexes.insert(wish.mutex) }
            row = workflow.nodes[row].parent.row
        }
        return mutexes
    }

    /// Whether a row is a fan-out of which more than one instance can be in progress.
    private func hasSeveralInstances(_ row: Int) -> Bool {
        guard let settings = workflow.nodes[row].settings, let fanOut = settings.fanOut else { return false }
        return (fanOut.isDynamic ? fanOut.limit : fanOut.instances.count) > 1 && settings.maxParallel != 1
    }
}
