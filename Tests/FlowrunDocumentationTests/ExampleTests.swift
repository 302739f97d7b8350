import FlowrunTestSupport
import Testing

/// What holds for every example without running it.
@Suite struct ExampleTests {
    @Test func `there are examples`() {
        #expect(ExampleFolder.workflows.count >= 10)
        #expect(!ExampleFolder.files.contains { $0.hasSuffix(".o") })
    }

    @Test(arguments: ExampleFolder.workflows)
    func `check has nothing to say about an example`(file: String) async throws {
        let result = try await FlowrunTest().run("check", "--strict", "\(PackageFolder.path)/examples/\(file)")
        result.expect(exit: 0)
    }

    @Test(arguments: ExampleFolder.workflows)
    func `an example names the schema, relative to itself`(file: String) throws {
        let document = try PackageDocument("examples/\(file)")
        let modeline = "# yaml-language-server: $schema="
        let first = try #require(document.lines.first)
        try #require(first.hasPrefix(modeline))
        #expect(first.hasSuffix("/schema/flowrun.schema.json"))
        #expect(document.reaches(String(first.dropFirst(modeline.count))))
    }

    @Test(arguments: ExampleFolder.workflows)
    func `plan and graph show an example`(file: String) async throws {
        let path = "\(PackageFolder.path)/examples/\(file)"
        let test = try FlowrunTest()
        try await test.run("plan", path).expect(exit: 0)
        try await test.run("graph", path).expect(exit: 0)
        try await test.run("list", path).expect(exit: 0)
    }

    @Test func `the schema accepts all examples`() async throws {
        try await expectSchemaAccepts(ExampleFolder.workflows.map { "\(PackageFolder.path)/examples/\($0)" })
    }

    @Test func `every example is run by a test, and the README names it`() throws {
        #expect(Set(ExampleFolder.workflows) == ExampleRunTests.covered)
        let readme = try PackageDocument("README.md")
        for file in ExampleFolder.workflows {
            let folder = file.split(separator: "/").dropLast().joined(separator: "/")
            #expect(readme.text.contains("examples/\(folder.isEmpty ? file : folder + "/")"), "\(file)")
        }
    }
}

/// Holds files against the schema of workflow files.
func expectSchemaAccepts(_ paths: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws {
    // The program's own path comes before the arguments and is left aside as `$0`.
    let script = "\(PackageFolder.path)/Tests/Scripts/validate_workflow.py"
    let test = try FlowrunTest(files: ["files": paths.joined(separator: "\n")])
    let result = try await test.run(script, launcher: ["sh", "-c", #"xargs python3 "$1" < files"#])
    result.expect(exit: 0, stdout: "", sourceLocation: sourceLocation)
}
