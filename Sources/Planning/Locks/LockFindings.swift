import Basics
import Syntax
import Workflow

/// Finds mistakes in the locks that a workflow names: pools that are too small, unused or not declared, and mutexes
/// that are named again inside their holder.
struct LockFindings {
    private let workflow: Workflow
    /// The index of each pool by name; the first one of a name counts.
    private let pools: [String: Int]
    private var suggestions = Suggestion()
    /// The mutexes of a group by name, filled on demand.
    private var held: [Int: [String: MutexRequest]] = [:]

    init(_ workflow: Workflow) {
        self.workflow = workflow
        pools = Dictionary(zip(workflow.pools.map(\.name), workflow.pools.indices)) { first, _ in first }
    }

    /// O(rows + pools), plus the depth of each row with a mutex.
    mutating func add(to findings: inout FindingList) {
        addPools(to: &findings)
        let hasHolder = workflow.nodes.indices.contains { row in
            workflow.nodes[row].settings?.mutexes.isEmpty == false && workflow.nodes[row].isGroup
        }
        guard hasHolder else { return }
        for row in workflow.nodes.indices {
            let settings = workflow.nodes[row].settings
            // An interactive step has the mutex of the terminal without naming it.
            var seen: Set<String> = settings?.attributes.isInteractive == true ? [MutexRequest.terminal] : []
            for request in settings?.mutexes ?? [] where seen.insert(request.name).inserted {
                guard let (holder, held) = holder(around: row, of: request.name) else { continue }
                findings.add(.warning) { covered(request, of: row, by: holder, held) }
            }
        }
    }

    private mutating func addPools(to findings: inout FindingList) {
        var isUsed = [Bool](repeating: false, count: workflow.pools.count)
        for row in workflow.nodes.indices {
            guard let requests = workflow.nodes[row].settings?.pools, !requests.isEmpty else { continue }
            var asked: [String: Int] = [:]
            for request in requests {
                guard let index = pools[request.pool] else {
                    findings.add(.error) { unknown(request) }
                    continue
                }
                isUsed[index] = true
                let (sum, overflow) = asked[request.pool, default: 0].addingReportingOverflow(request.units)
                asked[request.pool] = overflow ? Int.max : sum
                guard sum > workflow.pools[index].size || overflow else { continue }
                findings.add(.error) { exceeded(request, units: sum, of: row, workflow.pools[index]) }
            }
        }
        for (pool, isUsed) in zip(workflow.pools, isUsed) where !isUsed {
            findings.add(.warning) {
                Diagnostic(
                    .unusedPool, "no step asks for the pool `\(pool.name)`", in: workflow.file, at: pool.range,
                    severity: .warning,
                    fix: Diagnostic.Fix("add `pool: \(pool.name)` to the steps that share it, or remove it"))
            }
        }
    }

    private mutating func unknown(_ request: PoolRequest) -> Diagnostic {
        let nearest = suggestions.nearest(to: request.pool, among: workflow.pools.lazy.map(\.name))
        guard let pool = nearest.flatMap({ pools[$0] }).map({ workflow.pools[$0] }) else {
            return Diagnostic(
                .unknownPool, "unknown pool `\(request.pool)`", in: workflow.file, at: request.range,
                fix: Diagnostic.Fix("declare it at the top of the file: `pools: { \(request.pool): SIZE }`"))
        }
        return Diagnostic(
            .unknownPool, "unknown pool `\(request.pool)`", in: workflow.file, at: request.range,
            notes: [Diagnostic.Note("did you mean `\(pool.name)`, declared here?", at: pool.range)],
            fix: Diagnostic.Fix(
                "replace `\(request.pool)` by `\(pool.name)`",
                edits: [Diagnostic.Fix.Edit(range: request.range, replacement: pool.name)]))
    }

    private func exceeded(_ request: PoolRequest, units: Int, of row: Int, _ pool: Pool) -> Diagnostic {
        let path = workflow.path(of: NodeIndex(row))
        return Diagnostic(
            .poolExceeded, "`\(path)` asks for \(units) of the pool `\(pool.name)`, so it could never start",
            in: workflow.file, at: request.range,
            notes: [Diagnostic.Note("the pool has \(pool.size)", at: pool.range)],
            fix: Diagnostic.Fix("ask for at most \(pool.size), or make the pool larger"))
    }

    /// Returns the nearest enclosing group that names the mutex, and its request.
    private mutating func holder(around row: Int, of mutex: String) -> (row: Int, request: MutexRequest)? {
        var row = row
        while row != 0 {
            row = workflow.nodes[row].parent.row
            guard let mutexes = workflow.nodes[row].settings?.mutexes, !mutexes.isEmpty else { continue }
            let table = held[row] ?? Dictionary(mutexes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
            held[row] = table
            if let request = table[mutex] { return (row, request) }
        }
        return nil
    }

    private func covered(
        _ request: MutexRequest, of row: Int, by holder: Int, _ held: MutexRequest
    ) -> Diagnostic {
        let path = workflow.path(of: NodeIndex(row))
        let holder = workflow.path(of: NodeIndex(holder))
        return Diagnostic(
            .coveredMutex,
            """
            `\(path)` names the mutex `\(request.name)`, which the group `\(holder)` around it holds for all its \
            members
            """,
            in: workflow.file, at: request.range, severity: .warning,
            notes: [Diagnostic.Note("`\(holder)` holds `\(request.name)` to its end", at: held.range)],
            fix: Diagnostic.Fix(
                "remove `\(request.name)` from `\(path)`, or from `\(holder)` if its members are to exclude each other")
        )
    }
}
