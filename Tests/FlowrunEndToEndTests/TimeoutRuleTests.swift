import FlowrunTestSupport
import Glibc
import Testing

/// Which limit counts, from when, and what is blamed. What happens to the processes is in `TimeoutTests`.
struct TimeoutRuleTests {
    // K1
    @Test func `a limit that is exceeded is one end, with the limit as its cause`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: sleep 9999, timeout: 1s } }\n")
        let result = try await test.runLogged()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.all("step.finished").map(\.outcome) == ["timeout"])
        #expect(log.finished("a")?.cause?.kind == "timeout")
        #expect(log.errors == ["a"])
        #expect(log.all("step.cancel_requested", step: "a").count <= 1)
        LogInvariants.check(log, steps: ["a"])
        #expect(test.survivors() == [])
    }

    // K2
    @Test func `of limits that were not reached nothing is left`() async throws {
        let items = (1...200).map(String.init).joined(separator: ", ")
        let test = try FlowrunTest(
            "version: 1\nsteps: { each: { for-each: [\(items)], timeout: 1h, run: ['true'] } }\n")
        let result = try await test.runLogged("-j", "4")
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.runFinished?["counts"]?["success"]?.int == 200)
        #expect(log.all("step.cancel_requested").isEmpty && log.all("step.signal").isEmpty)
        LogInvariants.check(log)
    }

    // K3
    @Test func `what is cancelled before its limit comes stays cancelled when it has come`() async throws {
        try await withLongEnoughLimit { limit, _ in
            // `clock` has the same limit and starts later: when its limit has come, that of `victim` has come too.
            let test = try FlowrunTest(
                """
                version: 1
                defaults: { grace: 1000s }
                steps:
                  group:
                    fail-fast: true
                    steps:
                      victim: { timeout: \(limit), run: "trap '' TERM; echo > fail; read _ < go; exit 0" }
                      bad: { run: read _ < fail; exit 1 }
                  clock: { timeout: \(limit), run: sleep 9999 }
                """)
            let (fail, go) = (try test.gate("fail"), try test.gate("go"))
            let running = try await test.start("run", "workflow.yml", "--log", "json", "-j", "3")
            try await running.waitForEvent("step.finished", step: "clock")
            // `victim` has let `bad` go, unless its limit came before.
            fail.open()
            go.open()
            let result = try await running.finish()
            result.expect(exit: 1)
            let log = try result.log()
            guard log.finished("group.victim")?.outcome == "cancelled" else { return false }
            #expect(log.startOrder.firstIndex(of: "group.victim")! < log.startOrder.firstIndex(of: "clock")!)
            #expect(log.finished("group.victim")?.cause?.kind == "fail-fast")
            #expect(log.finished("group.victim")?["exit_code"]?.int == 0)
            #expect(log.all("step.cancel_requested", step: "group.victim").count == 1)
            #expect(log.errors == ["group.bad", "clock"])
            LogInvariants.check(log)
            return true
        }
    }

    // K4
    @Test(arguments: ["0s", "0ms", "-1s"])
    func `a limit of nothing, or of less, is refused`(limit: String) async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { timeout: \(limit), run: touch ran }
              g:
                timeout: \(limit)
                steps: { b: { run: touch ran } }
            """)
        let result = try await test.run("check", "workflow.yml")
        result.expect(exit: 2)
        result.expect(stdout: "workflow.yml:3:17: error[FR0206]", "workflow.yml:5:14: error[FR0206]")
        try await test.run("workflow.yml").expect(exit: 2, stdout: "")
        #expect(!test.exists("ran"))
    }

    // K5
    @Test func `of several limits the earliest wins and is named`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            timeout: 1h
            steps:
              short:
                timeout: 300ms
                steps: { a: { timeout: 10m, run: sleep 9999 } }
              long:
                timeout: 10m
                steps: { b: { timeout: 300ms, run: sleep 9999 } }
            """)
        let result = try await test.runLogged("-j", "2")
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.outcomes == ["short.a": "cancelled", "long.b": "timeout"])
        #expect(log.finished("short.a")?.cause?.root["group"]?.string == "short")
        #expect(log.finished("long.b")?.cause?.rootStep == "long.b")
        #expect(log.all("step.cancel_requested", step: "short.a").count == 1)
        #expect(Set(log.errors) == ["short", "long.b"])
        for group in ["short", "long"] {
            #expect(log.first("group.finished", group: group)?.outcome == "timeout")
        }
        LogInvariants.check(log)
        #expect(test.survivors() == [])
    }

    // K6
    @Test func `a step's limit does not count the wait for a slot or a lock`() async throws {
        try await withLongEnoughLimit { limit, seconds in
            let test = try FlowrunTest(
                """
                version: 1
                steps:
                  long: { mutex: m, run: sleep \(seconds + 0.1) }
                  queued: { timeout: \(limit), run: ["true"] }
                  locked: { mutex: m, timeout: \(limit), run: ["true"] }
                """)
            let result = try await test.runLogged("-j", "1")
            let log = try result.log()
            let isSlow = ["queued", "locked"].contains { step in
                log.outcomes[step] == "timeout" && (log.finished(step)?["duration"]?.double ?? 0) >= seconds
            }
            guard !isSlow else { return false }
            result.expect(exit: 0)
            #expect(log.startOrder == ["long", "queued", "locked"])
            LogInvariants.check(log)
            return true
        }
    }

    // K7
    @Test func `one limit over a whole set ends it once, after its last member`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              set:
                timeout: 300ms
                steps:
                  done: { run: ["true"] }
                  hangs: { for-each: [1, 2, 3], run: sleep 9999 }
            """)
        let result = try await test.runLogged("-j", "4")
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.all("group.finished", group: "set").map(\.outcome) == ["timeout"])
        #expect(log.all("group.cancel_requested", group: "set").count == 1)
        #expect(log.errors == ["set"])
        LogInvariants.check(log)
        #expect(test.survivors() == [])
    }
}
