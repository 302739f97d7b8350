import FlowrunTestSupport
import Testing

/// The programs in `examples/swift`, which are built with the tests.
@Suite struct LibraryExampleTests {
    private static func run(
        _ program: String, _ arguments: String..., stdin: String = ""
    ) async throws -> FlowrunResult {
        try await FlowrunTest().start(
            ["\(BuildFolder.path)/\(program)"] + arguments, stdin: .text(stdin), launcher: ["sh", "-c", #"exec "$@""#]
        ).finish()
    }

    // MARK: - What the READMEs show

    @Test(arguments: ["ChainOfRequests", "DependenciesWithData", "WatchingForDeadlock"])
    func `a program prints what its README shows`(program: String) async throws {
        let readme = try PackageDocument("examples/swift/\(program)/README.md")
        let shown = readme.lines.drop { !$0.hasPrefix("    $ ") }.prefix { $0.hasPrefix("    ") }.map {
            $0.dropFirst(4)
        }
        let lengthOfCommand = 1 + shown.prefix { $0.hasSuffix("|") }.count
        let command = shown.prefix(lengthOfCommand).joined(separator: " ").dropFirst(2)
        let wanted = shown.dropFirst(lengthOfCommand)
        #expect(!wanted.isEmpty)

        let run = "swift run --package-path examples/swift"
        #expect(command.contains("\(run) \(program)"))
        let result = try await FlowrunTest().run(
            launcher: ["sh", "-c", String(command).replacing(run + " ", with: "\(BuildFolder.path)/")])
        result.expect(exit: 0)
        let found = result.stdout.split(separator: "\n")
        #expect(Array(found.prefix(wanted.count)) == Array(wanted))
    }

    @Test(arguments: [
        ("ChainOfRequests", "examples/swift/README.md"), ("MixedOperations", "examples/swift/README.md"),
        ("DependenciesWithData", "examples/swift/README.md"), ("TimeoutsOverCalls", "examples/swift/README.md"),
        ("WatchingForDeadlock", "examples/swift/README.md"),
    ])
    func `a program has an article, and the list of programs names it`(program: String, list: String) throws {
        let readme = try PackageDocument("examples/swift/\(program)/README.md")
        let article = "../../../Sources/AsyncOperations/AsyncOperations.docc/\(program).md"
        #expect(readme.text.contains("](\(article))") && readme.reaches(article))
        #expect(try PackageDocument(list).text.contains("[\(program)](\(program)/README.md)"))
    }

    // MARK: - What they do beside that

    @Test(arguments: [
        ("/missing", "GET /missing\nfailed: status(404)\n"),
        ("/broken", "GET /broken\nfailed: malformed(line: \"<html>\")\n"),
        ("comments", "failed: invalidPath(\"comments\")\n"),
    ])
    func `a chain ends with the job that fails`(path: String, said: String) async throws {
        try await Self.run("ChainOfRequests", path).expect(exit: 1, stdout: said)
    }

    @Test func `a chain that is cancelled ends though its server never answers`() async throws {
        try await Self.run("ChainOfRequests", "/slow", "--leave")
            .expect(exit: 0, stdout: "GET /slow\nno comments: cancelled: on request\n")
    }

    @Test func `the picture may be there already, and the cell is drawn without one`() async throws {
        let downloaded = try await Self.run("DependenciesWithData")
        try await Self.run("DependenciesWithData", "--bundled").expect(exit: 0, stdout: downloaded.stdout)
        let offline = try await Self.run("DependenciesWithData", "--offline")
        offline.expect(exit: 1)
        offline.expect(stdout: "(a grey rectangle)\n", "because of `download`: failure(")
    }

    @Test func `what has come before the limit is kept`() async throws {
        try await Self.run("TimeoutsOverCalls").expect(
            exit: 0,
            stdout: """
                glucose: 5.4 mmol/l
                steps: 8211
                weight: 71 kg
                refreshed 3 of 3
                no second refresh while one runs
                counted: allEnded

                """)
        try await withLongEnoughLimit { _, seconds in
            let partial = try await Self.run("TimeoutsOverCalls", "--slow", "steps", "--limit", "\(seconds)")
            partial.expect(exit: 0)
            partial.expect(stdout: "steps: late\n", "counted: timedOut(stillRunning: 1)\n")
            return partial.stdout.hasPrefix("glucose: 5.4 mmol/l\nsteps: late\nweight: 71 kg\nrefreshed 2 of 3\n")
        }
    }

    // MARK: - The demo

    /// What each operation went through, by its name.
    private static func stages(in result: FlowrunResult) -> [String: [String]] {
        result.stdout.split(separator: "\n").reduce(into: [:]) { stages, line in
            let parts = line.split(separator: ": ", maxSplits: 1).map(String.init)
            if parts.count == 2 { stages[parts[0], default: []].append(parts[1]) }
        }
    }

    @Test func `a stopped queue starts nothing, and a member that is cancelled leaves its siblings`() async throws {
        let result = try await Self.run(
            "MixedOperations", "0", stdin: "stop\ncompound one\ncancel one.2\nuntil one.2 cancelled\nstart\nwait\n")
        result.expect(exit: 0)
        let stages = Self.stages(in: result)
        let whole = ["added", "ready", "started", "success"]
        #expect(stages["one.1"] == whole && stages["one.3"] == whole)
        #expect(stages["one.2"] == ["added", "cancelled"])
        #expect(stages["one"] == ["added", "ready", "started", "cancelled"])
        #expect(stages["queue"] == ["stopped", "goes on"])
        result.expect(stdout: "one.2: cancelled\n", "queue: goes on\n", "one.1: started\n", "one: cancelled\n")
    }

    @Test func `a serial queue is switched to a concurrent one while it runs`() async throws {
        let result = try await Self.run(
            "MixedOperations", "0",
            stdin: """
                endless first
                until first started
                sync second
                async third
                until third ready
                concurrent
                until second success
                until third success
                cancel first
                cancel nobody
                wait
                """)
        result.expect(exit: 0)
        result.expect(stdout: "third: ready\n", "third: started\n", "first: told to stop\n", "first: cancelled\n")
        result.expect(stdout: "second: success\n", "first: told to stop\n")
        result.expect(stdout: "nobody cannot be cancelled\n")
    }

    @Test func `the end of the commands cancels what is left`() async throws {
        let result = try await Self.run(
            "MixedOperations", "0", stdin: "endless one\nuntil one started\nasync two\nquit\n")
        result.expect(exit: 0)
        #expect(Self.stages(in: result)["one"] == ["added", "ready", "started", "told to stop", "cancelled"])
        #expect(Self.stages(in: result)["two"]?.last == "cancelled")
    }
}
