import FlowrunTestSupport
import Foundation
import Testing

/// Which step starts when.
struct OrderTests {
    // F1, F4
    @Test func `steps start after what they need, through groups, under their full ids`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              last: { needs: [outer], run: "true" }
              outer:
                needs: [first]
                steps:
                  b: { needs: [a], run: "true" }
                  a: { run: "true" }
                  inner:
                    needs: [b]
                    steps:
                      c: { run: "true" }
              first: { run: "true" }
            """)
        let result = try await test.runLogged("-j", "8")
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.startOrder == ["first", "outer.a", "outer.b", "outer.inner.c", "last"])
        #expect(log.all("group.finished").map(\.group) == ["outer.inner", "outer"])
        LogInvariants.check(
            log,
            needs: DependencyTable([
                "last": ["outer"], "outer": ["first"], "outer.b": ["outer.a"], "outer.inner": ["outer.b"],
            ]), steps: ["first", "outer.a", "outer.b", "outer.inner.c", "last"])
    }

    @Test func `ready steps start by the longest remaining path, then in the order of the file`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              tail: { needs: [head], run: "true" }
              short: { run: "true" }
              head: { run: "true" }
              other: { run: "true" }
            """)
        let log = try await test.runLogged("-j", "1").log()
        #expect(log.startOrder == ["head", "tail", "short", "other"])
    }

    @Test func `the longest step of the last run starts first, as in the simulation`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: "true" }
              b: { run: "true" }
              c: { run: "true" }
              long: { run: "sleep 0.5" }
              all: { needs: [a, b, c, long] }
            """)
        let first = try await test.runLogged("-j", "2").log()
        #expect(first.startOrder.last == "long")
        #expect(first.first("run.started")?["durations_from"]?.strings == [])
        let id = try #require(first.first("run.started")?["run"]?.string)
        let plan = try await test.run("plan", "workflow.yml", "--simulate", "--format", "json", "-j", "2")
        let steps = try JSONDecoder().decode(JSONValue.self, from: Data(plan.stdout.utf8))["steps"]?.array ?? []
        #expect(steps.first { $0["id"]?.string == "long" }?["start"]?.double == 0)
        let second = try await test.runLogged("-j", "2").log()
        #expect(second.startOrder.first == "long")
        #expect(second.first("run.started")?["durations_from"]?.strings == [id])
        // A workflow that needs no order reads no past run.
        for options in [["-j", "2", "--no-history"], ["-j", "1"], ["-j", "4"]] {
            let log = try await test.start(["workflow.yml", "--log", "json"] + options).finish().log()
            #expect(log.startOrder == ["a", "b", "c", "long"], "\(options)")
            #expect(log.first("run.started")?["durations_from"]?.strings == [], "\(options)")
        }
    }

    @Test func `the critical path is the longest in time, and the estimate is the makespan`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: "true" }
              b: { needs: [a], run: "true" }
              long: { run: "sleep 0.5" }
            """)
        func plan() async throws -> JSONValue {
            let result = try await test.run("plan", "workflow.yml", "--simulate", "--format", "json", "-j", "2")
            return try JSONDecoder().decode(JSONValue.self, from: Data(result.stdout.utf8))
        }
        #expect(try await plan()["critical_path"]?.strings == ["a", "b"])
        try await test.run("workflow.yml").expect(exit: 0)
        let timed = try await plan()
        #expect(timed["critical_path"]?.strings == ["long"])
        #expect(timed["estimate"]?.double != nil && timed["estimate"]?.double == timed["makespan"]?.double)
    }

    // D3
    @Test func `a sequence runs one member after the other, and ends with the first that fails`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              water:
                order: sequence
                steps:
                  c: { run: "true" }
                  a: { run: "true" }
                  fails: { run: exit 3 }
                  b: { run: "true" }
            """)
        let result = try await test.runLogged("-j", "8")
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.startOrder == ["water.c", "water.a", "water.fails"])
        #expect(log.outcomes["water.b"] == "not-run")
        #expect(log.maximumRunning() == 1)
        LogInvariants.check(
            log,
            needs: DependencyTable([
                "water.a": ["water.c"], "water.fails": ["water.a"], "water.b": ["water.fails"],
            ]))
    }

    /// What a dependent of each kind of need becomes, by the outcome of what it needs.
    // F10
    @Test(arguments: [
        ("success", ["ok": "success", "success": "success", "failure": "skipped", "done": "success"]),
        ("failure", ["ok": "not-run", "success": "not-run", "failure": "success", "done": "success"]),
        ("timeout", ["ok": "not-run", "success": "not-run", "failure": "success", "done": "success"]),
        ("tolerated", ["ok": "success", "success": "not-run", "failure": "success", "done": "success"]),
        ("skipped", ["ok": "success", "success": "skipped", "failure": "skipped", "done": "success"]),
        ("not-run", ["ok": "not-run", "success": "not-run", "done": "success"]),
    ])
    func `the kind of a need decides`(outcome: String, dependents: [String: String]) async throws {
        let steps =
            switch outcome {
            case "success": #"subject: { run: "true" }"#
            case "failure": #"subject: { run: "false" }"#
            case "timeout": #"subject: { timeout: 200ms, run: [sleep, "9999"] }"#
            case "tolerated": #"subject: { continue-on-error: true, run: "false" }"#
            case "skipped": "before: { run: 'true' }\n  subject: { needs: { before: failure }, run: 'true' }"
            default: "before: { run: 'false' }\n  subject: { needs: [before], run: 'true' }"
            }
        let lines = dependents.keys.sorted().map { kind in
            let needs = kind == "ok" ? "[subject]" : "{ subject: \(kind) }"
            return "  after-\(kind): { needs: \(needs), run: 'true' }"
        }
        let test = try FlowrunTest("version: 1\nsteps:\n  \(steps)\n\(lines.joined(separator: "\n"))\n")
        let log = try await test.runLogged().log()
        for (kind, wanted) in dependents {
            #expect(log.outcomes["after-\(kind)"] == wanted, "a need of kind \(kind)")
        }
        LogInvariants.check(log)
    }

    @Test func `only the named steps run, with what they need`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: "true" }
              b: { needs: [a], run: "true" }
              c: { needs: [b], run: "true" }
              other: { run: "false" }
              group:
                needs: [a]
                steps:
                  x: { run: "true" }
                  y: { run: "false" }
            """)
        let one = try await test.run("workflow.yml", "b", "--log", "json")
        one.expect(exit: 0)
        #expect(try one.log().startOrder == ["a", "b"])
        LogInvariants.check(try one.log(), needs: DependencyTable(["b": ["a"]]), steps: ["a", "b"])
        let inside = try await test.run("run", "--log", "json", "workflow.yml", "group.x", "b")
        inside.expect(exit: 0)
        #expect(try Set(inside.log().startOrder) == ["a", "b", "group.x"])
        let unknown = try await test.run("workflow.yml", "grup")
        unknown.expect(exit: 64, stdout: "")
        unknown.expect(stderr: "`grup`")
    }
}
