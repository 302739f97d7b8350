import FlowrunTestSupport
import Testing

/// Slips against the compiler: each is a run, or has one diagnostic, of the line and the mistake.
@Suite struct SlipTests {
    /// Starts each file. The code begins in the third line.
    private static let opening = """
        import AsyncOperations
        func slip%(_ queue: AsyncOperationQueue, _ number: AsyncOperation<Int, Never>, \
        _ text: AsyncOperation<String, LoadError>, _ compound: CompoundOperation) async throws {

        """

    private static let helpers = """
        struct LoadError: Error {}
        final class Counter { var count = 0 }
        func load() throws(LoadError) -> Int { 1 }
        func fetch() async -> Int { 1 }

        """

    @Test func `each slip is a run, or has one diagnostic`() async throws {
        let test = try FlowrunTest(files: ["Helpers.swift": Self.helpers])
        var files: [String] = []
        for (number, slip) in Slip.all.enumerated() {
            files.append("Slip\(number).swift")
            try test.write(Self.opening.replacing("%", with: "\(number)") + slip.code + "\n}\n", to: files[number])
        }
        // The compiler says all that is wrong with all files in one call.
        let result = try await test.start(
            ["-swift-version", "6", "-diagnostic-style", "llvm", "-I", "\(BuildFolder.path)/Modules", "Helpers.swift"]
                + files,
            launcher: ["sh", "-c", #"exec swiftc -typecheck -whole-module-optimization "$@" 2>&1"#]
        ).finish()
        result.expect(exit: 1)

        let said = Self.errors(in: result.stdout)
        for (file, slip) in zip(files, Slip.all) {
            #expect(said[file, default: []] == slip.errors, "\(slip.name)")
        }
        #expect(Set(said.keys).isSubset(of: files), "\(result.stdout)")
        #expect(!result.stdout.contains("submit a bug report"))
        #expect(Slip.all.count >= 31)
    }

    /// What the compiler says of each file. It may say the same of one line more than once.
    private static func errors(in output: String) -> [String: Set<String>] {
        var errors: [String: Set<String>] = [:]
        for match in output.matches(of: /(?m)^(?:.*\/)?(\S+\.swift):(\d+):\d+: error: (.*?)(?: \[#\w+\])?$/) {
            errors[String(match.1), default: []].insert("\(Int(match.2)! - 2): \(match.3)")
        }
        return errors
    }
}

extension Slip {
    /// What the compiler is to say, with the number of the line.
    fileprivate var errors: Set<String> {
        let lines = code.split(separator: "\n", omittingEmptySubsequences: false)
        return Set(
            lines.enumerated().compactMap { number, line in
                line.firstRange(of: "// error: ").map { "\(number + 1): \(line[$0.upperBound...])" }
            })
    }
}
