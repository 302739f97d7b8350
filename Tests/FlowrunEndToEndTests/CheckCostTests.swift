import FlowrunTestSupport
import Testing

/// What `check` costs, by the families of files that `make proof` counts the instructions for.
struct CheckCostTests {
    /// Those in which something grew with the square once.
    private static let families = [
        "params-read", "secrets", "pools-of", "mutexes-held", "env-at-top-read", "matrix-axes", "matrix-variables-read",
        "run-expressions", "default", "outputs-read", "outputs-unknown", "reads-by-members", "reads-setup",
        "if-always-above-many", "if-always-long-chain", "if-always-wide-groups", "uses-many", "uses-unknown",
        "templates",
    ]

    @Test func `check takes as long as the file is large, whatever is large in it`() async throws {
        let test = try FlowrunTest()
        let script = "\(PackageFolder.path)/Tests/Scripts/check_sizes.py"
        // Eight times the size would take 64 times as long. Small ones take no time that can be told from none.
        let result = try await test.run(
            "--time", "--sizes", "500,4000", "--limit", "1.6", "--only", Self.families.joined(separator: ","),
            launcher: ["python3", script])
        result.expect(exit: 0)
    }
}
