import FlowrunTestSupport
import Foundation
import Testing

/// What `plan` says of the time that a run will take, by the durations of past ones.
struct EstimateTests {
    private static let workflow = """
        version: 1
        steps:
          a: { run: "test ! -e bad" }
          all: { needs: [a] }
          b: { needs: [all], run: "true" }
          rest: { if: "false", run: "true" }
        """

    private func plan(_ test: FlowrunTest, _ options: String...) async throws -> JSONValue {
        let result = try await test.start(["plan", "--format", "json", "workflow.yml"] + options).finish()
        result.expect(exit: 0, stderr: "")
        return try JSONDecoder().decode(JSONValue.self, from: Data(result.stdout.utf8))
    }

    private func step(_ id: String, _ plan: JSONValue) throws -> JSONValue {
        try #require(plan["steps"]?.array?.first { $0["id"]?.string == id })
    }

    private func runs(_ test: FlowrunTest, _ folder: String = ".flowrun") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: test.path("\(folder)/runs")).sorted()
            .map { "\(folder)/runs/\($0)/journal.jsonl" }
    }

    @Test func `an estimate comes from the last time that each step has succeeded`() async throws {
        let test = try FlowrunTest(Self.workflow)
        #expect(try await plan(test)["estimate"]?.double == nil)
        let first = try await test.run("workflow.yml", "--log", "json")
        first.expect(exit: 0)
        var durations: [String: Double] = [:]
        for record in try first.log().all("step.finished") {
            durations[try #require(record.step)] = record["duration"]?.double
        }
        try test.write("", to: "bad")
        try await test.run("workflow.yml").expect(exit: 1)
        let plan = try await plan(test)
        let (a, b) = (try #require(durations["a"]), try #require(durations["b"]))
        #expect(try step("a", plan)["estimate"]?.double == a)
        #expect(try step("b", plan)["estimate"]?.double == b)
        #expect(try step("rest", plan)["estimate"]?.double == nil)
        let estimate = try #require(plan["estimate"]?.double)
        #expect(abs(estimate - (a + b)) < 0.000_01)
        let text = try await test.run("plan", "workflow.yml", "-j", "2")
        text.expect(stdout: "\nestimate: ", "s with 2 jobs, as in the last runs\n")
        // A simulation has the same durations where no file has others.
        let simulated = try await self.plan(test, "--simulate")
        #expect(abs((simulated["makespan"]?.double ?? 0) - estimate) < 0.000_01)
        try test.write(#"{"a": 2, "b": 3}"#, to: "durations.json")
        let given = try await self.plan(test, "--simulate", "--durations", "durations.json")
        #expect(given["makespan"]?.double == 5)
    }

    @Test func `nothing is estimated where a step is new`() async throws {
        let test = try FlowrunTest(Self.workflow)
        try await test.run("workflow.yml").expect(exit: 0)
        try test.write(Self.workflow + "\n  c: { run: 'true' }\n  d: { run: 'true' }\n", to: "workflow.yml")
        let plan = try await plan(test)
        #expect(plan["estimate"] == .null)
        #expect(try step("c", plan)["estimate"] == .null)
        #expect(try step("a", plan)["estimate"]?.double != nil)
        try await test.run("plan", "workflow.yml").expect(
            stdout: "\nestimate: none, `c` and 1 other have not succeeded in the last runs\n")
        // What is not asked for does not count.
        try await test.run("plan", "workflow.yml", "b", "-j", "2").expect(
            stdout: "s with 2 jobs, as in the last runs\n")
    }

    @Test func `a journal counts as far as it is whole, and no byte of it changes`() async throws {
        let test = try FlowrunTest(Self.workflow)
        try await test.run("workflow.yml", "--state-dir", "state").expect(exit: 0)
        let path = try #require(try runs(test, "state").first)
        let whole = try test.contents(of: path)
        let end = try #require(whole.range(of: #""event":"step.finished","step":"b""#)).lowerBound
        for damaged in [
            String(whole[..<end]), whole.replacingOccurrences(of: #""step":"b""#, with: #""step":"B""#), "", "\0\n{}\n",
        ] {
            try test.write(damaged, to: path)
            let plan = try await plan(test, "--state-dir", "state")
            #expect(plan["estimate"] == .null)
            #expect((try step("a", plan)["estimate"]?.double == nil) == (damaged.count < 10))
            #expect(try test.contents(of: path) == damaged)
        }
        try test.write(whole, to: path)
        #expect(try await plan(test, "--state-dir", "state")["estimate"]?.double != nil)
        #expect(try await plan(test)["estimate"] == .null)
    }
}
