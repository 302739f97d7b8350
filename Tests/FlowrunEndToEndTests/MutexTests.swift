import FlowrunTestSupport
import Testing

/// Mutual exclusion.
struct MutexTests {
    private func run(_ test: FlowrunTest, jobs: Int = 8, exit code: Int32 = 0) async throws -> EventLog {
        let result = try await test.runLogged("--verbose", "-j", String(jobs))
        result.expect(exit: code)
        let log = try result.log()
        #expect(test.survivors() == [])
        return log
    }

    private func rules(_ requests: [String: [String: Int]], jobs: Int = 8) -> ResourceRules {
        var rules = ResourceRules(jobs: jobs)
        rules.requests = requests
        return rules
    }

    // H1, I7
    @Test func `a mutex never has two holders`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { mutex: m, run: 'mkdir held && rmdir held' }
              b: { mutex: m, run: 'mkdir held && rmdir held' }
              c: { mutex: m, run: 'mkdir held && rmdir held' }
              each: { for-each: [1, 2, 3], mutex: m, run: 'mkdir held && rmdir held' }
            """)
        let log = try await run(test)
        let holders = ["a", "b", "c", "each[1]", "each[2]", "each[3]"]
        #expect(log.maximumRunning() == 1)
        #expect(log.all("lock.acquired").count == 6 && log.all("lock.released").count == 6)
        LogInvariants.check(log, steps: holders)
        rules(Dictionary(uniqueKeysWithValues: holders.map { ($0, ["m": 1]) })).check(log)
    }

    // H2, F2
    @Test func `a lock together with a dependency that stands behind in the file does not deadlock`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              b: { needs: [a], mutex: m, run: "true" }
              a: { mutex: m, run: "true" }
            """)
        for jobs in [1, 8] {
            let log = try await run(test, jobs: jobs)
            #expect(log.startOrder == ["a", "b"])
            LogInvariants.check(log, needs: DependencyTable(["b": ["a"]]))
            rules(["a": ["m": 1], "b": ["m": 1]]).check(log)
        }
    }

    // H3
    @Test func `a lock is taken once, when all else is there, and not at all by what does not run`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              long: { run: "read _ < go" }
              late: { needs: [long], if: "true", mutex: m, run: "true" }
              soon: { mutex: m, run: "true" }
              skipped: { if: "false", mutex: m, run: touch ran }
              bad: { run: exit 1 }
              victim: { needs: [bad], mutex: m, run: touch ran }
            """)
        let gate = try test.gate("go")
        let running = try await test.start("run", "workflow.yml", "--log", "json", "--verbose", "-j", "8")
        // Were the lock taken earlier, this one could not have it.
        try await running.waitForEvent("step.finished", step: "soon")
        gate.open()
        let result = try await running.finish()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.all("lock.acquired").compactMap(\.step) == ["soon", "late"])
        #expect(log.all("lock.released").compactMap(\.step) == ["soon", "late"])
        let evaluated = try #require(log.finished("long")).seq
        #expect(try #require(log.first("lock.acquired", step: "late")).seq > evaluated)
        #expect(!test.exists("ran"))
        LogInvariants.check(log, needs: DependencyTable(["late": ["long"], "victim": ["bad"]]))
        rules(["late": ["m": 1], "soon": ["m": 1]]).check(log)
    }

    // H4
    @Test func `a lock that is named again inside its holder is a warning with both places, and the run goes on`()
        async throws
    {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              outer:
                mutex: m
                steps:
                  middle:
                    steps:
                      inner:
                        mutex: m
                        run: touch ran
            """)
        let result = try await test.run("check", "workflow.yml")
        result.expect(exit: 0)
        result.expect(stdout: "workflow.yml:9:", "`outer.middle.inner`", "`m`", "workflow.yml:4:")
        try await test.run("check", "--strict", "workflow.yml").expect(exit: 2)
        try await test.run("workflow.yml").expect(exit: 0)
        #expect(test.exists("ran"))
    }

    // H5
    @Test func `two locks named in opposite order never deadlock`() async throws {
        let items = (1...30).map(String.init).joined(separator: ", ")
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              mn: { for-each: [\(items)], mutex: [m, n], run: ["true"] }
              nm: { for-each: [\(items)], mutex: [n, m], run: ["true"] }
            """)
        let log = try await run(test, jobs: 4)
        #expect(log.maximumRunning() == 1)
        let holders = (1...30).flatMap { ["mn[\($0)]", "nm[\($0)]"] }
        LogInvariants.check(log, steps: holders)
        rules(Dictionary(uniqueKeysWithValues: holders.map { ($0, ["m": 1, "n": 1]) }), jobs: 4).check(log)
    }

    // H6, I10
    @Test func `a waiter takes no slot, and of waiters the first is served first`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              holder: { mutex: m, order: sequence, steps: { early: { run: "true" }, last: { run: "true" } } }
              first: { mutex: m, run: "true" }
              second: { mutex: m, run: "true" }
              free: { run: "true" }
              # These let both waiters go before `free`, which has a shorter path behind it.
              then: { needs: [first, second], order: sequence, steps: { a: { run: ["true"] }, b: { run: ["true"] } } }
              after: { needs: [free], run: "true" }
            """)
        let log = try await run(test, jobs: 1)
        let order = ["holder.early", "free", "holder.last", "first", "second", "then.a", "then.b", "after"]
        #expect(log.startOrder == order)
        #expect(log.all("step.waiting").map { $0["on"]?.string } == ["m", "m"])
        LogInvariants.check(log, needs: DependencyTable(["after": ["free"]]))
        rules(["holder": ["m": 1], "first": ["m": 1], "second": ["m": 1]], jobs: 1).check(log)
    }

    // H7
    @Test func `every kind of end frees a lock, and so does the wait before another attempt`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              failed: { mutex: a, run: exit 1 }
              after-failed: { mutex: a, run: "true" }
              slow: { mutex: b, timeout: 100ms, grace: 0s, run: sleep 9999 }
              after-slow: { mutex: b, run: "true" }
              absent: { mutex: c, run: [./absent] }
              after-absent: { mutex: c, run: "true" }
              group:
                fail-fast: true
                steps:
                  cancelled: { mutex: d, run: echo up > up; sleep 9999 }
                  bad: { run: read _ < go; exit 1 }
              after-cancelled: { mutex: d, run: "true" }
              flaky: { mutex: e, run: '[ -e between ]', retry: { attempts: 2, delay: 1s } }
              between: { mutex: e, run: touch between }
            """)
        let gate = try test.gate("go")
        let running = try await test.start("run", "workflow.yml", "--log", "json", "--verbose", "-j", "20")
        try await running.waitForFile("up")
        gate.open()
        let result = try await running.finish()
        result.expect(exit: 1)
        #expect(test.survivors() == [])
        let log = try result.log()
        let outcomes = [
            "failed": "failure", "slow": "timeout", "absent": "failure", "group.cancelled": "cancelled",
            "flaky": "success", "between": "success",
        ]
        for (step, outcome) in outcomes { #expect(log.outcomes[step] == outcome, "\(step)") }
        for (holder, next) in [
            ("failed", "after-failed"), ("slow", "after-slow"), ("absent", "after-absent"),
            ("group.cancelled", "after-cancelled"),
        ] {
            #expect(log.outcomes[next] == "success")
            let released = try #require(log.first("lock.released", step: holder)).seq
            #expect(try #require(log.first("lock.acquired", step: next)).seq > released)
        }
        #expect(
            log.all("lock.acquired").filter { $0["name"] == .string("e") }.compactMap(\.step)
                == ["flaky", "between", "flaky"])
        LogInvariants.check(log)
        rules(
            [
                "failed": ["a": 1], "after-failed": ["a": 1], "slow": ["b": 1], "after-slow": ["b": 1],
                "absent": ["c": 1], "after-absent": ["c": 1], "group.cancelled": ["d": 1],
                "after-cancelled": ["d": 1], "flaky": ["e": 1], "between": ["e": 1],
            ], jobs: 20
        ).check(log)
    }
}
