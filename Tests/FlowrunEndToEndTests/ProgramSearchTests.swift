import FlowrunTestSupport
import Testing

/// Which program a name without a slash starts, and what is said where none can be.
struct ProgramSearchTests {
    private static let scripts = [
        "a": "#!/bin/sh\necho A\n", "b": "#!/bin/sh\necho B\n", "broken": "#!/nonexistent\n",
    ]

    private func run(_ steps: String, path: (FlowrunTest) -> String) async throws -> EventLog {
        let test = try FlowrunTest("version: 1\norder: sequence\nsteps:\n\(steps)\n", files: Self.scripts)
        return try await test.runLogged(environment: ["PATH": path(test) + ":/usr/bin:/bin"]).log()
    }

    @Test func `each start searches PATH anew, so what a step puts in front runs`() async throws {
        let log = try await run(
            """
              missed: { run: [tool], continue-on-error: true }
              lay: { run: install -D -m 755 b B/tool }
              one: { run: [tool] }
              shadow: { run: install -D -m 755 a A/tool }
              two: { run: [tool] }
              reveal: { run: rm A/tool }
              three: { run: [tool] }
              move: { run: mv B/tool A/tool }
              four: { run: [tool] }
            """
        ) { $0.path("A") + ":" + $0.path("B") }
        #expect(log.outcomes["missed"] == "failure")
        #expect(["one", "two", "three", "four"].map { log.output(of: $0) } == ["B\n", "A\n", "B\n", "B\n"])
    }

    @Test(arguments: ["rel", "./rel", "../sub/rel", ""])
    func `a relative or empty part of PATH counts from the step's folder`(part: String) async throws {
        let log = try await run(
            """
              lay: { run: install -D -m 755 a sub/rel/tool; cp sub/rel/tool sub/tool }
              inside: { working-directory: sub, run: [tool] }
              outside: { working-directory: /, run: [tool] }
            """
        ) { _ in part }
        #expect(log.output(of: "inside") == "A\n")
        #expect(log.outcomes["outside"] == "failure")
    }

    @Test func `a program whose interpreter is missing is not said to be missing itself`() async throws {
        let log = try await run(
            """
              lay: { run: install -D -m 755 broken A/tool; cp A/tool A/bash, shell: sh }
              list: { run: [tool], continue-on-error: true }
              shell: { run: echo, shell: bash, continue-on-error: true }
              none: { run: [absent], continue-on-error: true }
            """
        ) { $0.path("A") }
        let messages = ["list", "shell", "none"].map { log.finished($0)?.cause?.message }
        #expect(
            messages == [
                "cannot start `tool`: no such file, or its interpreter is missing",
                "cannot start `bash`: no such file, or its interpreter is missing",
                "cannot start `absent`: not found along PATH",
            ])
    }
}
