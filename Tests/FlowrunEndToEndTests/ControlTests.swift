import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// `flowrun ctl` and a live run: cancels, the width, the status.
struct ControlTests {
    private static func hold(_ name: String) -> String { "'echo up > \(name).up; read _ < \(name).go'" }

    private static let held = "version: 1\nsteps: { a: { run: \(hold("a")) } }\n"

    /// Starts a workflow with the JSON log and waits until the named steps run.
    private func start(_ test: FlowrunTest, _ options: String..., until steps: [String]) async throws
        -> RunningFlowrun
    {
        let running = try await test.start(["run", "workflow.yml", "--log", "json", "-j", "8"] + options)
        for step in steps { try await running.waitForEvent("step.started", step: step) }
        return running
    }

    private func expectAnswer(
        _ answer: String, _ result: FlowrunResult, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        result.expect(exit: 0, stdout: "\(answer)\n", stderr: "", sourceLocation: sourceLocation)
    }

    // A2, B6, C4, C9
    @Test func `a running step is cancelled by name: asked, signalled, ended, once`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: sleep 9999 }, b: { needs: [a], run: 'true' } }\n")
        let running = try await start(test, until: ["a"])
        expectAnswer("cancelling `a`", try await test.ask("ctl", "cancel", "a"))
        let result = try await running.finish()
        // A step that was cancelled by name is no success of the run.
        result.expect(exit: 1)
        let log = try result.log()
        LogInvariants.check(log, needs: ["b": ["a": .ok]], steps: ["a", "b"])
        let events = log.records.filter { $0.step == "a" }.map(\.event)
        #expect(
            events == [
                "step.started", "step.cancel_requested", "step.signal", "step.signal", "step.attempt", "step.finished",
            ])
        #expect(log.outcomes == ["a": "cancelled", "b": "not-run"])
        #expect(log.finished("a")?.cause?.kind == "interrupt")
        #expect(log.finished("a")?.cause?.message == "cancelled by `flowrun ctl`")
        // F11, F13
        #expect(log.finished("b")?.cause?.rootStep == "a")
        #expect(log.errors == [])
        #expect(log.runFinished?.outcome == "cancelled")
        #expect(test.survivors() == [])
    }

    // A10
    @Test func `a step can cancel itself`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: '\"$FLOWRUN\" ctl cancel a; sleep 9999' } }\n")
        let result = try await test.runLogged(environment: ["FLOWRUN": FlowrunBinary.path])
        result.expect(exit: 1)
        #expect(try result.log().outcomes == ["a": "cancelled"])
        LogInvariants.check(try result.log())
    }

    // C2, C11
    @Test func `what waits for a dependency is cancelled now, and its dependency goes on`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: \(Self.hold("a")) }, b: { needs: [a], run: 'true' } }\n")
        let gate = try test.gate("a.go")
        defer { gate.open() }
        let running = try await start(test, until: ["a"])
        expectAnswer("cancelling `b`", try await test.ask("ctl", "cancel", "b"))
        try await running.waitForEvent("step.finished", step: "b")
        gate.open()
        let log = try await running.finish().log()
        #expect(log.outcomes == ["a": "success", "b": "cancelled"])
        #expect(log.all("step.started", step: "b").isEmpty)
        LogInvariants.check(log)
    }

    // C3
    @Test func `one of several that wait for their turn is cancelled, and the others keep their order`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              first: { run: \(Self.hold("a")) }
              s1: { run: "true" }
              s2: { run: "true" }
              s3: { run: "true" }
              s4: { run: "true" }
            """)
        let gate = try test.gate("a.go")
        defer { gate.open() }
        let running = try await test.start("workflow.yml", "--log", "json", "-j", "1")
        try await running.waitForEvent("step.started", step: "first")
        try await test.ask("ctl", "cancel", "s2").expect(exit: 0)
        try await running.waitForEvent("step.finished", step: "s2")
        gate.open()
        let log = try await running.finish().log()
        #expect(log.startOrder == ["first", "s1", "s3", "s4"])
        #expect(log.finished("s2")?.outcome == "cancelled")
        LogInvariants.check(log)
    }

    // C6
    @Test func `a second cancel, and one after the end, change nothing and say so`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              deaf: { grace: 1000s, run: "trap '' TERM; echo up > up; read _ < deaf.go" }
              done: { run: "true" }
            """)
        let gate = try test.gate("deaf.go")
        defer { gate.open() }
        let running = try await start(test, until: ["deaf", "done"])
        try await running.waitForFile("up")
        try await running.waitForEvent("step.finished", step: "done")
        expectAnswer("cancelling `deaf`", try await test.ask("ctl", "cancel", "deaf"))
        expectAnswer("`deaf` is being cancelled already", try await test.ask("ctl", "cancel", "deaf"))
        expectAnswer("`done` has ended already: success", try await test.ask("ctl", "cancel", "done"))
        try await running.waitForEvent("step.signal", step: "deaf")
        try await test.ask("ctl", "status").expect(stdout: "stopping  deaf")
        gate.open()
        let log = try await running.finish().log()
        #expect(log.all("step.cancel_requested").count == 1)
        #expect(log.outcomes == ["deaf": "cancelled", "done": "success"])
        LogInvariants.check(log)
    }

    // C10, D15
    @Test(arguments: [0, 3])
    func `whatever a cancelled step exits with, it stays cancelled and is no error`(status: Int) async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: \"trap 'exit \(status)' TERM; echo up > up; read _ < go\" } }\n")
        let gate = try test.gate("go")
        defer { gate.open() }
        let running = try await start(test, until: ["a"])
        try await running.waitForFile("up")
        try await test.ask("ctl", "cancel", "a").expect(exit: 0)
        let log = try await running.finish().log()
        #expect(log.finished("a")?.outcome == "cancelled")
        #expect(log.finished("a")?["exit_code"]?.int == status)
        #expect(log.errors == [])
        LogInvariants.check(log)
    }

    // D6, D7
    @Test func `a cancelled group is marked first, and ends after what ran in it`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                order: sequence
                steps: { a: { run: sleep 9999 }, b: { run: "true" }, c: { run: "true" } }
              after: { needs: { g: done }, run: "true" }
            """)
        let running = try await start(test, until: ["g.a"])
        expectAnswer("cancelling `g`", try await test.ask("ctl", "cancel", "g"))
        let log = try await running.finish().log()
        LogInvariants.check(log, steps: ["g.a", "g.b", "g.c", "after"])
        let marks = log.records.filter { $0.event.hasSuffix("cancel_requested") }
        #expect(marks.first?.group == "g")
        #expect(log.startOrder.filter { $0.hasPrefix("g.") } == ["g.a"])
        #expect(["g.a", "g.b", "g.c"].allSatisfy { log.finished($0)?.outcome == "cancelled" })
        #expect(log.first("group.finished", group: "g")?.outcome == "cancelled")
        #expect(log.finished("g.b")?.cause?.message == "cancelled by `flowrun ctl`")
        #expect(log.finished("g.b")?.cause?.root["group"]?.string == "g")
    }

    // D10
    @Test func `one member cancelled alone leaves its siblings, and the group still ends`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { g: { steps: { a: { run: sleep 9999 }, b: { run: \(Self.hold("b")) } } } }\n")
        let gate = try test.gate("b.go")
        defer { gate.open() }
        let running = try await start(test, until: ["g.a", "g.b"])
        try await test.ask("ctl", "cancel", "g.a").expect(exit: 0)
        try await running.waitForEvent("step.finished", step: "g.a")
        gate.open()
        let log = try await running.finish().log()
        let group = try #require(log.first("group.finished", group: "g"))
        #expect(group.outcome == "cancelled")
        #expect(group["cancelled"]?.strings == ["g.a"])
        #expect(group["errors"]?.strings == [])
        #expect(log.outcomes == ["g.a": "cancelled", "g.b": "success"])
        LogInvariants.check(log)
    }

    @Test func `a cancel of the whole run exits 130, as an interrupt would for a shell`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: sleep 9999 }, b: { needs: [a], run: 'true' }, c: { run: exit 3 } }\n")
        let running = try await start(test, until: ["a"])
        try await running.waitForEvent("step.finished", step: "c")
        expectAnswer("cancelling the run", try await test.ask("ctl", "cancel"))
        let result = try await running.finish()
        result.expect(exit: 130)
        let log = try result.log()
        LogInvariants.check(log, steps: ["a", "b", "c"])
        #expect(log.first("run.cancel_requested")?["source"]?.string == "ctl")
        #expect(log.outcomes == ["a": "cancelled", "b": "cancelled", "c": "failure"])
        // D16
        #expect(log.errors == ["c"])
        #expect(test.survivors() == [])
    }

    @Test func `an unknown step is an error with the one that was meant`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { compile: { run: \(Self.hold("a")) } }\n")
        let gate = try test.gate("a.go")
        defer { gate.open() }
        let running = try await start(test, until: ["compile"])
        let result = try await test.ask("ctl", "cancel", "compil")
        result.expect(exit: 1, stdout: "", stderr: "flowrun: no step or group `compil`; did you mean `compile`?\n")
        gate.open()
        try await running.finish().expect(exit: 0)
    }

    // Q4
    @Test(arguments: [false, true])
    func `more jobs start more at once, fewer stop nothing`(hasJobserver: Bool) async throws {
        let key = hasJobserver ? " jobserver: true," : ""
        let test = try FlowrunTest(
            """
            version: 1
            steps: { work: { for-each: [a, b, c, d],\(key) run: 'echo "$item" >> ups; read _ < go' } }
            """)
        let gate = try test.gate("go")
        defer { gate.open(4) }
        let running = try await test.start("workflow.yml", "--log", "json", "-j", hasJobserver ? "2" : "1")
        try await running.waitForLines(in: "ups")
        expectAnswer("up to 3 steps at once", try await test.ask("ctl", "jobs", "3"))
        try await running.waitForLines(in: "ups", 3)
        expectAnswer("up to 1 step at once", try await test.ask("ctl", "jobs", "1"))
        gate.open()
        try await running.waitForEvent("step.finished")
        try await test.ask("ctl", "status").expect(stdout: "up to 1 at once", "waiting  work[d]")
        gate.open(3)
        let log = try await running.finish().log()
        #expect(log.maximumRunning() == 3)
        #expect(log.all("run.jobs").map { $0["n"]?.int } == [3, 1])
        // The last one had to wait until none of the three ran any more.
        let last = try #require(log.first("step.started", step: "work[d]"))
        #expect(log.all("step.finished").count { $0.seq < last.seq } == 3)
        LogInvariants.check(log)
    }

    // Q6
    @Test func `the status has what runs, what waits in the order of the file, and what has ended`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            name: words
            steps:
              late: { needs: [held], run: "true" }
              held: { run: \(Self.hold("a")) }
              done: { run: "true" }
              group: { needs: [late], steps: { in: { run: "true" } } }
            """)
        let gate = try test.gate("a.go")
        defer { gate.open() }
        let running = try await start(test, until: ["held"])
        try await running.waitForEvent("step.finished", step: "done")
        let text = try await test.ask("ctl", "status")
        text.expect(exit: 0, stderr: "")
        text.expect(stdout: "workflow.yml: running", "running  held", "waiting  late, group.in", "ended    1 success")
        let answer = try await test.ask("ctl", "status", "--format", "json")
        let status = try JSONDecoder().decode(JSONValue.self, from: Data(answer.stdout.utf8))
        #expect(status["name"] == .string("words"))
        #expect(status["waiting"]?.strings == ["late", "group.in"])
        #expect(status["counts"]?["success"]?.int == 1)
        let pid = try await running.waitForEvent("step.started", step: "held")["pid"]?.int
        let step = try #require(status["running"]?[0])
        #expect(step["step"] == .string("held") && step["state"] == .string("running") && step["attempt"] == .number(1))
        #expect(step["pid"]?.int == pid)
        gate.open()
        try await running.finish().expect(exit: 0)
    }

    @Test func `in a later round copies are counted, asked about and cancelled as they are now`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              list: { outputs: { l: json }, run: 'echo ''l=["p", "q"]'' >> "$FLOWRUN_OUTPUT"' }
              g:
                needs: [list]
                retry: { attempts: 2 }
                steps:
                  f:
                    for-each: "${{ steps.list.outputs.l }}"
                    as: x
                    run: 'test -e once-$x || { touch once-$x; exit 3; }; echo up > $x.up; read _ < $x.go'
            """)
        let gates = [try test.gate("p.go"), try test.gate("q.go")]
        defer { for gate in gates { gate.open() } }
        let running = try await test.start("workflow.yml", "--log", "json", "-j", "2")
        for copy in ["p", "q"] { try await running.waitForFile("\(copy).up") }
        let answer = try await test.ask("ctl", "status", "--format", "json")
        let status = try JSONDecoder().decode(JSONValue.self, from: Data(answer.stdout.utf8))
        #expect(status["steps"]?.int == 3 && status["waiting"]?.strings == [])
        try await test.ask("why", "g.f[p]").expect(exit: 0, stdout: "g.f[p]: running\n")
        try await test.ask("why", "g").expect(exit: 0, stdout: "g: running, attempt 2\n")
        expectAnswer("cancelling `g.f[p]`", try await test.ask("ctl", "cancel", "g.f[p]"))
        gates[1].open()
        let result = try await running.finish()
        result.expect(exit: 1)
        let ends = try result.log().records.filter { $0.event == "step.finished" && $0.step == "g.f[p]" }
        #expect(ends.map(\.outcome) == ["failure", "cancelled"])
    }

    // B4, O4
    @Test(arguments: 1...6)
    func `requests at any moment leave a log that keeps its rules`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let ids = (0..<24).map { "s\($0)" }
        let steps = ids.indices.map { index in
            let needs = (0..<index).filter { _ in Int.random(in: 0..<12, using: &random) == 0 }.map { ids[$0] }
            let run = ["'true'", "sleep 0.02", "exit 1", "sleep 0.1"].randomElement(using: &random)!
            return "  \(ids[index]): { needs: [\(needs.joined(separator: ", "))], run: \(run) }\n"
        }
        let test = try FlowrunTest("version: 1\nsteps:\n" + steps.joined())
        let running = try await test.start("workflow.yml", "--log", "json", "-j", "3", "--paused")
        try await running.waitForEvent("run.paused")
        try await test.ask("ctl", "resume").expect(exit: 0)
        for _ in 0..<12 {
            let step = ids.randomElement(using: &random)!
            let requests = [
                ["ctl", "pause"], ["ctl", "pause", "--stop"], ["ctl", "resume"], ["ctl", "resume"],
                ["ctl", "cancel", step], ["ctl", "jobs", "\(Int.random(in: 1...4, using: &random))"],
            ]
            // Those that come after the end are refused.
            _ = try await test.startBeside(requests.randomElement(using: &random)!).finish()
        }
        if seed.isMultiple(of: 2) {
            _ = try await test.ask("ctl", "cancel")
        } else {
            _ = try await test.ask("ctl", "resume")
        }
        let result = try await running.finish()
        LogInvariants.check(try result.log(), steps: ids)
        #expect(test.survivors() == [])
    }

    // MARK: Which run

    @Test func `of several live runs one has to be named, by its id or its file`() async throws {
        let test = try FlowrunTest(Self.held, files: ["other.yml": Self.held.replacing("a.", with: "b.")])
        let gates = try [test.gate("a.go"), test.gate("b.go")]
        defer { gates.forEach { $0.open() } }
        let first = try await start(test, until: ["a"])
        let second = try test.startBeside(["other.yml", "--log", "json"])
        let ids = [
            try await first.waitForEvent("run.started")["run"]?.string ?? "",
            try await second.waitForEvent("run.started")["run"]?.string ?? "",
        ]
        let ambiguous = try await test.ask("ctl", "status")
        ambiguous.expect(exit: 64, stdout: "")
        for id in ids { ambiguous.expect(stderr: id) }
        try await test.ask("ctl", "--file", "other.yml", "status").expect(stdout: "other.yml: running")
        try await test.ask("ctl", ids[0], "status").expect(stdout: "workflow.yml: running", ids[0])
        // As inside of a step.
        try await test.ask("ctl", "status", environment: ["FLOWRUN_RUN": ids[1]]).expect(stdout: "other.yml: running")
        let unknown = try await test.ask("ctl", "20000101T000000-000000", "status")
        unknown.expect(exit: 1, stdout: "")
        unknown.expect(stderr: "no live run `20000101T000000-000000`", ids[0])
        gates.forEach { $0.open() }
        try await first.finish().expect(exit: 0)
        try await second.finish().expect(exit: 0)
        let none = try await test.ask("ctl", "status")
        none.expect(exit: 1, stdout: "", stderr: "flowrun: no live run in `.flowrun`\n")
    }

    // MARK: Clients that do not behave

    @Test func `nothing that a client sends, or leaves out, disturbs the run`() async throws {
        let test = try FlowrunTest(Self.held)
        let gate = try test.gate("a.go")
        defer { gate.open() }
        let running = try await start(test, until: ["a"])
        try await test.ask("ctl", "status").expect(exit: 0)
        let requests = [
            #"{"v":1,"request":"status"}"#, #"{"v":2,"request":"status"}"#, #"{"v":1,"request":"dance"}"#, "[]", "{",
            #"{"v":1,"request":"jobs","n":0}"#, #"{"v":1,"request":"cancel","step":"nobody"}"#, "\u{7f}\u{0}",
        ]
        let replies = try requests.map { try Self.send(Array("\($0)\n".utf8), to: test) }
        for (request, reply) in zip(requests, replies) {
            let value = try JSONDecoder().decode(JSONValue.self, from: Data(reply))
            #expect(value["v"]?.int == 1, "\(request)")
            #expect((value["error"] == nil) == (request == requests[0]), "\(request)")
        }
        // No end of the line, nothing at all, and far too much.
        let silent = try (0..<50).map { _ in try Self.connect(to: test) }
        #expect(try Self.send(Array(repeating: UInt8(ascii: "x"), count: 1 << 20), to: test) == [])
        try await test.ask("ctl", "status").expect(exit: 0)
        gate.open()
        try await running.finish().expect(exit: 0)
        for descriptor in silent { close(descriptor) }
    }

    /// Sends bytes and returns all that comes back.
    private static func send(_ bytes: [UInt8], to test: FlowrunTest) throws -> [UInt8] {
        let descriptor = try connect(to: test)
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
        var reply: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 { reply += buffer[..<count] }
        return reply
    }

    private static func connect(to test: FlowrunTest) throws -> Int32 {
        let folder = test.path(".flowrun")
        let name = try #require(
            try FileManager.default.contentsOfDirectory(atPath: folder).first { $0.hasSuffix(".sock") })
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array("\(folder)/\(name)".utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0, "errno \(errno)")
        return descriptor
    }
}
