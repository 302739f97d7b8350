/// What a shutdown told to stop.
final class ShutdownList: Sendable {
    private let cores = Lock<[OperationCore]>([])

    func append(_ stopped: [OperationCore]) { cores.withLock { $0 += stopped } }

    var reports: [ChildReport] {
        cores.withLock { $0 }.compactMap { core in core.end.map { ChildReport(core, $0) } }
    }
}
