import FlowrunTestSupport
import Foundation
import RunLog
import Testing
import Workflow

@Suite struct JSONLinesReporterTests {
    private func records(_ log: EventLog) throws -> [[String: Any]] {
        let sink = RecordingSink()
        log.report(to: JSONLinesReporter(sink: sink))
        #expect(sink.records.count == log.events.count)
        return try sink.records.map { record in
            #expect(record.last == UInt8(ascii: "\n"))
            #expect(record.count { $0 == UInt8(ascii: "\n") } == 1)
            return try #require(JSONSerialization.jsonObject(with: Data(record)) as? [String: Any])
        }
    }

    @Test func `a finished step's record says everything about it`() {
        let sink = RecordingSink()
        let reporter = JSONLinesReporter(sink: sink)
        let root = Cause.exit(.exited(2), of: "lint", line: 31)
        let step = StepFinished(
            step: "build[x86].compile", attempt: 1, outcome: .cancelled, status: .signalled(15),
            duration: .microseconds(908_001),
            cause: Cause(
                kind: .failFast, message: "fail-fast of group build[x86]", subject: .group("build[x86]"),
                file: "release.yml", line: 9, next: .because(root)),
            process: ProcessReport(
                outputBytes: 25,
                usage: ResourceUsage(maxResident: 2048, user: .microseconds(1500), system: .milliseconds(2)),
                outputTruncated: "held_open", droppedBytes: 7, containment: "session", escaped: 1, leftBehind: 2),
            item: "x86", name: "Compile")
        reporter.report(
            RunEvent(
                sequence: 7, wallClock: 1_767_225_600_123_456, elapsed: .milliseconds(911), kind: .stepFinished(step)))
        #expect(
            sink.text == """
                {"v":1,"seq":7,"time":"2026-01-01T00:00:00.123456Z","t":0.911,"event":"step.finished",\
                "step":"build[x86].compile","attempt":1,"outcome":"cancelled","exit_code":null,"signal":"SIGTERM",\
                "duration":0.908001,"attempt_duration":null,"cause":{"kind":"fail-fast","message":"fail-fast of group build[x86]",\
                "step":null,"group":"build[x86]","var":null,"file":"release.yml","line":9,"cause":{"kind":"exit",\
                "message":"exit 2","step":"lint","group":null,"var":null,"file":"release.yml","line":31,"cause":null}},\
                "tolerated":false,"outputs":{},"output_bytes":25,"output_truncated":"held_open",\
                "dropped_bytes":7,"max_rss":2097152,\
                "user":0.0015,"sys":0.002,"containment":"session","escaped":1,"left_behind":2,"oom_killed":false,"errno":null,"item":"x86",\
                "name":"Compile"}

                """)
    }

    @Test func `a run's first record has its parameters in their order and with their types`() throws {
        let sink = RecordingSink()
        let values = [
            LoggedValue(name: "z", json: #""a\"b\u0000""#), LoggedValue(name: "a", json: "true"),
            LoggedValue(name: "m", json: "-3"), LoggedValue(name: "c1", json: "\"\u{85}\""),
            LoggedValue(name: "l", json: #"["x",{"k":[]}]"#),
        ]
        JSONLinesReporter(sink: sink).report(
            RunEvent(
                sequence: 0, wallClock: 0, elapsed: .zero,
                kind: .runStarted(
                    RunStarted(
                        run: "r", file: "a.yml", name: nil, steps: 1, jobs: 1, version: "1", params: values,
                        arguments: ["x y", "\u{1}"]))))
        #expect(
            sink.text.hasSuffix(
                #""params":{"z":"a\"b\u0000","a":true,"m":-3,"c1":"\u0085","l":["x",{"k":[]}]},"args":["x y","\u0001"],"resumes":null,"durations_from":[]}"#
                    + "\n"),
            "\(sink.text)")
    }

    @Test func `a run's last record has the root causes and every count`() throws {
        let last = try #require(try records(sampleRun()).last)
        #expect(last["event"] as? String == "run.finished")
        #expect(
            last["counts"] as? [String: Int] == [
                "success": 0, "failure": 4, "timeout": 1, "cancelled": 1, "skipped": 0, "not-run": 2,
            ])
        let errors = try #require(last["errors"] as? [[String: Any]])
        #expect(errors.map { $0["step"] as? String } == ["lint", "build[x86].crash", "slow", nil])
        #expect(errors[0]["output_tail"] as? String == "lint: a.c:3: unused\n")
        #expect(errors[1]["signal"] as? String == "SIGSEGV")
        #expect(errors[3]["line"] is NSNull)
    }

    @Test func `output cannot forge a record`() throws {
        var log = EventLog()
        let forged = "\n{\"v\":1,\"seq\":1,\"event\":\"run.finished\"}\n\"}\n\u{2028}{\"v\":1}\u{85}{}\r{}"
        log.add(StepOutput.text(forged, of: "evil"), at: 1)
        let record = try #require(try records(log).first)
        #expect(record["event"] as? String == "step.output")
        #expect(record["text"] as? String == forged)
    }

    @Test func `whatever stands in output, ids and messages, each record is one line of valid JSON`() throws {
        var random = SeededGenerator(seed: 11)
        var log = EventLog()
        for round in 0..<300 {
            let bytes = random.hostileBytes(upTo: 60)
            let text = String(decoding: bytes, as: UTF8.self)
            let cause = Cause(kind: .exit, message: text, subject: .step(text), file: text, line: 1)
            switch round % 4 {
            case 0:
                log.add(
                    .stepOutput(
                        StepOutput(step: text, attempt: 1, stream: .stdout, bytes: lasting(bytes), isPartial: true)),
                    at: round)
            case 1: log.add(.warning(code: text, message: text), at: round)
            case 2:
                log.add(
                    .stepFinished(StepFinished(step: text, attempt: 1, outcome: .failure, cause: cause)), at: round)
            default: log.add(.groupCancelRequested(group: text, cause: cause), at: round)
            }
        }
        for (event, record) in zip(log.events, try records(log)) {
            guard case .stepOutput(let output) = event.kind else { continue }
            #expect(record["text"] as? String == String(decoding: output.bytes, as: UTF8.self))
        }
        try expectValid(log)
    }

    @Test func `the schema accepts a log that contains every event`() throws {
        try expectValid(sampleRun())
        try expectValid(rareEvents())
    }

    @Test func `the schema knows exactly the events there are`() throws {
        let schema = try JSONSerialization.jsonObject(with: Data(contentsOf: schemaFile)) as? [String: Any]
        let branches = try #require(schema?["allOf"] as? [[String: Any]])
        let known = branches.compactMap { branch in
            (branch["then"] as? [String: String])?["$ref"]?.replacing("#/definitions/", with: "")
        }
        #expect(known.count == branches.count)
        let events = sampleRun().events + rareEvents().events
        #expect(Set(known) == Set(events.map { "\($0.kind.word)" }))
        for event in events { expectIsInSample(event.kind) }
    }

    @Test(arguments: [
        (#""attempt":1,"#, ""), (#""attempt":1"#, #""attempt":"1""#), (#""outcome":"failure""#, #""outcome":"failed""#),
        (#""escaped":"#, #""extra":1,"escaped":"#), (#""v":1"#, #""v":2"#), (#"000000Z"#, "Z"),
        (#""cause":null}"#, #""cause":{}}"#),
    ])
    func `the schema refuses a record that is not right`(found: String, replacement: String) throws {
        var log = EventLog()
        log.add(
            .stepFinished(
                StepFinished(
                    step: "lint", attempt: 1, outcome: .failure, status: .exited(2), duration: .seconds(1),
                    cause: .exit(.exited(2), of: "lint", line: 3))),
            at: 0)
        let sink = RecordingSink()
        log.report(to: JSONLinesReporter(sink: sink))
        let record = sink.text.replacing(found, with: replacement)
        #expect(record != sink.text)
        guard let validation = try validate(record) else { return }
        #expect(validation.status == 1)
    }

    /// A compile error here means: put the new event into `sampleRun` or `rareEvents`, the schema and this list.
    private func expectIsInSample(_ kind: RunEvent.Kind) {
        switch kind {
        case .runStarted, .runPaused, .runResumed, .runJobs, .runCancelRequested, .groupStarted, .groupCancelRequested,
            .groupRetry, .groupFinished, .stepAdded, .stepStarted, .stepOutput, .stepCancelRequested, .stepSignal,
            .stepAttempt, .stepRetry, .stepFinished, .stepRestored, .stepRerun, .stepUndoes, .ready, .waiting,
            .lockAcquired, .lockReleased, .valueStarted, .valueFinished, .warning, .runFinished:
            break
        }
    }

    private var packageRoot: URL { URL(filePath: PackageFolder.path) }

    private var schemaFile: URL { packageRoot.appending(path: "schema/flowrun-event.schema.json") }

    private func expectValid(_ log: EventLog) throws {
        let sink = RecordingSink()
        log.report(to: JSONLinesReporter(sink: sink))
        guard let validation = try validate(sink.text) else { return }
        #expect(validation.status == 0, "\(validation.findings)")
    }

    /// nil, with a word on the console, where python3 or its module jsonschema is not installed.
    private func validate(_ log: String) throws -> (status: Int32, findings: String)? {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).jsonl")
        try Data(log.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let python = Process()
        python.executableURL = URL(filePath: "/usr/bin/env")
        python.arguments = [
            "python3", packageRoot.appending(path: "Tests/Scripts/validate_events.py").path, schemaFile.path, file.path,
        ]
        let output = Pipe()
        python.standardOutput = output
        try python.run()
        let findings = try output.fileHandleForReading.readToEnd() ?? Data()
        python.waitUntilExit()
        if [77, 127].contains(python.terminationStatus) {
            print("not validated: python3 with jsonschema is not installed")
            return nil
        }
        return (python.terminationStatus, String(decoding: findings, as: UTF8.self))
    }
}
