internal import Planning
internal import Scheduling
internal import Workflow

/// The locks of a run: its pools and its mutexes. Names are the run's, the same in all instances; a pool and a mutex of
/// one name are two locks.
struct RunLocks {
    /// The name of each lock by its index, for the log.
    private(set) var names: [String] = []
    private var pools: [String: LockID] = [:]
    private var mutexes: [String: LockID] = [:]

    init() {}

    /// Adds the locks that the workflow declares or requests to the graph. O(definitions).
    init(_ workflow: Workflow, in graph: inout OperationGraph) {
        for pool in workflow.pools where pools[pool.name] == nil {
            pools[pool.name] = graph.addPool(of: max(1, pool.size))
            names.append(pool.name)
        }
        for node in workflow.nodes {
            guard let settings = node.settings else { continue }
            for mutex in settings.mutexes where mutexes[mutex.name] == nil {
                mutexes[mutex.name] = graph.addMutex()
                names.append(mutex.name)
            }
        }
    }

    var isEmpty: Bool { names.isEmpty }

    /// Returns the mutexes that instances of a definition and everything inside them name.
    func mutexes(inside definition: NodeIndex, of plan: Plan) -> [LockID] {
        let workflow = plan.workflow
        let inside = (definition.row..<Int(workflow[definition].subtreeEnd)).map { NodeIndex($0) }
        let requests = inside.filter { !plan.isLeftOut($0) }.flatMap { workflow.settings(of: $0)?.mutexes ?? [] }
        return Set(requests.compactMap { mutexes[$0.name] }).sorted()
    }

    /// Returns the requests for the locks of a step or group, each mutex once.
    func requests(pools wanted: [PoolRequest], mutexes names: [MutexRequest]) -> [LockRequest] {
        guard !wanted.isEmpty || !names.isEmpty else { return [] }
        var requests: [LockRequest] = []
        for pool in wanted {
            if let lock = pools[pool.pool] { requests.append(LockRequest(lock: lock, units: pool.units)) }
        }
        for mutex in names {
            guard let lock = mutexes[mutex.name], !requests.contains(where: { $0.lock == lock }) else { continue }
            requests.append(LockRequest(lock: lock))
        }
        return requests
    }
}
