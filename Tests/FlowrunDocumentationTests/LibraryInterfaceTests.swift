import FlowrunTestSupport
import Testing

/// What a program that imports the library can see, as the compiler tells it.
@Suite struct LibraryInterfaceTests {
    private static let catalog = "Sources/AsyncOperations/AsyncOperations.docc"

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

    /// The names of the public types that are in no other.
    private static func types() async throws -> Set<Substring> {
        let types = try await interface().matches(
            of: /(?m)^(?:\S+ )*?(?:struct|class|enum|protocol|actor|typealias) (\w+)/)
        return Set(types.map(\.1))
    }

    @Test func `each public type has its place in the overview`() async throws {
        let overview = try PackageDocument("\(Self.catalog)/AsyncOperations.md").lines
        for type in try await Self.types() { #expect(overview.contains("- ``\(type)``"), "\(type)") }
    }

    @Test func `twenty-four types are enough, and the first article names five of them`() async throws {
        let types = try await Self.types()
        #expect((20...24).contains(types.count), "\(types.sorted())")
        let words = try PackageDocument("\(Self.catalog)/FirstSteps.md").text.matches(of: /\w+/).map(\.output)
        let named = types.intersection(words)
        #expect((3...5).contains(named.count), "\(named.sorted())")
    }

    @Test func `the documentation is built without a warning, where the tool for it is at hand`() async throws {
        let said = try await Self.interface("--documentation", "built", unless: "! command -v docc > /dev/null")
        #expect(!said.contains("warning:"), "\(said)")
        #expect(!said.contains("error:"), "\(said)")
    }
}
