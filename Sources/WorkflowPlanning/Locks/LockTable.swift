import SourceDiagnostics
import WorkflowModel

/// Who asks for which locks, over definitions. Steps take theirs all at once and hold nothing while they wait, so that
/// only what groups hold can keep others waiting for ever.
struct LockTable {
    /// A mutex that a row takes when it starts.
    struct Wish {
        let row: Int
        let mutex: Int
        let range: SourceRange
    }

    /// By number, in the order in which the file first names them.
    private(set) var names: [String] = []
    /// In file order, each mutex of a row once.
    private(set) var wishes: [Wish] = []
    /// The wishes of each row that has some.
    private(set) var wishesByRow: [Int: [Wish]] = [:]
    /// The groups that hold a mutex, in file order.
    private(set) var holders: [Int] = []
    /// The rows that ask for units of a pool, in file order.
    private(set) var poolUsers: [Int] = []

    /// O(rows).
    init(_ workflow: Workflow) {
        var numbers: [String: Int] = [:]
        for row in workflow.nodes.indices {
            guard let settings = workflow.nodes[row].settings else { continue }
            if !settings.pools.isEmpty { poolUsers.append(row) }
            guard !settings.mutexes.isEmpty else { continue }
            var own: [Wish] = []
            for request in settings.mutexes {
                let mutex = numbers[request.name] ?? names.count
                if mutex == names.count {
                    numbers[request.name] = mutex
                    names.append(request.name)
                }
                guard !own.contains(where: { $0.mutex == mutex }) else { continue }
                own.append(Wish(row: row, mutex: mutex, range: request.range))
            }
            wishes += own
            wishesByRow[row] = own
            if workflow.nodes[row].isGroup { holders.append(row) }
        }
    }

    /// The wish of a row for a mutex; nil where it has none.
    func wish(of row: Int, for mutex: Int) -> Wish? { wishesByRow[row]?.first { $0.mutex == mutex } }
}
