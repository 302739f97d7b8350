import FlowrunTestSupport
import Testing

/// The two output streams of a step: together in the order in which they are written, or told apart.
struct StreamOrderTests {
    private static let count = 1000

    private static func step(_ keys: String = "") -> String {
        """
        { run: 'for i in {1..\(count)}; do echo "out $i"; echo "err $i" >&2; done'\(keys) }
        """
    }

    private static let lines = (1...count).flatMap { ["out \($0)", "err \($0)"] }

    private func workflow(_ keys: String = "") throws -> FlowrunTest {
        try FlowrunTest("version: 1\nsteps:\n  a: \(Self.step(keys))\n  b: \(Self.step(keys))\n")
    }

    @Test func `the JSON log has lines of both streams in the order in which they were written`() async throws {
        let result = try await workflow().runLogged("-j", "2")
        result.expect(exit: 0)
        let log = try result.log()
        LogInvariants.check(log)
        for step in ["a", "b"] {
            #expect(log.output(of: step, stream: "output").split(separator: "\n") == Self.lines.map { $0[...] })
            #expect(log.all("step.output", step: step).allSatisfy { $0["stream"]?.string == "output" })
        }
    }

    @Test(arguments: ["1", "2"])
    func `the text log has them in this order, too, as a block and as they come`(jobs: String) async throws {
        let test = try workflow()
        let grouped = try await test.run("workflow.yml", "-j", jobs, "--output", "grouped")
        grouped.expect(exit: 0)
        let shown = grouped.stdout.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { String($0.dropFirst(2)) }
        #expect(shown == Self.lines + Self.lines)
        let stream = try await test.run("workflow.yml", "-j", jobs, "--output", "stream")
        for mark in ["[a] ", "[b] "] {
            let own = stream.stdout.split(separator: "\n").filter { $0.hasPrefix(mark) }
            #expect(own.map { String($0.dropFirst(mark.count)) } == Self.lines)
        }
    }

    @Test func `streams separate tells them apart, and so does defaults`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            defaults: { streams: separate }
            steps:
              a: { run: echo out; echo err >&2 }
              b: { run: echo out; echo err >&2, streams: together }
            """)
        let log = try await test.runLogged().log()
        LogInvariants.check(log)
        #expect(log.output(of: "a", stream: "stdout") == "out\n")
        #expect(log.output(of: "a", stream: "stderr") == "err\n")
        #expect(log.output(of: "b", stream: "output") == "out\nerr\n")
    }
}
