import FlowrunTestSupport
import Testing

/// What steps and groups hand on, and who reads it.
struct HandedOnValueTests {
    // F14
    @Test func `a step writes outputs in all three forms, and others read them typed`() async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            steps:
              lines:
                run: |
                  echo "count=3" >> "$FLOWRUN_OUTPUT"
                  printf 'text<<EOF\nfirst\n$(touch pwned)\nEOF\n' >> "$FLOWRUN_OUTPUT"
                  echo 'list=["a","b c"]' >> "$FLOWRUN_OUTPUT"
                outputs: { count: int, text: string, list: list }
              object:
                run: echo '{"ready":true,"size":7}' > "$FLOWRUN_OUTPUT"
                outputs: { ready: bool, size: int }
              shown:
                run: "printf '  answer \n\n'"
                outputs: { answer: { type: string, from: stdout } }
              reader:
                needs: [lines, object, shown]
                if: steps.object.outputs.ready && steps.lines.outputs.count < steps.object.outputs.size
                env:
                  TEXT: ${{ steps.lines.outputs.text }}
                  ANSWER: "${{ steps.shown.outputs.answer }}"
                run: [printf, "%s|", "${{ steps.lines.outputs.list[1] }}", "n=${{ steps.lines.outputs.count }}"]
              env: { needs: [reader, lines, shown], run: 'printf "%s|%s|" "$TEXT" "$ANSWER"',
                     env: { TEXT: "${{ steps.lines.outputs.text }}", ANSWER: "${{ steps.shown.outputs.answer }}" } }
            """#)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.output(of: "reader") == "b c|n=3|")
        #expect(log.output(of: "env") == "first\n$(touch pwned)|  answer \n|")
        #expect(!test.exists("pwned"))
        let outputs = log.finished("lines")?["outputs"]
        #expect(outputs?["count"]?.int == 3)
        #expect(outputs?["list"]?.strings == ["a", "b c"])
        #expect(log.finished("object")?["outputs"]?["ready"] == .bool(true))
        LogInvariants.check(log)
    }

    // F15
    @Test(
        arguments: [
            ("exit 0", "did not write the declared output `v`"),
            ("echo v=abc >> $FLOWRUN_OUTPUT", "v"),
            ("echo w=1 >> $FLOWRUN_OUTPUT", "w"),
            ("echo nothing >> $FLOWRUN_OUTPUT", "nothing"),
        ])
    func `outputs that are not as declared fail the step, and its dependents are not run`(
        script: String, word: String
    ) async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: \(script), outputs: { v: int } }
              b: { needs: [a], run: "touch ran", env: { V: "${{ steps.a.outputs.v }}" } }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.outcomes == ["a": "failure", "b": "not-run"])
        let cause = try #require(log.finished("a")?.cause)
        #expect(cause.kind == "output" && cause.message?.contains(word) == true, "\(cause)")
        #expect(!test.exists("ran"))
        LogInvariants.check(log)
    }

    // L5
    @Test func `a failed attempt's outputs are dropped, the last one's count`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a:
                run: |
                  echo "v=$FLOWRUN_ATTEMPT" >> "$FLOWRUN_OUTPUT"
                  [ "$FLOWRUN_ATTEMPT" = 3 ]
                retry: { attempts: 5 }
                outputs: { v: int }
              b: { needs: [a], run: [echo, "${{ steps.a.outputs.v }}"] }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        #expect(try result.log().output(of: "b") == "3\n")
    }

    // F21
    @Test func `a group hands on what its expressions say, and a fan-out a list in the order of its items`()
        async throws
    {
        let test = try FlowrunTest(
            #"""
            version: 1
            steps:
              g:
                steps:
                  inner: { run: 'echo n=2 >> "$FLOWRUN_OUTPUT"', outputs: { n: int } }
                outputs: { n: "${{ steps.inner.outputs.n }}", text: "n is ${{ steps.inner.outputs.n }}" }
              each:
                for-each: [c, a, b]
                fail-fast: false
                continue-on-error: true
                run: '[ "$item" != a ] && echo "name=<$item>" >> "$FLOWRUN_OUTPUT"'
                outputs: { name: string }
              builds:
                for-each: [x, y]
                as: target
                steps:
                  compile: { run: 'echo "bytes=${#target}0" >> "$FLOWRUN_OUTPUT"', outputs: { bytes: int } }
              reader:
                needs: [g, each, builds]
                run:
                  - printf
                  - "%s|"
                  - ${{ steps.g.outputs.n }}
                  - ${{ steps.g.outputs.text }}
                  - ${{ toJSON(steps.each.outputs.name) }}
                  - ${{ join(steps.each.items.*.outcome, ',') }}
                  - ${{ join(steps.each.items.*.outputs.name ?? 'none', ',') }}
                  - ${{ sum(steps.builds.items.*.compile.outputs.bytes ?? 0) }}
                  - ${{ steps.builds.items[1].item }}
            """#)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(
            log.output(of: "reader")
                == #"2|n is 2|["<c>",null,"<b>"]|success,failure,success|<c>,none,<b>|20|y|"#)
        #expect(log.first("group.finished", group: "g")?["outputs"]?["n"]?.int == 2)
        LogInvariants.check(log)
    }

    @Test func `the items of a fan-out have the same fields for copies that succeeded and that failed`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              each: { for-each: [a, b, c], fail-fast: false, continue-on-error: true, run: 'echo x; [ $item != b ]' }
              groups:
                for-each: [a, b]
                fail-fast: false
                continue-on-error: true
                steps: { m: { run: 'echo y; [ $item != b ]' } }
              reader:
                needs: [each, groups]
                run: [printf, "%s\\n%s\\n", "${{ toJSON(steps.each.items) }}", "${{ toJSON(steps.groups.items) }}"]
            """)
        let log = try await test.runLogged().log()
        let rest = #""outputs":{}}"#
        #expect(
            log.output(of: "reader") == """
                [{"item":"a","outcome":"success","exit_code":0,\(rest),\
                {"item":"b","outcome":"failure","exit_code":1,\(rest),\
                {"item":"c","outcome":"success","exit_code":0,\(rest)]
                [{"item":"a","outcome":"success","outputs":{},"m":{"outcome":"success","exit_code":0,\(rest)},\
                {"item":"b","outcome":"failure","outputs":{},"m":{"outcome":"failure","exit_code":1,\(rest)}]

                """)
    }

    // M1
    @Test func `a waterfall hands each member the result of the one before`() async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            steps:
              chain:
                order: sequence
                steps:
                  first: { run: 'printf "one\n"; echo "n=1" >> "$FLOWRUN_OUTPUT"', outputs: { n: int } }
                  second:
                    stdin: ${{ previous.stdout }}
                    env: { N: "${{ previous.outputs.n }}" }
                    run: 'cat; echo "n=$N"'
                  third: { stdin: "${{ previous.stdout }}", run: [tr, a-z, A-Z] }
              outside: { needs: [chain], stdin: "fixed text", run: cat }
            """#)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.output(of: "chain.second") == "one\nn=1\n")
        #expect(log.output(of: "chain.third") == "ONE\nN=1\n")
        #expect(log.output(of: "outside") == "fixed text")
        LogInvariants.check(log)
    }

    @Test func `bytes that are no UTF-8 pass from step to step unchanged`() async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            steps:
              chain:
                order: sequence
                steps:
                  a: { run: "head -c 300000 /dev/urandom > sent; cat sent" }
                  b: { stdin: "${{ previous.stdout }}", run: cat > received }
                  c: { run: cmp sent received }
            """#)
        try await test.runLogged().expect(exit: 0)
    }

    // M3
    @Test func `a failing member of a waterfall ends it at once`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              chain:
                order: sequence
                steps: { a: { run: "true" }, b: { run: exit 4 }, c: { run: touch ran } }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.outcomes == ["chain.a": "success", "chain.b": "failure", "chain.c": "not-run"])
        #expect(log.finished("chain.c")?.cause?.rootStep == "chain.b")
        #expect(!test.exists("ran"))
        LogInvariants.check(log)
    }

    @Test func `a step whose output others read is stopped where it writes without end`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: exec tr '\\0' x < /dev/zero }
              b: { needs: [a], stdin: "${{ steps.a.stdout }}", run: wc -c }
            """)
        let result = try await test.run("workflow.yml", "--output", "none")
        result.expect(exit: 1)
        result.expect(stdout: "wrote more to standard output than the 64 MiB that can be kept for others")
        #expect(test.survivors() == [])
    }

    // A value that nobody knows before is no reason for a failure where the caller has left it out.
    @Test(arguments: ["a", "g.m", "each.m", "b", ""])
    func `what the caller has not chosen counts as skipped in hooks, and fails no group's outputs`(
        chosen: String
    ) async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            outputs: { v: "${{ steps.b.outputs.v }}" }
            steps:
              a: { run: "true" }
              b: { run: 'echo v=1 >> "$FLOWRUN_OUTPUT"', outputs: { v: string } }
              g:
                outputs: { v: "${{ steps.b.outputs.v }}" }
                steps:
                  m: { run: "true" }
                  b: { run: 'echo v=2 >> "$FLOWRUN_OUTPUT"', outputs: { v: string } }
                finally:
                  clean: { run: [echo, "${{ steps.b.outcome }} ${{ steps.b.outputs.v ?? 'none' }}"] }
              each:
                for-each: [x]
                steps: { m: { run: "true" }, o: { run: "true" } }
            finally:
              report:
                run:
                  - echo
                  - ${{ steps.b.outcome }} ${{ steps.b.outputs.v ?? 'none' }} ${{ steps.g.outcome }}
                  - ${{ len(steps.each.items) }} ${{ join(steps.each.items.*.o.outcome, '') }} ${{ run.outcome }}
            """#)
        let result = try await test.start(
            ["run", "workflow.yml", "--log", "json"] + (chosen.isEmpty ? [] : [chosen])
        ).finish()
        result.expect(exit: 0)
        let log = try result.log()
        let expected = [
            "a": "skipped none skipped 0  success\n", "g.m": "skipped none success 0  success\n",
            "each.m": "skipped none skipped 1 skipped success\n", "b": "success 1 skipped 0  success\n",
            "": "success 1 success 1 success success\n",
        ]
        #expect(log.output(of: "finally.report") == expected[chosen])
        if chosen == "g.m" { #expect(log.output(of: "g.finally.clean") == "skipped none\n") }
        #expect(log.first("run.finished")?["outputs"]?["v"]?.string == (["b", ""].contains(chosen) ? "1" : nil))
        LogInvariants.check(log)
    }

    @Test func `a group in which drain rules something out does not fail by its outputs`() async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            fail-fast: drain
            max-parallel: 1
            steps:
              bad: { run: exit 3 }
              g:
                outputs: { v: "${{ steps.m.outputs.v }}" }
                steps: { m: { run: 'echo v=1 >> "$FLOWRUN_OUTPUT"', outputs: { v: string } } }
            """#)
        let result = try await test.runLogged()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.outcomes == ["bad": "failure", "g.m": "not-run"])
        #expect(log.first("run.finished")?["errors"]?.array?.count == 1)
        LogInvariants.check(log)
    }

    @Test func `a hash of all files is one, and no item is cut short`() async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            steps:
              hash: { run: [echo, "${{ len(hashFiles('**')) }}"] }
              cut: { for-each: "${{ fromJSON('[\"a\\u0000b\"]') }}", run: 'echo "$item"', continue-on-error: true }
            """#)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.output(of: "hash") == "64\n")
        #expect(
            log.finished("cut[0]")?.cause?.message
                == "a value has a NUL character, which no argument or variable can hold")
        #expect(log.output(of: "cut[0]") == "")
    }

    @Test func `the items of a fanned-out group have its outputs`() async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            steps:
              g:
                for-each: [x, y]
                outputs: { v: "${{ steps.m.outputs.v }}" }
                steps: { m: { run: 'echo "v=<$item>" >> "$FLOWRUN_OUTPUT"', outputs: { v: string } } }
                finally: { clean: { run: 'true' } }
              r: { needs: [g], run: [echo, "${{ join(steps.g.items.*.outputs.v, '') }}"] }
              all: { needs: [g], run: [echo, "${{ toJSON(steps.g.items[0]) }}"] }
            """#)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.output(of: "r") == "<x><y>\n")
        // Steps of a hook are not members.
        #expect(log.output(of: "all").contains(#""m":{"#) && !log.output(of: "all").contains("clean"))
    }

    @Test func `thousands of steps read the run and the outcome of thousands in linear time`() async throws {
        let items = (0..<3000).map(String.init).joined(separator: ",")
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { for-each: [\(items)], max-items: 3000, platforms: [windows], run: "true" }
              b:
                needs: [a]
                for-each: [\(items)]
                max-items: 3000
                steps:
                  id: { if: run.id == '', run: "true" }
                  outcome: { if: steps.a.outcome == 'failure', run: "true" }
                  items: { if: "steps.a.items[2999].item != '2999'", run: "true" }
            """)
        let result = try await test.run("workflow.yml", "--log", "quiet")
        result.expect(exit: 0)
    }
}
