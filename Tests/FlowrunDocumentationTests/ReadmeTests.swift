import FlowrunTestSupport
import Testing

@Suite struct ReadmeTests {
    @Test func `the YAML blocks are good workflows`() async throws {
        let blocks = try PackageDocument("README.md").blocks.filter { $0.language == "yaml" }
        #expect(blocks.count >= 2)
        let test = try FlowrunTest()
        for block in blocks {
            try test.write(block.text, to: "line\(block.line).yml")
            let result = try await test.run("check", "--strict", "line\(block.line).yml")
            result.expect(exit: 0)
        }
        try await expectSchemaAccepts(blocks.map { test.path("line\($0.line).yml") })
    }

    @Test func `the first workflow prints what the README shows`() async throws {
        let blocks = try PackageDocument("README.md").blocks
        let output = try #require(blocks.first { $0.language == "text" })
        let workflow = try #require(blocks.last { $0.language == "yaml" && $0.line < output.line })
        // One at a time: the README shows one of the orders that side by side allows.
        let result = try await FlowrunTest(workflow.text).run("workflow.yml", "-j", "1")
        result.expect(exit: 0, stdout: result.stable(output.text))
    }

    @Test func `the commands of every day do what stands beside them`() async throws {
        let blocks = try PackageDocument("README.md").blocks
        let commands = try #require(blocks.first { $0.language == "sh" })
        let workflow = try #require(blocks.last { $0.language == "yaml" && $0.line < commands.line })
        let test = try FlowrunTest(files: ["flowrun.yml": workflow.text])
        let fresh = try FlowrunTest(files: ["Makefile": "all:\n\tmake -C src\n"])
        var dryRuns: [String] = []
        for line in commands.text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1)[1]
            func run(_ options: String = "", in test: FlowrunTest) async throws -> FlowrunResult {
                try await test.run(launcher: ["sh", "-c", "exec \"$0\" \(options) \(words)"])
            }
            if words.hasPrefix("list") {
                #expect(try await run(in: test).stdout.contains("Make the archive of this commit"))
            } else if words.hasPrefix("init") {
                try await run(in: fresh).expect(exit: 0)
                #expect(try await fresh.run("plan").stdout.contains("all"))
            } else {
                let planned = try await run("run --dry-run", in: test)
                planned.expect(exit: 0)
                dryRuns.append(planned.stdout.contains("package") ? "package" : "test")
            }
        }
        #expect(dryRuns == ["test", "test", "package"])
    }

    @Test func `a failure and a cycle look as the README shows`() async throws {
        let outputs = try PackageDocument("README.md").blocks.filter { $0.language == "text" }
        try #require(outputs.count == 3)
        let test = try FlowrunTest(files: ["release.yml": Self.cycle])
        try test.write(PackageDocument("examples/make/failing.yml").text, to: "failing.yml")
        let failing = try await test.run("failing.yml", "-j", "1")
        failing.expect(exit: 1, stdout: failing.stable(outputs[1].text))
        try await test.run("check", "release.yml").expect(exit: 2, stdout: outputs[2].text)
    }

    private static let cycle = """
        version: 1
        steps:
          build:
            needs: [version]
            run: make
          publish:
            steps:
              upload:
                needs: [build]
                run: ./upload
          version:
            needs: [publish]
            run: git describe > VERSION
        """

    @Test(arguments: ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
    func `links lead somewhere`(file: String) throws {
        let document = try PackageDocument(file)
        for match in document.text.matches(of: /\]\(([^)#]+)\)/) where !match.1.contains("://") {
            #expect(document.reaches(String(match.1)), "\(match.1)")
        }
    }

    @Test(arguments: ["README.md", "CONTRIBUTING.md"])
    func `commands of make exist`(file: String) throws {
        let targets = Set(
            try PackageDocument("Makefile").text.matches(of: /(?m)^([a-z]+):/).map { String($0.1) })
        for match in try PackageDocument(file).text.matches(of: /\bmake ([a-z]+)\b/)
        where try PackageDocument(file).isCode(match.range) {
            #expect(targets.contains(String(match.1)), "make \(match.1)")
        }
    }
}

extension PackageDocument {
    /// Whether a range of the text stands in an indented block or between backticks.
    fileprivate func isCode(_ range: Range<String.Index>) -> Bool {
        let line = text[..<range.lowerBound].lastIndex(of: "\n").map { text.index(after: $0) } ?? text.startIndex
        let before = text[line..<range.lowerBound]
        return before.hasPrefix("    ") || before.count { $0 == "`" } % 2 == 1
    }
}
