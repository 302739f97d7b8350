import WorkflowModel

/// How long the steps of an outline can take at most, in milliseconds, all attempts and rounds together.
struct StepLengths {
    /// By row; 0 for groups and for a step without a limit.
    private(set) var byRow: [Double]
    /// All steps, with the instances that only the run knows.
    private(set) var steps = 0.0
    /// The part of `steps` and `delays` that is in hooks.
    private(set) var hooks = 0.0
    /// Between the rounds of retried groups.
    private(set) var delays = 0.0
    private(set) var longestGrace = 0.0
    /// The first step that can go on for ever.
    private(set) var unlimited: Int?

    /// What a group makes of the time that something in it takes: so many times as long, but at most so long.
    private struct Surroundings {
        var rounds = 1.0
        var limit = Double.infinity

        func total(_ length: Double) -> Double { min(length * rounds, limit) }
    }

    init(_ outline: Plan, items: Int?) {
        let workflow = outline.workflow
        let graces = Self.graces(workflow)
        longestGrace = graces.max() ?? 0
        let surroundings = Self.surroundings(workflow, grace: longestGrace)
        byRow = [Double](repeating: 0, count: outline.nodes.count)
        // How many rows of the run a row stands for.
        var copies = [Double](repeating: 1, count: outline.nodes.count)
        var isInHook = [Bool](repeating: false, count: outline.nodes.count)
        for row in outline.nodes.indices.dropFirst() {
            let node = outline.nodes[row]
            let parent = Int(node.parent)
            copies[row] = copies[parent]
            if outline.isDynamicFanOut(parent) {
                let limit = workflow.settings(of: outline.nodes[parent].definition)?.fanOut?.limit ?? 1
                copies[row] *= Double(items ?? limit)
            }
            isInHook[row] = isInHook[parent] || node.hook != nil
            let around = surroundings[workflow[node.definition].parent.row]
            let settings = workflow.settings(of: node.definition)
            guard node.role == .step else {
                if node.role == .group, let retry = settings?.retry {
                    let delays = (retry.delays * around.rounds * copies[row]).rounded(.up)
                    self.delays += delays
                    if isInHook[row] { hooks += delays }
                }
                continue
            }
            var length = Double.infinity
            let timeout = settings?.timeout?.duration ?? workflow.defaults.timeout
            let grace = graces[node.definition.row]
            if let timeout = timeout ?? (isInHook[row] ? Defaults.hookTimeout : nil) {
                length = timeout.milliseconds + grace
            }
            if let retry = settings?.retry ?? workflow.defaults.retry {
                length = length * Double(retry.attempts) + retry.delays
                if let deadline = retry.deadline { length = min(length, deadline.duration.milliseconds + grace) }
            }
            length = around.total(length).rounded(.up)
            guard length.isFinite else {
                unlimited = unlimited ?? row
                continue
            }
            byRow[row] = length
            steps += length * copies[row]
            if isInHook[row] { hooks += length * copies[row] }
        }
    }

    /// By definition of a group. A group's limits reach its body; its hooks go on beyond them, however often it is tried.
    private static func surroundings(_ workflow: Workflow, grace: Double) -> [Surroundings] {
        var all = [Surroundings](repeating: Surroundings(), count: workflow.nodes.count)
        for row in workflow.nodes.indices.dropFirst() {
            let node = workflow.nodes[row]
            guard node.isGroup else { continue }
            let around = all[node.parent.row]
            if node.hook != nil {
                all[row] = Surroundings(rounds: around.rounds)
                continue
            }
            var own = Surroundings(rounds: around.rounds, limit: around.limit)
            let retry = node.settings?.retry
            let attempts = Double(retry?.attempts ?? 1)
            if let timeout = node.settings?.timeout {
                own.limit = min(own.limit, (timeout.duration.milliseconds + grace) * attempts * around.rounds)
            }
            own.rounds *= attempts
            all[row] = own
        }
        return all
    }

    private static func graces(_ workflow: Workflow) -> [Double] {
        var graces = [Double](
            repeating: (workflow.defaults.grace ?? Defaults.grace).milliseconds, count: workflow.nodes.count)
        for row in workflow.nodes.indices.dropFirst() {
            let node = workflow.nodes[row]
            graces[row] = node.settings?.grace?.milliseconds ?? graces[node.parent.row]
        }
        return graces
    }
}

extension Retry {
    /// All delays together, in milliseconds, without what is left to chance: that makes them shorter.
    fileprivate var delays: Double {
        guard delay > .zero, attempts > 1 else { return 0 }
        // Finite, so that a long time is told from no limit at all, and too long to be counted all the same.
        let longest = min(maxDelay?.milliseconds ?? 1e18, 1e18)
        var sum = 0.0
        var next = delay.milliseconds
        for left in stride(from: attempts - 1, to: 0, by: -1) {
            if next >= longest || backoff == 1 { return sum + min(next, longest) * Double(left) }
            sum += next
            next *= backoff
        }
        return sum
    }
}

extension Duration {
    /// Rounded up.
    var milliseconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) * 1000 + Double((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
