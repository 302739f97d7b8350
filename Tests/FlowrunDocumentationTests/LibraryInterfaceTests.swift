import FlowrunTestSupport
import Testing

/// What a program that imports the library can see, as the compiler tells it.
@Suite struct LibraryInterfaceTests {
    private static func interface(_ options: String..., unless reason: String = "false") async throws -> String {
        let result = try await FlowrunTest().start(
            ["\(PackageFolder.path)/Tests/Scripts/public_interface.py"] + options + ["\(BuildFolder.path)/Modules"],
            launcher: ["sh", "-c", #"\#(reason) || exec python3 "$@" 2>&1"#]
        ).finish()
        result.expect(exit: 0)
        return result.stdout
    }

    @Test func `every public symbol of the library says what it is`() async throws {
        #expect(try await Self.interface("--undocumented") == "")
    }

    @Test func `the interface shows types with what is in them`() async throws {
        let lines = try await Self.interface().split(separator: "\n")
        // The second one is the scheduler's, and the library's users see it.
        for line in ["final class AsyncOperationQueue", "enum OperationOutcome", "    case timeout"] {
            #expect(lines.contains { $0 == line }, "\(line)")
        }
        #expect(lines.last?.wholeMatch(of: /\d+ types, \d{3} symbols, 0 without documentation/) != nil)
    }

    @Test func `each public type has its place in the overview`() async throws {
        let overview = try PackageDocument("Sources/AsyncOperations/AsyncOperations.docc/AsyncOperations.md").lines
        let types = try await Self.interface().matches(of: /(?m)^(?:\S+ )*?(?:struct|class|enum|protocol) (\w+)/)
        #expect(types.count > 20)
        for type in types { #expect(overview.contains("- ``\(type.1)``"), "\(type.1)") }
    }

    @Test func `the documentation is built without a warning, where the tool for it is at hand`() async throws {
        let said = try await Self.interface("--documentation", "built", unless: "! command -v docc > /dev/null")
        #expect(!said.contains("warning:"), "\(said)")
        #expect(!said.contains("error:"), "\(said)")
    }
}
