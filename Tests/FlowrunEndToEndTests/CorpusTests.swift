import FlowrunTestSupport
import Testing

/// Task graphs with the shapes and sizes of real ones, made by the package's scripts, run with every dependency
/// respected.
@Suite struct CorpusTests {
    private static let scripts = "\(PackageFolder.path)/Tests/Scripts"

    /// `graph.json` of a shape and its `workflow.yml`, every step running `true`.
    private func test(of shape: String) async throws -> FlowrunTest {
        let test = try FlowrunTest()
        let script = #"python3 "$1/graphs.py" "$2" > graph.json && python3 "$1/corpus.py" graph.json > workflow.yml"#
        let made = try await test.run(Self.scripts, shape, launcher: ["sh", "-c", script])
        made.expect(exit: 0)
        return test
    }

    private func checkOrder(_ test: FlowrunTest, steps: Int) async throws {
        let script = #"exec python3 "$1" log.jsonl graph.json"#
        let checked = try await test.run("\(Self.scripts)/check_order.py", launcher: ["sh", "-c", script])
        checked.expect(exit: 0)
        checked.expect(stdout: "\(steps) steps, ")
    }

    @Test(arguments: [("montage", 58), ("genome", 902), ("pipeline", 26), ("build", 1971)])
    func `every dependency of a graph is respected`(shape: String, steps: Int) async throws {
        let test = try await test(of: shape)
        try await test.run("check", "workflow.yml").expect(exit: 0)
        let result = try await test.run(
            "workflow.yml", "-j", "8", "--log", "json", "--log-file", "log.jsonl", deadline: FlowrunTest.deadline)
        result.expect(exit: 0)
        try await checkOrder(test, steps: steps)
        let plan = try await test.run("plan", "workflow.yml", "--format", "json")
        LogInvariants.check(try result.log(), needs: try DependencyTable(plan: plan.stdout))
        #expect(try result.log().maximumRunning() <= 8)
        #expect(try test.contents(of: "log.jsonl") == result.stdout)
    }

    @Test func `ten thousand steps run in order`() async throws {
        let test = try await test(of: "genome-large")
        let result = try await test.run(
            "workflow.yml", "--log", "quiet", "--log-file", "log.jsonl", deadline: FlowrunTest.deadline)
        result.expect(exit: 0, stdout: "", stderr: "")
        try await checkOrder(test, steps: 9998)
    }
}
