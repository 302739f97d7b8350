internal import Basics
internal import Planning
internal import Processes
internal import Scheduling
internal import Syntax
internal import Workflow

/// The longest times of an outline's rows besides their timeouts, for its bound.
struct LongestTimes {
    private(set) var costs: OperationCosts
    /// The first of `vars` whose command can run without end.
    private(set) var unlimitedValue: SharedValueID?
    private let outline: Plan

    /// `items` is the number of instances of a fan-out whose items only the run knows; nil for as many as it may have.
    init(_ outline: Plan, items: Int?, known: KnownValues?) {
        self.outline = outline
        costs = OperationCosts(rows: outline.nodes.count)
        for row in outline.rows {
            let parent = outline.parent(of: row)
            if row != .root {
                costs.isLeftOut[row.offset] =
                    costs.isLeftOut[parent.offset] || known?.rulesOut(row, of: outline) == true
                if outline.isDynamicFanOut(parent) {
                    costs.copies[row.offset] = Double(items ?? outline.fanOut(of: parent)?.limit ?? 1)
                }
            }
            if asks(row) { costs.wait[row.offset] = .infinity }
            guard outline.isStep(row), !outline.isMilestone(row) else { continue }
            let drain = ProcessEnding.longestDrain(isDetached: outline.settings(of: row)?.attributes.isDetached == true)
            costs.closing[row.offset] = (outline.grace(of: row) + drain).milliseconds
        }
        addSharedValues()
    }

    /// True if the user is asked before a row starts.
    func asks(_ row: PlanIndex) -> Bool { outline.confirmation(of: row) != nil }

    /// Adds the commands of `vars` that are read. The value of each is made once. A step that waits for it may first
    /// wait for the end of a command that was stopped; a step that is stopped while it waits does not run.
    private mutating func addSharedValues() {
        guard outline.workflow.hasSharedValues else { return }
        let workflow = outline.workflow
        var longest: [SharedValueID: Double] = [:]
        var reads: [NodeIndex: Set<SharedValueID>] = [:]
        var executions: [SharedValueID: Double] = [:]
        let counts = scopeCounts
        for row in outline.rows where !costs.isLeftOut[row.offset] {
            let definition = outline.nodes[row].definition
            let read =
                reads[definition]
                ?? PlanReads(by: definition, of: workflow).sharedValues
                .filter { workflow[$0].command != nil }
            reads[definition] = read
            var sum = 0.0
            var most = 0.0
            for id in read {
                let wait = longest[id] ?? longestWait(for: id)
                longest[id] = wait
                executions[id] = counts[id.scope] ?? 1
                sum += wait
                most = max(most, wait)
                if wait.isInfinite { unlimitedValue = first(unlimitedValue, id) }
            }
            guard sum > 0 else { continue }
            if outline.isInHook(row), let limit = outline.timeout(of: row) {
                costs.closing[row.offset] += min(sum, limit.milliseconds)
            } else if most.isFinite {
                costs.wait[row.offset] = max(costs.wait[row.offset], most)
            }
        }
        for (id, count) in executions { costs.once += (longest[id] ?? 0) * count }
        costs.otherPieces = executions.count
    }

    private func first(_ one: SharedValueID?, _ other: SharedValueID) -> SharedValueID {
        guard let one else { return other }
        return outline.workflow[other].range.start < outline.workflow[one].range.start ? other : one
    }

    private mutating func longestWait(for id: SharedValueID) -> Double {
        let workflow = outline.workflow
        let scope = outline.rows.first { outline.nodes[$0].definition == id.scope && outline.nodes[$0].role != .fanOut }
        let grace = outline.grace(of: scope ?? .root, isInside: true)
        let closing = (grace + ProcessEnding.longestDrain()).milliseconds
        costs.otherClosing = max(costs.otherClosing, closing)
        let timeout =
            (workflow[id].command?.timeout ?? workflow.defaults(for: id.scope, isInside: true)?.timeout)?.duration
        return (timeout?.milliseconds ?? .infinity) + 2 * closing
    }

    /// The number of times that the values of each scope are made: once for each instance of its group, and in the
    /// body of a `uses` also for each round.
    private var scopeCounts: [NodeIndex: Double] {
        var counts: [NodeIndex: Double] = [:]
        var copies = [Double](repeating: 1, count: outline.nodes.count)
        var rounds = copies
        for row in outline.rows {
            if row != .root {
                let parent = outline.parent(of: row)
                copies[row.offset] = copies[parent.offset] * costs.copies[row.offset]
                rounds[row.offset] = rounds[parent.offset]
            }
            guard outline.nodes[row].role == .group || row == .root else { continue }
            rounds[row.offset] *= Double(outline.retry(of: row)?.attempts ?? 1)
            let definition = outline.nodes[row].definition
            let isUsed = outline.workflow.use(around: definition, isInside: true) != nil
            counts[definition, default: 0] += copies[row.offset] * (isUsed ? rounds[row.offset] : 1)
        }
        return counts
    }
}
