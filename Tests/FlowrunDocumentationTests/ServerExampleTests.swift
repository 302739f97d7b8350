import FlowrunTestSupport
import Foundation
import Testing

/// The server in `examples/server`, which is a package of its own because it needs those of servers.
@Suite(.serialized, .timeLimit(.minutes(20))) struct ServerExampleTests {
    private static let built = Task {
        let folder = "\(PackageFolder.path)/.build/server"
        try await FlowrunTest().run(
            "build", "--package-path", "\(PackageFolder.path)/examples/server", "--scratch-path", folder,
            launcher: ["sh", "-c", #"exec swift "$@""#]
        ).expect(exit: 0)
        return "\(folder)/debug/server"
    }

    private static func start(_ arguments: String...) async throws -> RunningFlowrun {
        try await FlowrunTest().start([try await built.value] + arguments, launcher: ["sh", "-c", #"exec "$@""#])
    }

    /// The parts that went up or down, in this order.
    private static func parts(_ word: String, in result: FlowrunResult) -> [String] {
        result.stdout.matches(of: #/part=(\w+) \[server\] (\w+)/#).filter { $0.2 == word }.map { String($0.1) }
    }

    private static func places(of parts: [String]) -> [String: Int] {
        Dictionary(parts.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    @Test func `parts start after what they need, and stop before it`() async throws {
        let server = try await Self.start()
        // A signal before that would cancel the start.
        try await server.waitForText("serving")
        server.signal(SIGTERM)
        let result = try await server.finish()
        result.expect(exit: 0)
        let (up, down) = (Self.parts("up", in: result), Self.parts("down", in: result))
        #expect(Set(up) == ["http", "cache", "mail", "database"] && up.count == 4 && down.count == 4)
        let (started, stopped) = (Self.places(of: up), Self.places(of: down))
        for (part, need) in [("http", "cache"), ("http", "mail"), ("cache", "database")] {
            #expect(try #require(started[need]) < #require(started[part]))
            #expect(try #require(stopped[part]) < #require(stopped[need]))
        }
        result.expect(stdout: "span: start > start http\n", "span: stop > stop database\n")
    }

    @Test func `after a start that fails, what has started stops`() async throws {
        let result = try await Self.start("cache").finish()
        result.expect(exit: 1)
        result.expect(stdout: "    cache: Unreachable()\n")
        let (up, down) = (Self.parts("up", in: result), Self.parts("down", in: result))
        #expect(up.contains("database") && !up.contains("http") && Set(up) == Set(down))
    }
}
