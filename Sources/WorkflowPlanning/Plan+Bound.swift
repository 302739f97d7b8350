import SourceDiagnostics
import WorkflowModel

/// How long a run can take at most, as far as its timeouts tell.
package enum RunBound: Sendable, Hashable {
    case atMost(Duration)
    /// The reason says what can go on without end.
    case none(reason: String)
}

extension Plan {
    /// The worst case with so many steps at once: every step takes its whole timeout and then its whole grace, in every
    /// attempt and every round of a retried group, and all hooks run. A fan-out whose items only the run knows counts
    /// with `items` instances, nil for as many as it may have.
    ///
    /// With L the longest chain and W the sum of all steps, a scheduler that never lets a slot idle beside a ready step
    /// ends within L + (W - L) / jobs (Graham, Bounds on multiprocessing timing anomalies, 1969), delays between
    /// attempts included: a step that waits for its next attempt goes on like one that runs. A `max-parallel` inside
    /// the workflow, a pool or a mutex breaks the premise; then only W is sure. While a group waits for its next round
    /// nothing of it goes on, so that these delays come on top; and so do the commands of `vars`, during which nothing
    /// else may be ready. One that is stopped with the step that waits for it, and started again for another, has taken
    /// time of that step, which then does not run. The workflow's own timeout, and what its hooks and those of the groups in it take after it, is a
    /// bound as well.
    package func bound(jobs: Int, items: Int? = nil) -> RunBound {
        let outline = self.outline
        let lengths = StepLengths(outline, items: items)
        let whole = timeout(of: .root).map {
            $0.milliseconds + lengths.longestGrace + lengths.hooks + lengths.sharedValues
        }
        if whole == nil, let unlimited = lengths.unlimited {
            let node = outline.nodes[unlimited]
            return .none(reason: "`\(node.id)` at \(outline.place(of: unlimited)) has no `timeout`")
        }
        if whole == nil, let unlimited = lengths.unlimitedValue {
            let (file, line) = workflow.place(of: unlimited)
            return .none(reason: "`vars.\(workflow[unlimited].name)` at \(file):\(line) has no `timeout`")
        }
        let isLimited = lengths.unlimited == nil && lengths.unlimitedValue == nil
        var bound = isLimited ? lengths.steps + lengths.delays + lengths.sharedValues : Double.infinity
        // Beyond that, milliseconds are no longer exact.
        let exact = 9e15
        if bound < exact, !mayIdle {
            let slots = max(1, min(jobs, maxParallel(of: .root) ?? jobs))
            let sum = Int(lengths.steps)
            let longest = outline.longestPath { Int(lengths.byRow[$0]) }
            bound = Double(longest + (sum - longest + slots - 1) / slots) + lengths.delays + lengths.sharedValues
        }
        bound = min(bound, whole ?? bound)
        guard bound < exact else {
            return .none(reason: "retries and fan-outs add up to more than can be counted")
        }
        return .atMost(.milliseconds(Int(bound.rounded(.up))))
    }

    /// `FILE:LINE` of a row's definition.
    package func place(of row: PlanIndex) -> String { "\(file(of: row)):\(line(of: row))" }

    /// The name of the file that has a row's definition.
    package func file(of row: PlanIndex) -> String {
        workflow.file.file(at: workflow.range(of: nodes[row].definition).lowerOffset).name
    }

    /// The line of a row's definition.
    package func line(of row: PlanIndex) -> Int {
        workflow.file.line(at: workflow[nodes[row].definition].range.lowerOffset)
    }

    /// Whether a slot may stay free although a step is ready.
    private var mayIdle: Bool {
        workflow.nodes.dropFirst().contains { node in
            guard let settings = node.settings else { return false }
            return settings.maxParallel != nil || !settings.pools.isEmpty || !settings.mutexes.isEmpty
        }
    }
}

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
    /// The commands of `vars` that steps may wait for, each once for each copy of its group; in a body that is used,
    /// also once for each round.
    private(set) var sharedValues = 0.0
    /// The first step that can go on without end.
    private(set) var unlimited: PlanIndex?
    /// The first of `vars` whose command can.
    private(set) var unlimitedValue: SharedValueID?

    /// What a group makes of the time that something in it takes: so many times as long, but at most so long.
    private struct Surroundings {
        var rounds = 1.0
        var limit = Double.infinity

        func total(_ length: Double) -> Double { min(length * rounds, limit) }
    }

    init(_ outline: Plan, items: Int?) {
        let nodes = outline.nodes
        let graces = nodes.rows.map { outline.grace(of: $0).milliseconds }
        longestGrace = graces.max() ?? 0
        byRow = [Double](repeating: 0, count: nodes.count)
        // How many rows of the run a row represents.
        var copies = [Double](repeating: 1, count: nodes.count)
        var isInHook = [Bool](repeating: false, count: nodes.count)
        var surroundings = [Surroundings](repeating: Surroundings(), count: nodes.count)
        let read =
            outline.workflow.hasSharedValues ? PlanReads(outline, known: .none, wanted: []).sharedValues : []
        add(read, of: outline, at: .root, copies: 1, graces[.root])
        for row in nodes.rows.dropFirst() {
            let parent = nodes[row].parent
            copies[row] = copies[parent]
            if outline.isDynamicFanOut(parent) {
                copies[row] *= Double(items ?? outline.fanOut(of: parent)?.limit ?? 1)
            }
            isInHook[row] = isInHook[parent] || nodes[row].hook != nil
            let around = surroundings[parent]
            let timeout = outline.timeout(of: row).map { $0.milliseconds + graces[row] }
            let retry = outline.retry(of: row)
            guard nodes[row].role == .step else {
                surroundings[row] = inside(nodes[row], around, timeout: outline.timeout(of: row), retry)
                if nodes[row].role == .group {
                    let isUsed = outline.workflow.use(around: nodes[row].definition, isInside: true) != nil
                    add(
                        read, of: outline, at: row, copies: copies[row] * (isUsed ? surroundings[row].rounds : 1),
                        graces[row])
                }
                guard let retry else { continue }
                let delays = (retry.delays * around.rounds * copies[row]).rounded(.up)
                self.delays += delays
                if isInHook[row] { hooks += delays }
                continue
            }
            if outline.isMilestone(row) { continue }
            var length = timeout ?? .infinity
            if let retry {
                length = length * Double(retry.attempts) + retry.delays
                if let deadline = retry.deadline { length = min(length, deadline.duration.milliseconds + graces[row]) }
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

    /// The commands of a group's `vars`, as far as something reads them.
    private mutating func add(
        _ read: Set<SharedValueID>, of outline: Plan, at group: PlanIndex, copies: Double, _ grace: Double
    ) {
        guard !read.isEmpty else { return }
        let scope = outline.nodes[group].definition
        for (position, value) in outline.workflow.sharedValues(of: scope).enumerated() {
            let id = SharedValueID(scope: scope, position: position)
            guard let command = value.command, read.contains(id) else { continue }
            if let timeout = command.timeout?.duration ?? outline.workflow.defaults(for: scope, isInside: true).timeout
            {
                sharedValues += (timeout.milliseconds + grace) * copies
            } else {
                unlimitedValue = unlimitedValue ?? id
            }
        }
    }

    /// What holds inside a group or fan-out. A group's limits reach its body; its hooks go on beyond them, however
    /// often it is tried.
    private func inside(
        _ node: PlanNode, _ around: Surroundings, timeout: Duration?, _ retry: Retry?
    ) -> Surroundings {
        if node.hook != nil { return Surroundings(rounds: around.rounds) }
        let attempts = Double(retry?.attempts ?? 1)
        var own = Surroundings(rounds: around.rounds * attempts, limit: around.limit)
        if let timeout {
            own.limit = min(own.limit, (timeout.milliseconds + longestGrace) * attempts * around.rounds)
        }
        return own
    }
}

extension Retry {
    /// All delays together, in milliseconds, without what is left to chance: that makes them shorter.
    fileprivate var delays: Double {
        guard delay > .zero, attempts > 1 else { return 0 }
        // Finite, so that a long time differs from no limit at all, and too long to be counted all the same.
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
