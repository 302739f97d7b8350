import FlowrunTestSupport
import Foundation
import Testing

@testable import RunLog

@Suite struct TextReporterTests {
    private func summary(repeating tail: String) -> String {
        """

        4 errors:
          lint: exit 2 (release.yml:31)
            | lint: a.c:3: unused
          build[x86].crash: killed by SIGSEGV (release.yml:12)
          slow: timed out after 1s (release.yml:50)
        \(tail)  the run: timed out after 3s (release.yml)
        tolerated: flaky (exit 1)
        cancelled: build[x86].compile because build[x86].crash failed
        not run: publish, report because lint failed
        failure in 3.002s: 4 failure, 1 timeout, 1 cancelled, 2 not-run

        """
    }

    @Test func `grouped shows a step's output as one block behind its line`() {
        #expect(
            sampleRun().text() == """
                flowrun 1.0: release.yml (release-check), 8 steps, up to 4 at once
                    0.001  warning              slow-disk  the log is slow
                    0.803  failure      0.799s  lint  exit 2
                | lint: a.c:3: unused
                    0.901  failure      0.898s  build[x86].crash  killed by SIGSEGV, killed 2 left behind, \
                output incomplete (held_open)
                    0.911  cancelled    0.908s  build[x86].compile  fail-fast of group build[x86] because \
                build[x86].crash failed
                | CC a.c
                | a.c: warning
                |\u{20}
                | LD a
                    0.911  failure      0.910s  group build[x86]  build[x86].crash failed
                    0.921  failure      0.007s  flaky  exit 1, tolerated
                    1.922  running              slow
                | stopping
                    1.924  timeout      1.002s  slow  timed out after 1s
                    2.000  paused               the run  by ctl
                    2.100  jobs                 the run  up to 2 at once by ctl
                    2.200  resumed              the run  by ctl
                    3.000  stopping             the run  timed out after 3s: late has 10s to end
                    3.001  failure              broken  cannot start `/nowhere`: no such file or directory

                """ + summary(repeating: ""))
    }

    @Test func `stream shows whole lines as they come, each behind its step's id`() {
        #expect(
            sampleRun().text(output: .stream) == """
                flowrun 1.0: release.yml (release-check), 8 steps, up to 4 at once
                    0.001  warning              slow-disk  the log is slow
                [build[x86].compile] CC a.c
                [lint] lint: a.c:3: unused
                [build[x86].compile] a.c: warning
                [build[x86].compile]\u{20}
                [build[x86].compile] LD a
                    0.803  failure      0.799s  lint  exit 2
                    0.901  failure      0.898s  build[x86].crash  killed by SIGSEGV, killed 2 left behind, \
                output incomplete (held_open)
                    0.911  cancelled    0.908s  build[x86].compile  fail-fast of group build[x86] because \
                build[x86].crash failed
                    0.911  failure      0.910s  group build[x86]  build[x86].crash failed
                    0.921  failure      0.007s  flaky  exit 1, tolerated
                [slow] stopping
                    1.924  timeout      1.002s  slow  timed out after 1s
                    2.000  paused               the run  by ctl
                    2.100  jobs                 the run  up to 2 at once by ctl
                    2.200  resumed              the run  by ctl
                    3.000  stopping             the run  timed out after 3s: late has 10s to end
                    3.001  failure              broken  cannot start `/nowhere`: no such file or directory

                """ + summary(repeating: "    | stopping\n"))
    }

    /// Two steps, one of which fails, both with output.
    private var twoSteps: EventLog {
        var log = EventLog()
        log.add(
            .runStarted(RunStarted(run: "r", file: "a.yml", name: nil, steps: 2, jobs: 1, version: "1.0")), at: 0)
        log.add(StepOutput.text("fine\n", of: "good"), at: 1)
        log.add(
            .stepFinished(
                StepFinished(
                    step: "good", attempt: 1, outcome: .success, status: .exited(0), duration: .milliseconds(65_400))),
            at: 65_401)
        log.add(StepOutput.text("not fine\n", of: "bad", on: .stderr), at: 65_500)
        log.add(
            .stepFinished(
                StepFinished(
                    step: "bad", attempt: 1, outcome: .failure, status: .exited(1), duration: .seconds(3723),
                    cause: .exit(.exited(1), of: "bad", line: 4))),
            at: 3_788_600)
        return log
    }

    @Test func `failed shows blocks only of steps that did not succeed`() {
        #expect(
            twoSteps.text(output: .failed) == """
                flowrun 1.0: a.yml, 2 steps, up to 1 at once
                 1:05.401  success     1m05.4s  good
                  1:03:08  failure    1h02m03s  bad  exit 1
                | not fine

                """)
    }

    @Test func `none shows no output`() {
        #expect(
            twoSteps.text(output: .none) == """
                flowrun 1.0: a.yml, 2 steps, up to 1 at once
                 1:05.401  success     1m05.4s  good
                  1:03:08  failure    1h02m03s  bad  exit 1

                """)
    }

    @Test func `verbose also says what started, what was signalled and what did not run`() {
        var log = EventLog()
        let cause = Cause(kind: .timeout, message: "timed out after 1s", subject: .group("g"), file: "a.yml", line: 2)
        log.add(.groupStarted(group: "g"), at: 0)
        log.add(
            .stepStarted(StepStarted(step: "g.a", attempt: 1, pid: 77, command: .script(":"), line: 4)), at: 1)
        log.add(.groupCancelRequested(group: "g", cause: cause), at: 1000)
        log.add(.stepCancelRequested(step: "g.a", attempt: 1, cause: cause), at: 1000)
        log.add(.stepSignal(step: "g.a", attempt: 1, signal: "SIGTERM"), at: 1000)
        log.add(.stepAttempt(step: "g.a", attempt: 1, status: .signalled(15)), at: 1001)
        log.add(.stepFinished(StepFinished(step: "g.b", attempt: 0, outcome: .cancelled, cause: cause)), at: 1002)
        log.add(
            .groupFinished(
                GroupFinished(
                    group: "g", outcome: .timeout, duration: .milliseconds(1002), cause: cause, errors: [],
                    cancelled: ["g.a", "g.b"], notRun: [])),
            at: 1002)
        #expect(
            log.text(isVerbose: true) == """
                    0.000  started              group g
                    0.001  started              g.a  pid 77
                    1.000  stopping             group g  timed out after 1s
                    1.000  stopping             g.a  timed out after 1s
                    1.000  signal               g.a  SIGTERM
                    1.001  ended                g.a  attempt 1, killed by SIGTERM
                    1.002  cancelled            g.b  timed out after 1s
                    1.002  timeout      1.002s  group g  timed out after 1s

                """)
    }

    @Test func `colours mark outcomes and let the steps' colours through`() {
        var log = EventLog()
        log.add(StepOutput.text("\u{1B}[31mred\u{1B}[2J\n", of: "a"), at: 1)
        log.add(
            .stepFinished(StepFinished(step: "a", attempt: 1, outcome: .success, duration: .milliseconds(1))), at: 2)
        #expect(
            log.text(isColored: true) == """
                    \u{1B}[2m0.002\u{1B}[0m  \u{1B}[32msuccess\u{1B}[0m      0.001s  a
                | \u{1B}[31mred\\x1b[2J\u{1B}[0m

                """)
    }

    @Test func `victims are told once for each root, long lists shortened`() {
        var log = EventLog()
        let root = Cause.exit(.exited(1), of: "compile", line: 3)
        for number in 1...30 {
            log.add(
                .stepFinished(
                    StepFinished(
                        step: "t\(number)", attempt: 0, outcome: .notRun,
                        cause: .ruledOut("t\(number)", by: "compile", line: 9, root: root))),
                at: 5)
        }
        log.add(
            .stepFinished(
                StepFinished(
                    step: "undo", attempt: 0, outcome: .skipped,
                    cause: Cause(kind: .condition, message: "compile did not time out", subject: .step("undo")))),
            at: 5)
        log.add(
            .runFinished(
                RunFinished(
                    outcome: .failure, duration: .milliseconds(6),
                    counts: OutcomeCounts([.failure: 1, .skipped: 1, .notRun: 30]),
                    errors: [
                        .init(
                            step: "compile", group: nil, outcome: .failure, cause: root, file: "a.yml", line: 3,
                            status: .exited(1), outputTail: Array((1...25).map { "line \($0)\n" }.joined().utf8))
                    ], tolerated: [], cancelled: [], notRun: [])),
            at: 6)
        let tail = (6...25).map { "    | line \($0)\n" }.joined()
        #expect(
            log.text() == """

                1 error:
                  compile: exit 1 (a.yml:3)
                \(tail)not run: t1, t2, t3, t4, t5, t6, t7, t8 and 22 more because compile failed
                skipped: undo because compile did not time out
                failure in 0.006s: 1 failure, 1 skipped, 30 not-run

                """)
    }

    @Test func `a run in which all went well ends with one line`() {
        var log = EventLog()
        log.add(
            .runFinished(
                RunFinished(
                    outcome: .success, duration: .milliseconds(1204), counts: OutcomeCounts([.success: 3]), errors: [],
                    tolerated: [],
                    cancelled: [], notRun: [])),
            at: 1205)
        #expect(log.text() == "success in 1.204s: 3 success\n")
    }

    @Test func `a stream that stops inside a line does not run into the other one`() {
        var log = EventLog()
        log.add(StepOutput.text("half", of: "a", isPartial: true), at: 1)
        log.add(StepOutput.text(" whole\n", of: "a"), at: 1)
        log.add(StepOutput.text("half", of: "a", isPartial: true), at: 1)
        log.add(StepOutput.text("error\n", of: "a", on: .stderr), at: 1)
        log.add(.stepFinished(StepFinished(step: "a", attempt: 1, outcome: .success)), at: 2)
        #expect(log.text().hasSuffix("\n| half whole\n| half\n| error\n"))
    }

    @Test(arguments: OutputMode.allCases)
    func `no output, id or message can forge a line or reach the terminal raw`(output: OutputMode) {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<200 {
            var log = EventLog()
            let bytes = random.hostileBytes(upTo: 80)
            let hostile = String(decoding: bytes, as: UTF8.self)
            let cause = Cause(kind: .exit, message: hostile, subject: .step(hostile), file: hostile, line: 1)
            log.add(
                .runStarted(
                    RunStarted(run: "r", file: hostile, name: hostile, steps: 1, jobs: 1, version: "1")), at: 0)
            log.add(
                .stepOutput(
                    StepOutput(step: hostile, attempt: 1, stream: .stdout, bytes: lasting(bytes), isPartial: true)),
                at: 0)
            log.add(.stepFinished(StepFinished(step: hostile, attempt: 1, outcome: .failure, cause: cause)), at: 0)
            log.add(
                .runFinished(
                    RunFinished(
                        outcome: .failure, duration: .zero, counts: OutcomeCounts([.failure: 1]),
                        errors: [
                            .init(
                                step: hostile, group: nil, outcome: .failure, cause: cause, file: hostile, line: 1,
                                status: nil, outputTail: bytes)
                        ], tolerated: [hostile], cancelled: [], notRun: [])),
                at: 0)
            let shown = log.text(output: output)
            let controls = shown.unicodeScalars.filter {
                $0 != "\n" && $0 != "\t" && ($0.value < 0x20 || (0x7F...0x9F).contains($0.value))
            }
            #expect(controls.isEmpty)
            // Beside the steps' lines: the header, the step, "1 error:", the error, tolerated, the counts.
            let lines = shown.utf8.split(separator: UInt8(ascii: "\n"))
            #expect(
                lines.count { line in
                    !["| ", "    | ", "["].contains { line.starts(with: $0.utf8) }
                } == 6)
        }
    }

    @Test func `output too long for memory is shown whole and in pieces of bounded size`() {
        let sink = RecordingSink()
        let reporter = Viewed {
            TextReporter(sink: sink, view: $0, options: .init(spoolDirectory: NSTemporaryDirectory()))
        }
        let line = String(repeating: "x", count: 99) + "\n"
        let piece = [UInt8](String(repeating: line, count: 600).utf8)
        for number in 0..<20 {
            let output = StepOutput(step: "long", attempt: 1, stream: .stdout, bytes: lasting(piece), isPartial: false)
            reporter.report(RunEvent(sequence: number, wallClock: 0, elapsed: .zero, kind: .stepOutput(output)))
        }
        #expect(sink.records.isEmpty)
        let end = StepFinished(step: "long", attempt: 1, outcome: .success, duration: .zero)
        reporter.report(RunEvent(sequence: 20, wallClock: 0, elapsed: .zero, kind: .stepFinished(end)))
        #expect(sink.records.allSatisfy { $0.count < 128 * 1024 })
        #expect(sink.text.split(separator: "\n").dropFirst().count { $0 == "| " + line.dropLast() } == 12_000)
        #expect(sink.text.split(separator: "\n").count == 12_001)
    }

    @Test func `output that cannot be kept is shown out of turn, and none of it is lost`() {
        let sink = RecordingSink()
        let reporter = Viewed {
            TextReporter(sink: sink, view: $0, options: .init(spoolDirectory: "/proc/no/such/place"))
        }
        let long = String(repeating: "x", count: 40_000) + "\n"
        var log = EventLog()
        for step in ["a", "b"] { log.add(.started(step), at: 0) }
        log.add(StepOutput.text("kept\n", of: "a"), at: 1)
        log.add(StepOutput.text("other\n", of: "b"), at: 1)
        log.add(StepOutput.text(long, of: "a"), at: 2)
        log.add(StepOutput.text("last\n", of: "a"), at: 3)
        for step in ["a", "b"] {
            log.add(.stepFinished(StepFinished(step: step, attempt: 1, outcome: .success, duration: .zero)), at: 4)
        }
        log.report(to: reporter)
        #expect(
            sink.text == """
                    0.002  warning              a  its output is shown as it comes: it cannot be kept in \
                `/proc/no/such/place`: no such file or directory
                [a] kept
                [a] \(long)[a] last
                    0.004  success      0.000s  a
                    0.004  success      0.000s  b
                | other

                """)
        #expect(!reporter.reporter.lostOutput)
    }

    private func failure(_ step: String, output: String, command: FailedCommand?, script: String) -> RunFinished.Failure
    {
        RunFinished.Failure(
            step: step, group: nil, outcome: .failure, cause: .exit(.exited(1), of: step, line: 3), file: "a.yml",
            line: 3, status: .exited(1), outputTail: Array(output.utf8), command: command, script: script,
            outputBytes: output.utf8.count)
    }

    @Test func `an error has the place of its command, or else the script`() {
        let long = (1...30).map { "line \($0)\n" }.joined()
        let errors = [
            failure(
                "a", output: "", command: FailedCommand(text: "make", file: "a.yml", line: 7), script: "cd x\nmake\n"),
            failure("b", output: "out\n", command: nil, script: "cd x\n\u{1B}[2Jmake"),
            failure("c", output: "", command: nil, script: long),
        ]
        var log = EventLog()
        log.add(
            .runFinished(
                RunFinished(
                    outcome: .failure, duration: .zero, counts: OutcomeCounts(), errors: errors, tolerated: [],
                    cancelled: [], notRun: [])),
            at: 1)
        let shown = (1...20).map { "    > line \($0)\n" }.joined()
        #expect(
            log.text().hasPrefix(
                """

                3 errors:
                  a: exit 1 (a.yml:7)
                  b: exit 1 (a.yml:3)
                    > cd x
                    > \\x1b[2Jmake
                    | out
                  c: exit 1 (a.yml:3)
                \(shown)    > … and 10 more lines

                """))
    }

    @Test func `quiet says nothing of a success and only the summary of a failure`() {
        let sink = RecordingSink()
        sampleRun().report(to: Viewed { QuietReporter(sink: sink, view: $0, isColored: false) })
        #expect(sink.text == summary(repeating: "    | stopping\n"))
        let silent = RecordingSink()
        var log = EventLog()
        log.add(
            .runFinished(
                RunFinished(
                    outcome: .success, duration: .zero, counts: OutcomeCounts([.success: 1]), errors: [], tolerated: [],
                    cancelled: [], notRun: [])),
            at: 1)
        log.report(to: Viewed { QuietReporter(sink: silent, view: $0, isColored: false) })
        #expect(silent.records.isEmpty)
    }

    @Test(arguments: [nil, "flowrun why -f ci.yml"])
    func `skips of a green run stand in one line with the way to their reasons`(why: String?) {
        var log = EventLog()
        log.add(
            .runStarted(RunStarted(run: "r", file: "ci.yml", name: nil, steps: 12, jobs: 1, version: "1.0")), at: 0)
        for number in 1...12 {
            let cause = Cause(
                kind: .condition, message: "`if: params.n == \(number % 3)` is false", subject: .step("s\(number)"))
            log.add(.stepFinished(StepFinished(step: "s\(number)", attempt: 0, outcome: .skipped, cause: cause)), at: 1)
        }
        log.add(
            .runFinished(
                RunFinished(
                    outcome: .success, duration: .seconds(1), counts: OutcomeCounts([.skipped: 12]), errors: [],
                    tolerated: [], cancelled: [], notRun: [])), at: 1000)
        let sink = RecordingSink()
        log.report(to: Viewed { TextReporter(sink: sink, view: $0, options: .init(why: why)) })
        let hint = why.map { " (`\($0) s1` tells why)" } ?? ""
        #expect(
            sink.text.split(separator: "\n").dropFirst() == [
                "skipped: s1, s2, s3, s4, s5, s6, s7, s8 and 4 more\(hint)", "success in 1.000s: 12 skipped",
            ])
    }

    @Test(arguments: [
        ("lint", "Lint", "lint"), ("lint", "Style of all files", "lint (Style of all files)"),
        ("ci.run-tests[linux,3.9]", "Run tests", "ci.run-tests[linux,3.9]"), ("a[x]", "B", "a[x] (B)"),
        ("bauen", "Bäuen", "bauen (Bäuen)"), ("a", "two\nlines", "a (two\\x0alines)"),
    ])
    func `the end of a step names it, with its name where that says more`(id: String, name: String, title: String) {
        var log = EventLog()
        log.add(
            .stepFinished(
                StepFinished(step: id, attempt: 1, outcome: .success, duration: .seconds(1), name: name)), at: 1000)
        let sink = RecordingSink()
        log.report(to: Viewed { TextReporter(sink: sink, view: $0, options: .init()) })
        #expect(sink.text == "    1.000  success      1.000s  \(title)\n")
    }

    @Test(arguments: [
        ("SIGINT", ["a"], Duration.seconds(10), false, ": a has 10s to end, a second Ctrl-C kills it"),
        ("SIGINT", ["a"], .seconds(10), true, ": a has 10s to end, a second Ctrl-C kills it and skips `finally`"),
        ("SIGTERM", ["a", "b"], .seconds(90), false, ": a, b have 1m30s to end, a second signal kills them"),
        (
            "SIGINT", (1...7).map { "s\($0)" }, .milliseconds(250), false,
            ": s1, s2, s3, s4, s5 and 2 more have 250ms to end, a second Ctrl-C kills them"
        ),
        ("ctl", ["a"], .seconds(1), true, ": a has 1s to end"), ("SIGINT", ["a"], .zero, false, ": a is killed"),
        ("SIGINT", ["a"], .zero, true, ": a is killed, a second Ctrl-C skips `finally`"),
        ("SIGINT", [], nil, false, ""), ("SIGINT", [], nil, true, ", a second Ctrl-C skips `finally`"),
    ])
    func `a request to end the run says what is stopped and how long that may take`(
        source: String, steps: [String], grace: Duration?, finally: Bool, words: String
    ) {
        var log = EventLog()
        let cause = Cause(kind: .interrupt, message: "interrupted", subject: .run)
        log.add(
            .runCancelRequested(
                RunStopping(source: source, cause: cause, steps: steps, grace: grace, finally: finally)), at: 1000)
        let sink = RecordingSink()
        log.report(to: Viewed { TextReporter(sink: sink, view: $0, options: .init()) })
        #expect(sink.text == "    1.000  stopping             the run  interrupted\(words)\n")
        let notice = RecordingSink()
        log.report(to: StoppingNotice(sink: notice))
        #expect(notice.text == "flowrun: interrupted\(words)\n")
    }
}
