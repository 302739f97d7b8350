import AsyncOperations
import Logging
import ServiceLifecycle
import Synchronization
import Tracing

/// Starts the parts of a server, each after those that it needs, and stops them in the opposite order.
final class ServiceGraph: Service {
    struct Part: Sendable {
        let name: String
        var needs: [String] = []
        var start: @Sendable () async throws -> Void = {}
        var stop: @Sendable () async throws -> Void = {}
    }

    private let parts: [Part]
    private let logger: Logger
    private let running = Mutex<Set<String>>([])

    init(_ parts: [Part], logger: Logger) {
        self.parts = parts
        self.logger = logger
    }

    /// Runs until it is told to stop. What has started by then stops, also after a failed or cancelled start.
    func run() async throws {
        let end: Result<Void, any Error>
        do {
            try await withSpan("start") { _ in
                try await cancelWhenGracefulShutdown { [self] in _ = try await starting().run() }
            }
            logger.info("serving")
            end = .success(try await gracefulShutdown())
        } catch {
            end = .failure(error)
        }
        // In a task of its own, which the cancel that ended the server does not reach.
        try await Task { try await withSpan("stop") { _ in _ = try await stopping().run() } }.value
        try end.get()
    }

    private func starting() throws -> CompoundOperation {
        let operations = operations("start", parts, within: .seconds(30)) { [self] part in
            try await part.start()
            running.withLock { _ = $0.insert(part.name) }
            logger.info("up", metadata: ["part": "\(part.name)"])
        }
        for (part, operation) in zip(parts, operations) {
            for need in parts.indices where part.needs.contains(parts[need].name) {
                try operation.addDependency(on: operations[need])
            }
        }
        return try CompoundOperation("start", failFast: .cancel) { for operation in operations { operation } }
    }

    private func stopping() throws -> CompoundOperation {
        let parts = parts.filter { part in running.withLock { $0.contains(part.name) } }
        let operations = operations("stop", parts, within: .seconds(10)) { [self] part in
            try await part.stop()
            logger.info("down", metadata: ["part": "\(part.name)"])
        }
        for (part, operation) in zip(parts, operations) {
            // However it ends: a part that does not stop keeps none of the others.
            for need in parts.indices where part.needs.contains(parts[need].name) {
                try operations[need].addDependency(on: operation, .done)
            }
        }
        return try CompoundOperation("stop") { for operation in operations { operation } }
    }

    /// One for each part, with a span of its own.
    private func operations(
        _ verb: String, _ parts: [Part], within limit: Duration, _ work: @escaping @Sendable (Part) async throws -> Void
    ) -> [AsyncOperation<Void, any Error>] {
        parts.map { part in
            AsyncOperation(part.name, options: .init(timeout: limit)) {
                try await withSpan("\(verb) \(part.name)") { _ in try await work(part) }
            }
        }
    }
}
