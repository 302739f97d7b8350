import SourceDiagnostics
import WorkflowModel

/// What is wrong with the locks of a workflow by itself, whoever runs at the same time: pools that are too small or that
/// nobody declares, and mutexes wanted again inside their holder.
struct LockFindings {
    private let workflow: Workflow
    private let locks: LockTable

    init(_ workflow: Workflow, _ locks: LockTable) {
        self.workflow = workflow
        self.locks = locks
    }

    func add(to findings: inout FindingList) {
        addPools(to: &findings)
        for wish in locks.wishes {
            guard let held = heldAround(wish) else { continue }
            findings.add(.error) { wantedAgain(wish, held) }
        }
    }

    private func addPools(to findings: inout FindingList) {
        var isUsed = [Bool](repeating: false, count: workflow.pools.count)
        for row in locks.poolUsers {
            var asked: [String: Int] = [:]
            for request in workflow.nodes[row].settings?.pools ?? [] {
                guard let index = workflow.pools.firstIndex(where: { $0.name == request.pool }) else {
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

    private func unknown(_ request: PoolRequest) -> Diagnostic {
        let nearest = Suggestion.nearest(to: request.pool, among: workflow.pools.map(\.name))
        guard let pool = workflow.pools.first(where: { $0.name == nearest }) else {
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

    /// The wish by which the nearest group around a row holds the mutex that the row wants.
    private func heldAround(_ wish: LockTable.Wish) -> LockTable.Wish? {
        guard !locks.holders.isEmpty else { return nil }
        var row = wish.row
        while row != 0 {
            row = workflow.nodes[row].parent.row
            if let held = locks.wish(of: row, for: wish.mutex) { return held }
        }
        return nil
    }

    private func wantedAgain(_ wish: LockTable.Wish, _ held: LockTable.Wish) -> Diagnostic {
        let name = locks.names[wish.mutex]
        let path = workflow.path(of: NodeIndex(wish.row))
        let holder = workflow.path(of: NodeIndex(held.row))
        return Diagnostic(
            .lockWantedAgain, "`\(path)` wants the mutex `\(name)`, which the group `\(holder)` around it holds",
            in: workflow.file, at: wish.range,
            notes: [Diagnostic.Note("`\(holder)` holds `\(name)` to its end, without sharing it", at: held.range)],
            fix: Diagnostic.Fix("remove the mutex `\(name)` from `\(path)`"))
    }
}
