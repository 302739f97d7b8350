import FlowrunTestSupport
import WorkflowModel

/// Every order in which a workflow without fan-outs can run, as far as it differs in who holds which mutex: a model of
/// the rules of groups, needs, hooks and mutexes, with nothing of the planner in it.
///
/// Steps run at one moment, because they hold nothing while they wait. What takes no mutex happens at once, because it
/// only lets more happen. Everything else may happen late: there may be too few slots, or the run is paused.
struct LockExplorer {
    private struct Row {
        var parent = 0
        var isGroup = false
        /// What has to have ended before it starts.
        var prerequisites: UInt64 = 0
        var members: UInt64 = 0
        var mutexes: UInt64 = 0
    }

    private struct State: Hashable {
        var started: UInt64 = 1
        var ended: UInt64 = 0
    }

    private var rows: [Row] = []
    /// Mutexes that some group holds.
    private var contested: UInt64 = 0

    static let largestWorkflow = 40

    init(_ workflow: Workflow) {
        precondition(workflow.nodes.count <= Self.largestWorkflow)
        var numbers: [String: Int] = [:]
        for (index, node) in workflow.nodes.enumerated() {
            var row = Row(parent: node.parent.row, isGroup: node.isGroup)
            for need in workflow.needs(of: index) {
                row.prerequisites |= 1 << Self.target(need.name, of: index, workflow)
            }
            let before = workflow.members(of: node.parent).filter { $0.row < index }
            if node.hook != nil {
                for member in before { row.prerequisites |= 1 << member.row }
            } else if workflow[node.parent].settings?.isSequence == true, let last = before.last {
                row.prerequisites |= 1 << last.row
            }
            for member in workflow.members(of: NodeIndex(index)) { row.members |= 1 << member.row }
            for mutex in node.settings?.mutexes ?? [] {
                let number = numbers[mutex.name] ?? numbers.count
                numbers[mutex.name] = number
                row.mutexes |= 1 << number
            }
            if row.isGroup { contested |= row.mutexes }
            rows.append(row)
        }
    }

    private static func target(_ name: String, of row: Int, _ workflow: Workflow) -> Int {
        var scope = row
        while scope != 0 {
            scope = workflow.nodes[scope].parent.row
            for member in workflow.members(of: NodeIndex(scope)) where workflow[member].id == name { return member.row }
        }
        preconditionFailure("nothing is called `\(name)`")
    }

    /// Whether some order ends with everything that is left waiting.
    func canGetStuck() -> Bool {
        var seen: Set<State> = []
        var worklist = [settled(State())]
        while let state = worklist.popLast() {
            guard seen.insert(state).inserted, !has(state.ended, 0) else { continue }
            let choices = rows.indices.filter { canStart($0, state) }
            if choices.isEmpty { return true }
            worklist += choices.map { settled(starting($0, state)) }
        }
        return false
    }

    /// Everything that happens without a choice.
    private func settled(_ state: State) -> State {
        var state = state
        var isMoving = true
        while isMoving {
            isMoving = false
            for index in rows.indices where !has(state.ended, index) {
                if has(state.started, index) {
                    guard rows[index].members & ~state.ended == 0 else { continue }
                    state.ended |= 1 << index
                } else {
                    guard rows[index].mutexes & contested == 0, canStart(index, state) else { continue }
                    state = starting(index, state)
                }
                isMoving = true
            }
        }
        return state
    }

    private func canStart(_ index: Int, _ state: State) -> Bool {
        let row = rows[index]
        guard !has(state.started, index), !has(state.ended, index), has(state.started, row.parent),
            row.prerequisites & ~state.ended == 0
        else { return false }
        let held = rows.indices.reduce(0) { held, other in
            rows[other].isGroup && has(state.started & ~state.ended, other) ? held | rows[other].mutexes : held
        }
        return row.mutexes & held == 0
    }

    private func starting(_ index: Int, _ state: State) -> State {
        var state = state
        if rows[index].isGroup { state.started |= 1 << index } else { state.ended |= 1 << index }
        return state
    }

    private func has(_ set: UInt64, _ index: Int) -> Bool { set & (1 << index) != 0 }
}

extension NodeSketch {
    /// The same with every fan-out written out as a group of its instances.
    var unfolded: NodeSketch {
        var copy = self
        copy.members = members?.map(\.unfolded)
        copy.finally = finally?.map(\.unfolded)
        copy.onFailure = onFailure?.map(\.unfolded)
        guard let values = forEach else { return copy }
        copy.forEach = nil
        copy.needs = []
        let instances = values.map { copy.with(\.id, $0) }
        return NodeSketch.group(id, needs: needs.map(\.name), instances)
    }
}
