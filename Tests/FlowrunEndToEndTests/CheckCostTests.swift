import FlowrunTestSupport
import Testing

/// The cost of `check`, by the families of files for which `make proof` counts the instructions.
struct CheckCostTests {
    /// Families in which the cost once grew with the square.
    private static let families = [
        "params-read", "secrets", "pools-of", "mutexes-held", "env-at-top-read", "matrix-axes", "matrix-variables-read",
        "run-expressions", "default", "outputs-read", "outputs-unknown", "reads-by-members", "reads-setup",
        "if-always-above-many", "if-always-long-chain", "if-always-wide-groups", "uses-many", "uses-unknown",
        "templates",
    ]

    @Test func `check takes as long as the file is large, whatever is large in it`() async throws {
        let test = try FlowrunTest()
        let script = "\(PackageFolder.path)/Tests/Scripts/check_sizes.py"
        // Eight times the size would take 64 times as long. The time of small files is too short to measure.
        let result = try await test.run(
            "--time", "--sizes", "500,4000", "--limit", "1.6", "--only", Self.families.joined(separator: ","),
            launcher: ["python3", script])
        result.expect(exit: 0)
    }
}
