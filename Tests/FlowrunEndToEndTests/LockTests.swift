import FlowrunTestSupport
import Testing

/// `mutex`, `pools` and `pool`.
struct LockTests {
    // H1
    @Test func `one holder of a mutex at a time, and others run meanwhile`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { mutex: m, run: 'mkdir held && rmdir held' }
              b: { mutex: [m, n], run: 'mkdir held && rmdir held' }
              c: { mutex: [n, m], run: 'mkdir held && rmdir held' }
              g: { mutex: m, max-parallel: 1, steps: { x: { run: 'mkdir held && rmdir held' }, y: { run: 'mkdir held && rmdir held' } } }
              free: { run: "true" }
            """)
        let result = try await test.runLogged("-j", "8")
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.maximumRunning { $0 != "free" } == 1)
        LogInvariants.check(log)
    }

    @Test func `a pool lets as many run as it has units`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            pools: { slots: 2 }
            steps:
              pair: { for-each: [1, 2], pool: slots, run: 'touch up$item; read _ < gate' }
              big: { pool: { slots: 2 }, run: "true" }
              more: { for-each: [1, 2, 3], pool: { slots: 1 }, run: "true" }
            """)
        let gate = try test.gate("gate")
        let running = try await test.start("workflow.yml", "--log", "json", "-j", "8")
        try await running.waitForFile("up1")
        try await running.waitForFile("up2")
        gate.open(2)
        let result = try await running.finish()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.maximumRunning { $0.hasPrefix("pair") || $0.hasPrefix("more") } == 2)
        #expect(log.maximumRunning { $0 == "big" || $0.hasPrefix("more") } <= 2)
        LogInvariants.check(log)
    }

    // H7
    @Test func `a lock is let go while a holder waits to be tried again`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              first: { mutex: m, run: '[ -e second ] || exit 1', retry: { attempts: 2, delay: 1s } }
              second: { mutex: m, run: touch second }
            """)
        let result = try await test.runLogged("-j", "1")
        result.expect(exit: 0)
    }

    @Test func `a mutex passes on only when a cancelled holder's processes are gone`() async throws {
        try await withLongEnoughLimit { limit, _ in
            let test = try FlowrunTest(
                """
                version: 1
                steps:
                  a: { mutex: m, timeout: \(limit), grace: 300ms, run: 'trap "" TERM; mkdir held; sleep 9999' }
                  b: { needs: { a: done }, mutex: m, run: "true" }
                """)
            let result = try await test.runLogged()
            guard test.exists("held") else { return false }
            result.expect(exit: 1)
            let log = try result.log()
            #expect(log.outcomes == ["a": "timeout", "b": "success"])
            #expect(test.survivors().isEmpty)
            return true
        }
    }
}
