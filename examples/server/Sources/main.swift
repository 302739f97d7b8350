import AsyncOperations
import Foundation
import InMemoryTracing
import Logging
import ServiceLifecycle
import Tracing

struct Unreachable: Error {}

// With a word, the start of that part fails.
let failing = CommandLine.arguments.dropFirst().first

let tracer = InMemoryTracer()
InstrumentationSystem.bootstrap(tracer)
LoggingSystem.bootstrap { label in StreamLogHandler.standardOutput(label: label) }
let logger = Logger(label: "server")

func part(_ name: String, needs: [String] = []) -> ServiceGraph.Part {
    ServiceGraph.Part(name: name, needs: needs, start: { if name == failing { throw Unreachable() } })
}

let graph = ServiceGraph(
    [
        part("http", needs: ["cache", "mail"]), part("cache", needs: ["database"]), part("mail"), part("database"),
    ], logger: logger)

var status: Int32 = 0
do {
    let group = ServiceGroup(
        configuration: .init(
            services: [.init(service: graph, serviceName: "graph")], gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger))
    try await group.run()
} catch let failure as OperationFailure<CompoundOperation.Failure> {
    print(failure)
    status = 1
}
let names = Dictionary(uniqueKeysWithValues: tracer.finishedSpans.map { ($0.spanID, $0.operationName) })
for span in tracer.finishedSpans {
    if let parent = span.parentSpanID.flatMap({ names[$0] }) { print("span: \(parent) > \(span.operationName)") }
}
exit(status)
