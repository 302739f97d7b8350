import FlowrunTestSupport
import Foundation
import Testing

/// `plan --simulate`: a run in virtual time.
struct SimulationTests {
    /// Starts and ends by id, in seconds.
    private func spans(_ json: String) throws -> (makespan: Double, [String: [Double]]) {
        let plan = try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))
        let steps = try #require(plan["steps"]?.array)
        var spans: [String: [Double]] = [:]
        for step in steps {
            guard let id = step["id"]?.string, let start = step["start"]?.double, let finish = step["finish"]?.double
            else { continue }
            spans[id] = [start, finish]
        }
        return (try #require(plan["makespan"]?.double), spans)
    }

    private func simulate(
        _ workflow: String, durations: String? = nil, _ options: String...
    ) async throws -> (makespan: Double, spans: [String: [Double]]) {
        let test = try FlowrunTest(workflow, files: durations.map { ["durations.json": $0] } ?? [:])
        var words = ["plan", "workflow.yml", "--simulate", "--format", "json"] + options
        if durations != nil { words += ["--durations", "durations.json"] }
        let result = try await test.start(words).finish()
        result.expect(exit: 0, stderr: "")
        #expect(!test.exists(".flowrun"))
        return try spans(result.stdout)
    }

    @Test func `steps start when what they need is over and a slot is free`() async throws {
        let (makespan, spans) = try await simulate(
            """
            version: 1
            steps:
              short: { run: "exit 1" }
              long: { run: "exit 1" }
              other: { run: "exit 1" }
              last: { needs: [short, long, other], run: "exit 1" }
            """, durations: #"{"short": 1, "long": 3, "other": 2, "last": 0.25}"#, "-j", "2")
        #expect(makespan == 3.25)
        #expect(spans == ["long": [0, 3], "other": [0, 2], "short": [2, 3], "last": [3, 3.25]])
    }

    @Test func `a step of unknown duration takes a second, a milestone nothing`() async throws {
        let (makespan, spans) = try await simulate(
            """
            version: 1
            steps:
              a: { run: "true" }
              all: { needs: [a] }
              b: { needs: [all], run: "true" }
            """)
        #expect(makespan == 2)
        #expect(spans["b"] == [1, 2])
    }

    @Test func `locks and limits hold in virtual time`() async throws {
        let (makespan, _) = try await simulate(
            """
            version: 1
            pools: { license: 2 }
            steps:
              m: { for-each: [1, 2, 3], mutex: one, run: "true" }
              p: { for-each: [1, 2, 3, 4], pool: { license: 1 }, run: "true" }
              w: { for-each: [1, 2, 3, 4, 5, 6], max-parallel: 2, run: "true" }
            """, "-j", "100")
        #expect(makespan == 3)
    }

    @Test func `what a good run skips does not start`() async throws {
        let (_, spans) = try await simulate(
            """
            version: 1
            params: { publish: { type: bool, default: false } }
            steps:
              a: { run: "true" }
              b: { needs: [a], if: failure(), run: "true" }
              c: { needs: [a], if: always(), run: "true" }
              d: { if: params.publish, run: "true" }
              e: { needs: { a: failure }, run: "true" }
            on-failure: { tell: { run: "true" } }
            finally: { clean: { run: "true" } }
            """)
        #expect(spans.keys.sorted() == ["a", "c", "finally.clean"])
    }

    /// The longest first makes 7 of it: 3, 2 and 2 in one of the two places.
    @Test func `a better order than the longest path first is found`() async throws {
        let (makespan, _) = try await simulate(
            """
            version: 1
            steps:
              a: { run: "true" }
              b: { run: "true" }
              c: { run: "true" }
              d: { run: "true" }
              e: { run: "true" }
            """, durations: #"{"a": 3, "b": 3, "c": 2, "d": 2, "e": 2}"#, "-j", "2")
        #expect(makespan == 6)
    }

    @Test func `people get the steps in the order of their starts`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: "true" }
              b: { needs: [a], run: "true" }
            """, files: ["durations.json": #"{"a": 61.5, "gone": 1}"#])
        let result = try await test.run(
            "plan", "workflow.yml", "--simulate", "--durations", "durations.json", "-j", "2")
        result.expect(exit: 0)
        #expect(
            result.stdout.hasSuffix(
                """

                simulated with 2 jobs, 1 step of unknown duration as 1m01.5s
                   0.000s - 1m01.5s  a
                  1m01.5s - 2m03.0s  b
                makespan: 2m03.0s

                """), "\(result.stdout)")
        result.expect(
            stderr: "flowrun: --durations: the plan does not have 1 id of the file, such as `gone`\n")
    }

    @Test(arguments: [
        ("[1]", "expected one JSON object of ids to seconds, found a list"),
        (#"{"a": "soon"}"#, #"`a`: expected seconds, at least 0, found `"soon"`"#),
        (#"{"a": -1}"#, "`a`: expected seconds, at least 0, found `-1`"),
        (#"{"a": 1e30}"#, "`a`: expected seconds, at least 0, found `1e30`"),
    ])
    func `a file of durations that is none is wrong usage`(text: String, message: String) async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: 'true' } }\n", files: ["durations.json": text])
        let result = try await test.run("plan", "workflow.yml", "--simulate", "--durations", "durations.json")
        result.expect(exit: 64, stdout: "", stderr: "flowrun: --durations durations.json: \(message)\n")
    }
}
