import FlowrunTestSupport
import Testing

/// Real task graphs, turned into workflow files by the package's script, run with every dependency respected.
@Suite(.enabled(if: PackageFolder.corpora != nil, "no graphs at ../shared/corpora"))
struct CorpusTests {
    private static let scripts = "\(PackageFolder.path)/Tests/Scripts"

    /// `workflow.yml` of a graph, every step running `true`.
    private func test(of graph: String) async throws -> (test: FlowrunTest, graph: String) {
        let path = "\(try #require(PackageFolder.corpora))/\(graph)"
        let test = try FlowrunTest()
        let script = #"exec python3 "$1" "$2" > workflow.yml"#
        let made = try await test.run("\(Self.scripts)/corpus.py", path, launcher: ["sh", "-c", script])
        made.expect(exit: 0)
        return (test, path)
    }

    private func checkOrder(_ test: FlowrunTest, _ graph: String, steps: Int) async throws {
        let script = #"exec python3 "$1" log.jsonl "$2""#
        let checked = try await test.run("\(Self.scripts)/check_order.py", graph, launcher: ["sh", "-c", script])
        checked.expect(exit: 0)
        checked.expect(stdout: "\(steps) steps, ")
    }

    @Test(
        "every dependency of a real graph is respected",
        arguments: [
            ("wfinstances/montage-chameleon-2mass-005d-001.json", 58),
            ("wfinstances/1000genome-chameleon-22ch-250k-001.json", 902),
            ("wfinstances/sarek-dirt02-001.json", 26),
            ("builds/build-esp32_ghp_lab.json", 1971),
        ])
    func real(graph name: String, steps: Int) async throws {
        let (test, graph) = try await test(of: name)
        try await test.run("check", "workflow.yml").expect(exit: 0)
        let result = try await test.run(
            "workflow.yml", "-j", "8", "--log", "json", "--log-file", "log.jsonl", deadline: .seconds(120))
        result.expect(exit: 0)
        try await checkOrder(test, graph, steps: steps)
        let plan = try await test.run("plan", "workflow.yml", "--format", "json")
        LogInvariants.check(try result.log(), needs: try DependencyTable(plan: plan.stdout))
        #expect(try result.log().maximumRunning() <= 8)
        #expect(try test.contents(of: "log.jsonl") == result.stdout)
    }

    @Test func `ten thousand steps run in order`() async throws {
        let (test, graph) = try await test(of: "wfgen/wfgen-genome-10000.json")
        let result = try await test.run(
            "workflow.yml", "--log", "quiet", "--log-file", "log.jsonl", deadline: .seconds(300))
        result.expect(exit: 0, stdout: "", stderr: "")
        try await checkOrder(test, graph, steps: 9998)
    }
}
