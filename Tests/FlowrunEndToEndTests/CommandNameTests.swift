import FlowrunTestSupport
import Foundation
import Testing

/// `aliases`, `internal`, `section` and `default: list`: the names by which people call steps.
struct CommandNameTests {
    private static let workflow = """
        version: 1
        default: list
        steps:
          build: { aliases: [b, make], section: Development, needs: [helper], run: echo built }
          helper: { internal: true, run: echo helped }
          clean: { description: removes all, manual: true, run: echo cleaned }
          inner:
            internal: true
            steps: { part: { run: echo part } }
          docs:
            section: Writing
            aliases: [d]
            steps: { html: { aliases: [h], run: echo html } }

        """

    private static let list = """
        clean      (manual) removes all

        Development:
        build      (or b, make)

        Writing:
        docs       (or d) (group)
        docs.html  (or h)

        """

    private func test() throws -> FlowrunTest { try FlowrunTest(files: ["flowrun.yml": Self.workflow]) }

    @Test(arguments: [[], ["run"], ["-n"], ["list"]])
    func `a file whose default is the list answers with it and runs nothing`(words: [String]) async throws {
        let test = try test()
        try await test.start(words).finish().expect(exit: 0, stdout: Self.list, stderr: "")
        #expect(!test.exists(".flowrun"))
    }

    @Test func `an empty default is the list too, and a resume of it is refused`() async throws {
        let text = Self.workflow.replacingOccurrences(of: "default: list", with: "default: []")
        let test = try FlowrunTest(files: ["flowrun.yml": text])
        try await test.run().expect(exit: 0, stdout: Self.list, stderr: "")
        let resumed = try await test.run("--resume")
        resumed.expect(exit: 64, stdout: "")
        resumed.expect(stderr: "nothing is named that could be resumed")
        try await test.run("--param", "a=b").expect(exit: 64, stdout: "")
    }

    @Test(arguments: [
        ("b", ["helper", "build"]), ("make", ["helper", "build"]), ("build", ["helper", "build"]),
        ("d", ["docs.html"]), ("d.h", ["docs.html"]), ("docs.h", ["docs.html"]),
    ])
    func `an alias means the step or group, and the log has the id`(name: String, ran: [String]) async throws {
        let result = try await test().run(name, "--log", "json")
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.startOrder == ran)
    }

    @Test func `an alias names the step for all commands about runs`() async throws {
        let test = try test()
        try await test.run("b").expect(exit: 0)
        let why = try await test.run("why", "make")
        why.expect(exit: 0)
        #expect(why.stdout.hasPrefix("build"))
        let resumed = try await test.run("build", "--from", "b", "--log", "json")
        resumed.expect(exit: 0)
        #expect(try resumed.log().startOrder == ["build"])
        try await test.run("plan", "b").expect(exit: 0)
        let unknown = try await test.run("bb")
        unknown.expect(exit: 64, stdout: "")
    }

    @Test(arguments: ["helper", "inner", "inner.part"])
    func `an internal step cannot be named, nor what is in an internal group`(name: String) async throws {
        let test = try test()
        let message = "flowrun: `\(name)` is internal and cannot be named; name a step that needs it\n"
        try await test.run(name).expect(exit: 64, stdout: "", stderr: message)
        try await test.run("plan", name).expect(exit: 64, stdout: "", stderr: message)
        try await test.run("why", name).expect(exit: 1, stdout: "")
    }

    @Test func `what needs an internal step runs it, and so does a run of everything`() async throws {
        let text = Self.workflow.replacingOccurrences(of: "default: list\n", with: "")
        let result = try await FlowrunTest(files: ["flowrun.yml": text]).run("--log", "json", "-j", "1")
        result.expect(exit: 0)
        let started = Set(try result.log().startOrder)
        #expect(started == ["helper", "build", "inner.part", "docs.html"])
    }

    @Test func `a used file that lists its steps runs none of them by itself`() async throws {
        let test = try FlowrunTest(files: [
            "flowrun.yml": "version: 1\nsteps: { sub: { uses: ./sub.yml }, own: { run: echo own } }\n",
            "sub.yml": Self.workflow,
        ])
        let all = try await test.run("--log", "json")
        all.expect(exit: 0)
        #expect(try all.log().startOrder == ["own"])
        let one = try await test.run("sub.b", "--log", "json")
        one.expect(exit: 0)
        #expect(
            try one.log().startOrder == ["sub.helper", "sub.build"])
    }

    @Test func `JSON has the names and sections, and no internal step`() async throws {
        let result = try await test().run("list", "--format", "json")
        result.expect(exit: 0)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(result.stdout.utf8)) as? [String: Any])
        let steps = try #require(object["steps"] as? [[String: Any]])
        #expect(steps.map { $0["id"] as? String } == ["build", "clean", "docs", "docs.html"])
        #expect(steps[0]["aliases"] as? [String] == ["b", "make"])
        #expect(steps.map { $0["section"] as? String } == ["Development", nil, "Writing", "Writing"])
    }
}
