/// The operations that a shutdown cancelled.
final class ShutdownList: Sendable {
    private let cores = Lock<[OperationCore]>([])

    func append(_ stopped: [OperationCore]) { cores.withLock { $0 += stopped } }

    var reports: [OperationReport] {
        cores.withLock { $0 }.compactMap { core in core.end.map { OperationReport(core, $0) } }
    }
}
