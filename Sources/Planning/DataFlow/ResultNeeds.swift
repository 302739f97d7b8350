import Scheduling
import Workflow

/// The needs of every row, including the previous member of a sequence, and the facts that a met need implies about
/// its target.
struct ResultNeeds {
    struct Edge {
        let target: UInt32
        /// The facts that are certain about the target when the row starts with its needs met.
        let facts: ResultFacts
        /// True if the target's own needs were met, too.
        let isMet: Bool
    }

    private struct Traits: OptionSet {
        let rawValue: UInt8
        static let conditional = Traits(rawValue: 1)
        static let hasFailure = Traits(rawValue: 2)
        static let hasSuccess = Traits(rawValue: 4)
        /// A condition with a status function decides, whatever the outcome of plain needs.
        static let waitsForAll = Traits(rawValue: 8)
        static let mayBeSkipped = Traits(rawValue: 16)
        static let tolerant = Traits(rawValue: 32)
        /// A fan-out that is skipped if the conditions of all its instances are false.
        static let decidesByCopies = Traits(rawValue: 64)
        static let hasEdgeKinds: Traits = [.hasFailure, .hasSuccess]
    }

    let rowCount: Int
    private let workflow: Workflow
    private let needs: ResolvedNeeds
    private var traits: [Traits]
    /// The previous member of each row in its group; 0 for the first.
    private let before: [UInt32]
    private var starts: [UInt32] = [0]
    /// The edges of a row, sorted by target.
    private var edges: [Edge] = []

    /// O(rows + needs), plus the sorting of each row's needs.
    init(_ workflow: Workflow, _ needs: ResolvedNeeds) {
        self.workflow = workflow
        self.needs = needs
        rowCount = workflow.nodes.count
        before = Self.membersBefore(workflow)
        traits = workflow.nodes.indices.map { Self.traits(of: $0, in: workflow) }
        for row in 0..<rowCount where mayBeSkipped(row) { traits[row].insert(.mayBeSkipped) }
        starts.reserveCapacity(rowCount + 1)
        edges.reserveCapacity(needs.entries.count)
        for row in 0..<rowCount {
            let first = edges.count
            appendEdges(of: row)
            edges[first...].sort { $0.target < $1.target }
            starts.append(UInt32(edges.count))
        }
    }

    /// True if every row comes after the rows that it needs.
    var followFileOrder: Bool { (0..<rowCount).allSatisfy { row in edges(of: row).allSatisfy { $0.target < row } } }

    /// Returns the rows in an order in which each comes after those that it needs, without rows that wait for
    /// themselves and those that need one. O(rows + needs).
    func awaitedFirst() -> [UInt32] {
        WaitForGraph(starts: starts, targets: edges.map(\.target)).reversed().waitersFirst()
    }

    func edges(of row: Int) -> ArraySlice<Edge> { edges[Int(starts[row])..<Int(starts[row + 1])] }

    /// Returns the facts about a target that follow from a row's own needs when it starts; empty if the row does not
    /// need it. O(log(needs)).
    func facts(about target: Int, when row: Int) -> ResultFacts {
        let edges = edges(of: row)
        var (low, high) = (edges.startIndex, edges.endIndex)
        while low < high {
            let middle = (low + high) / 2
            if Int(edges[middle].target) < target { low = middle + 1 } else { high = middle }
        }
        return low < edges.endIndex && Int(edges[low].target) == target ? edges[low].facts : []
    }

    /// The previous member in a group with `order: sequence`; nil for the first one and in other groups.
    func predecessor(of row: Int) -> Int? {
        let parent = workflow.nodes[row].parent.row
        guard row != 0, before[row] != 0, workflow.nodes[parent].settings?.isSequence == true else { return nil }
        return Int(before[row])
    }

    /// True if a row can end only after another has. Subtracts the visited rows from `limit`, and returns false once
    /// that is used up.
    func waits(_ row: Int, for other: Int, limit: inout Int) -> Bool {
        var seen: Set<Int> = []
        var open = [row]
        while let next = open.popLast() {
            guard !seen.contains(next) else { continue }
            // A group ends after everything in it.
            for inner in next..<Int(workflow.nodes[next].subtreeEnd) where seen.insert(inner).inserted {
                if inner == other { return true }
                limit -= 1
                guard limit > 0 else { return false }
                open += edges(of: inner).map { Int($0.target) }
            }
        }
        return false
    }

    /// Adds the facts implied by a good end of a row that cannot be skipped: it has started and, unless its failure
    /// is tolerated, succeeded.
    func concluded(_ facts: ResultFacts, about row: Int) -> ResultFacts {
        guard facts.contains(.endedWell), !traits[row].contains(.mayBeSkipped) else { return facts }
        return facts.union(traits[row].contains(.tolerant) ? .started : [.started, .succeeded])
    }

    /// Returns the rows that may not run in a group that succeeds: they need the success of something whose failure
    /// is tolerated, or need such a row. O(rows + needs).
    func rowsThatMayBeRuledOut() -> Set<Int> {
        var worklist = (0..<rowCount).filter { row in
            traits[row].contains(.hasSuccess)
                && needs.range(of: row).contains {
                    kind(of: $0, in: row) == .success && isTolerated(needs.entries[$0])
                }
        }
        guard !worklist.isEmpty else { return [] }
        var dependents: [Int: [Int]] = [:]
        for row in 0..<rowCount {
            for entry in needs.range(of: row) where kind(of: entry, in: row) != .done {
                dependents[Int(needs.entries[entry].target), default: []].append(row)
            }
            if let predecessor = impliedNeed(of: row) { dependents[predecessor, default: []].append(row) }
        }
        var found: Set<Int> = []
        while let row = worklist.popLast() {
            if found.insert(row).inserted { worklist += dependents[row] ?? [] }
        }
        return found
    }

    // MARK: making the edges

    private static func membersBefore(_ workflow: Workflow) -> [UInt32] {
        var before = [UInt32](repeating: 0, count: workflow.nodes.count)
        var last = before
        for row in workflow.nodes.indices.dropFirst() where workflow.nodes[row].hook == nil {
            let parent = workflow.nodes[row].parent.row
            before[row] = last[parent]
            last[parent] = UInt32(row)
        }
        return before
    }

    private static func traits(of row: Int, in workflow: Workflow) -> Traits {
        var traits: Traits = []
        for need in workflow.needs(of: row) {
            if need.kind == .failure { traits.insert(.hasFailure) }
            if need.kind == .success { traits.insert(.hasSuccess) }
        }
        guard let settings = workflow.nodes[row].settings else { return traits }
        // If the condition belongs to the instances, the fan-out itself runs in any case.
        if settings.condition != nil && settings.fanOut?.decidesCopies != true || settings.keys.contains(.platforms) {
            traits.insert(.conditional)
        }
        if settings.condition?.usesStatus == true { traits.insert(.waitsForAll) }
        if settings.continueOnError { traits.insert(.tolerant) }
        if settings.fanOut?.decidesCopies == true { traits.insert(.decidesByCopies) }
        return traits
    }

    private func mayBeSkipped(_ row: Int) -> Bool {
        if !traits[row].isDisjoint(with: [.conditional, .hasFailure]) { return true }
        // If a row that has to succeed is skipped, this one is skipped as well.
        return traits[row].contains(.hasSuccess)
            && needs.range(of: row).contains { entry in
                kind(of: entry, in: row) == .success
                    && !traits[Int(needs.entries[entry].target)].isDisjoint(with: [
                        .conditional, .hasEdgeKinds, .decidesByCopies,
                    ])
            }
    }

    /// A status function in the condition replaces plain needs, but not those with an explicit kind.
    private mutating func appendEdges(of row: Int) {
        let arePlainMet = !traits[row].contains(.waitsForAll)
        for entry in needs.range(of: row) {
            let kind = kind(of: entry, in: row)
            append(kind, isMet: arePlainMet || kind != .ok, to: Int(needs.entries[entry].target))
        }
        if let predecessor = impliedNeed(of: row) { append(.ok, isMet: arePlainMet, to: predecessor) }
    }

    private mutating func append(_ kind: Need.Kind, isMet: Bool, to target: Int) {
        let facts = concluded(isMet ? ResultFacts(kind) : .ended, about: target)
        let isSkippedWithNeeds = facts.contains(.endedWell) && traits[target].isDisjoint(with: .hasEdgeKinds)
        let areItsMet = facts.contains(.started) || isSkippedWithNeeds && !traits[target].contains(.waitsForAll)
        edges.append(Edge(target: UInt32(target), facts: facts, isMet: areItsMet))
    }

    /// The previous member of a sequence, unless an entry of `needs` names it and its kind.
    private func impliedNeed(of row: Int) -> Int? {
        guard let predecessor = predecessor(of: row) else { return nil }
        return needs.range(of: row).contains { Int(needs.entries[$0].target) == predecessor } ? nil : predecessor
    }

    private func kind(of entry: Int, in row: Int) -> Need.Kind {
        workflow.need(Int(needs.entries[entry].position), of: row).kind
    }

    /// True if the failure of the target is tolerated. Not for a fan-out: it tolerates the failure of each instance,
    /// and the whole succeeds.
    private func isTolerated(_ need: ResolvedNeeds.Entry) -> Bool {
        guard let settings = workflow.nodes[Int(need.target)].settings else { return false }
        return settings.continueOnError && settings.fanOut == nil
    }
}
