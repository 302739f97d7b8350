import FlowrunTestSupport
import Foundation
import Testing

/// What the program writes, what the schema takes and what flowrun(1) tells are the same events with the same fields.
@Suite struct EventSchemaTests {
    /// `make schema` writes the file.
    @Test func `the schema is made of the declarations of the events`() throws {
        let path = PackageFolder.path + "/schema/flowrun-event.schema.json"
        if getenv("FLOWRUN_WRITE_SCHEMA") != nil {
            try EventSchemaText.text.write(toFile: path, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == EventSchemaText.text)
    }

    @Test func `each event has all its fields in every record`() throws {
        let schema = try EventSchema()
        #expect(schema.events.count > 10)
        for name in schema.events + ["cause", "failure"] {
            let definition = schema.definition(name)
            #expect(definition?["additionalProperties"] == .bool(false), "\(name)")
            #expect(Set(definition?["required"]?.strings ?? []) == schema.fields(of: name), "\(name)")
        }
    }

    @Test func `flowrun(1) has every event with its fields`() throws {
        let schema = try EventSchema()
        let page = try ManualPage("flowrun.1")
        let section = "JSON LINES LOG"
        #expect(Set(page.items(in: section, marked: "Va")) == EventSchema.shared)
        #expect(Set(page.items(in: section, marked: "Cm")) == Set(schema.events))
        for event in schema.events {
            var wanted = schema.fields(of: event).subtracting(EventSchema.shared)
            if event == "run.finished" { wanted.formUnion(schema.fields(of: "failure")) }
            #expect(page.words(under: event, in: section, marked: "Va") == wanted, "\(event)")
        }
        #expect(Set(page.words(in: section, marked: "Va")).isSuperset(of: schema.fields(of: "cause")))
        let kinds = schema.definition("cause")?["properties"]?["kind"]?["enum"]?.strings ?? []
        #expect(Set(page.words(in: section, marked: "Li")).isSuperset(of: kinds))
    }

    @Test func `real logs have no field that the schema lacks, and none of its events goes unwritten`() async throws {
        let test = try FlowrunTest()
        var logs: [EventLog] = []
        for run in Self.runs {
            try test.write("version: 1\n" + run.workflow, to: "\(run.name).yml")
            // Wide enough that only a pool makes a step wait.
            let result = try await test.run(
                "\(run.name).yml", "-j", "8", "--verbose", "--log-file", "\(run.name).jsonl")
            result.expect(exit: run.status)
            logs.append(try EventLog(jsonLines: test.contents(of: "\(run.name).jsonl")))
        }
        logs.append(try await interruptedLog(in: test))
        logs.append(try await steeredLog(in: test))
        logs.append(try await resumedLog(in: test))
        try await expectSchemaAcceptsLogs(in: test)

        let written = Set(logs.flatMap { $0.records.map(\.event) })
        let known = Set(try EventSchema().events)
        #expect(written.subtracting(known) == [])
        // Only a folder that cannot be removed makes the program warn.
        #expect(known.subtracting(written) == ["warning"])
    }

    private struct Run {
        let name: String
        let workflow: String
        let status: Int32
    }

    private static let runs = [
        Run(
            name: "success",
            workflow: """
                name: fan-outs
                steps:
                  each: { for-each: [a, b c], run: 'echo "$item" >&2' }
                  group: { needs: [each], matrix: { x: [1, 2] }, steps: { in: { run: [printf, no end] } } }
                  empty: { for-each: [], run: "false" }
                """, status: 0),
        Run(
            name: "failure",
            workflow: """
                steps:
                  broken: { run: "echo bad; exit 3" }
                  after: { needs: [broken], run: "true" }
                  repair: { needs: { broken: failure }, run: "true" }
                  quiet: { needs: { repair: failure }, run: "true" }
                  killed: { continue-on-error: true, run: kill -9 $$ }
                  absent: { run: [./no-such-program] }
                  group: { steps: { inner: { run: exit 1 }, next: { needs: [inner], run: "true" } } }
                """, status: 1),
        Run(
            name: "values",
            workflow: """
                vars: { made: { run: "echo said >&2; echo x" }, bad: { run: [sh, -c, "exit 3"] } }
                steps:
                  reader: { run: 'test "$made" = x' }
                  group: { vars: { own: { run: echo y } }, steps: { in: { run: 'echo "$own$bad"' } } }
                """, status: 1),
        Run(
            name: "timeout",
            workflow: """
                steps:
                  slow: { timeout: 10ms, grace: 0s, run: [sleep, "9999"] }
                  group: { timeout: 10ms, steps: { slow: { run: [sleep, "9999"] } } }
                """, status: 1),
        Run(
            name: "again",
            workflow: """
                pools: { slots: 1 }
                steps:
                  list: { run: 'echo "l=[1]" >> "$FLOWRUN_OUTPUT"', outputs: { l: list } }
                  each: { needs: [list], for-each: "${{ steps.list.outputs.l }}", run: "true" }
                  flaky: { run: '[ "$FLOWRUN_ATTEMPT" = 2 ]', retry: { attempts: 2 } }
                  group:
                    mutex: alone
                    retry: { attempts: 2 }
                    steps: { flaky: { run: "[ -e once ] || { touch once; exit 1; }" } }
                    outputs: { o: "${{ steps.flaky.outcome }}" }
                  other: { mutex: alone, steps: { in: { run: "true" } } }
                  pool: { for-each: [1, 2], pool: slots, run: "true" }
                outputs: { o: "${{ steps.group.outputs.o }}" }
                finally: { report: { undoes: [], run: "true" }, tidy: { run: "true" } }
                """, status: 0),
        Run(name: "limit", workflow: "timeout: 10ms\nsteps: { slow: { run: [sleep, '9999'] } }\n", status: 124),
        Run(
            name: "fail-fast",
            workflow: """
                fail-fast: true
                steps:
                  slow: { run: [sleep, "9999"] }
                  broken: { run: exit 1 }
                """, status: 1),
    ]

    private func steeredLog(in test: FlowrunTest) async throws -> EventLog {
        try test.write("version: 1\nsteps: { only: { run: 'true' } }\n", to: "steered.yml")
        let running = try await test.start(
            "steered.yml", "--paused", "--log", "json", "--log-file", "steered.jsonl")
        try await running.waitForEvent("run.paused")
        try await test.ask("ctl", "jobs", "3").expect(exit: 0)
        try await test.ask("ctl", "resume").expect(exit: 0)
        let result = try await running.finish()
        result.expect(exit: 0)
        return try result.log()
    }

    private func resumedLog(in test: FlowrunTest) async throws -> EventLog {
        try test.write(
            "version: 1\nsteps: { good: { run: 'true' }, bad: { needs: [good], run: test -e resumable } }\n",
            to: "resumed.yml")
        try await test.run("resumed.yml").expect(exit: 1)
        try test.write("", to: "resumable")
        try await test.run("resumed.yml", "--resume", "--log-file", "resumed.jsonl").expect(exit: 0)
        return try EventLog(jsonLines: test.contents(of: "resumed.jsonl"))
    }

    private func interruptedLog(in test: FlowrunTest) async throws -> EventLog {
        try test.write(
            "version: 1\nsteps: { slow: { run: [sleep, '9999'] }, next: { needs: [slow], run: 'true' } }\n",
            to: "interrupted.yml")
        let running = try await test.start(
            "interrupted.yml", "--log", "json", "--log-file", "interrupted.jsonl")
        try await running.waitForEvent("step.started", step: "slow")
        try await test.ask("ctl", "pause").expect(exit: 0)
        try await test.ask("ctl", "resume").expect(exit: 0)
        try await test.ask("ctl", "jobs", "2").expect(exit: 0)
        try await running.waitForEvent("run.resumed")
        running.signal(SIGINT)
        let result = try await running.finish()
        result.expect(.signalled(SIGINT))
        #expect(try test.contents(of: "interrupted.jsonl") == result.stdout)
        return try result.log()
    }

    /// Holds every `.jsonl` file of a test's folder against the schema.
    private func expectSchemaAcceptsLogs(in test: FlowrunTest) async throws {
        let script = #"""
            for log in *.jsonl; do
                python3 "$1/Tests/Scripts/validate_events.py" "$1/schema/flowrun-event.schema.json" "$log" || exit
            done
            """#
        // The program's own path comes before the arguments and is left aside as `$0`.
        let result = try await test.run(PackageFolder.path, launcher: ["bash", "-c", script])
        result.expect(exit: 0, stdout: "")
    }
}
