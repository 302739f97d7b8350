import FlowrunTestSupport
import Testing

/// What an attempt is and what it gets. When there is another one is in `RetryTests`.
struct AttemptTests {
    // L3
    @Test func `a success and a skip are not tried again, nor a failure that is not named`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              good: { run: echo >> good, retry: { attempts: 3 } }
              skipped: { if: "false", run: echo >> skipped, retry: { attempts: 3 } }
              other: { run: echo >> other; exit 3, retry: { attempts: 3, when: [75] } }
              victim: { needs: [other], run: echo >> victim, retry: { attempts: 3 } }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(
            log.outcomes == ["good": "success", "skipped": "skipped", "other": "failure", "victim": "not-run"])
        #expect(log.finished("other")?["exit_code"]?.int == 3)
        #expect(log.all("step.retry").isEmpty)
        for name in ["good", "other"] { #expect(try test.contents(of: name) == "\n") }
        for name in ["skipped", "victim"] { #expect(!test.exists(name)) }
        LogInvariants.check(log)
    }

    // L4
    @Test func `errors of earlier attempts are nobody's errors`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                fail-fast: true
                steps:
                  flaky: { run: '[ $FLOWRUN_ATTEMPT = 3 ]', retry: { attempts: 5 } }
                  beside: { needs: [flaky], run: "true" }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.all("step.attempt", step: "g.flaky").count == 3)
        #expect(log.first("group.finished", group: "g")?.outcome == "success")
        #expect(log.first("group.finished", group: "g")?["errors"]?.array == [])
        #expect(log.errors.isEmpty && log.runFinished?["tolerated"]?.strings == [])
        LogInvariants.check(log, needs: DependencyTable(["g.beside": ["g.flaky"]]))
    }

    // L5
    @Test func `every attempt gets the same inputs`() async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            params: { p: { type: string, default: of the file } }
            steps:
              made: { run: 'printf "one\ntwo\n"; echo n=7 >> "$FLOWRUN_OUTPUT"', outputs: { n: int } }
              each:
                needs: [made]
                for-each: [x]
                stdin: ${{ steps.made.stdout }}
                env: { N: "${{ steps.made.outputs.n }}" }
                run: |
                  { cat; echo "$N $p $item"; } > "seen.$FLOWRUN_ATTEMPT"
                  [ "$FLOWRUN_ATTEMPT" = 3 ]
                retry: { attempts: 3 }
            """#)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        for attempt in 1...3 {
            #expect(try test.contents(of: "seen.\(attempt)") == "one\ntwo\n7 of the file x\n")
        }
        LogInvariants.check(try result.log(), needs: DependencyTable(["each": ["made"]]))
    }

    // L6
    @Test func `nothing is waited for after the last attempt`() async throws {
        // A wait after the third attempt would be sixteen minutes long.
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: exit 1, retry: { attempts: 3, delay: 1ms, backoff: 1000, max-delay: 1h } }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.all("step.attempt", step: "a").count == 3)
        #expect(log.all("step.retry", step: "a").compactMap { $0["delay"]?.double } == [0.001, 1])
        #expect(test.survivors() == [])
        LogInvariants.check(log)
    }

    @Test func `the end of a step tells the last attempt that had a process`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              never: { run: [./no-such-program], retry: { attempts: 3 } }
              prepare: { run: chmod +x program }
              once: { needs: [prepare], run: [./program], retry: { attempts: 3 } }
            """, files: ["program": "#!/bin/sh\nrm program\nexit 1\n"])
        let log = try await test.runLogged().log()
        #expect(log.finished("never")?["attempt"]?.int == 0)
        #expect(log.finished("once")?["attempt"]?.int == 1)
        #expect(log.all("step.retry", step: "never").compactMap { $0["attempt"]?.int } == [1, 2])
    }
}
