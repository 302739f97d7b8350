import FlowrunTestSupport
import Testing

@testable import RunLog

/// What the text log shows of a step beside which nothing runs.
@Suite struct LoneStepTests {
    @Test func `the only running step is named as at its end`() {
        var log = EventLog()
        log.add(
            .stepStarted(
                StepStarted(step: "g[2]", attempt: 1, pid: 1, command: .script(":"), line: 1, item: "a b")), at: 0)
        log.add(StepOutput.text("one\n", of: "g[2]"), at: 1)
        #expect(log.text() == "    0.001  running              g[2] (a b)\n| one\n")
    }

    @Test func `the only running step is shown as it writes, until another one starts`() {
        var log = EventLog()
        log.add(.started("a"), at: 0)
        log.add(StepOutput.text("one\n", of: "a"), at: 1)
        log.add(StepOutput.text("two\nthree", of: "a", isPartial: true), at: 2)
        log.add(.started("b"), at: 3)
        log.add(StepOutput.text("b's\n", of: "b"), at: 4)
        log.add(StepOutput.text("four\n", of: "a"), at: 5)
        log.add(.ended("b"), at: 6)
        // Alone again, but something of it is held back already.
        log.add(StepOutput.text("five\n", of: "a"), at: 7)
        log.add(.ended("a"), at: 8)
        #expect(
            log.text() == """
                    0.001  running              a
                | one
                | two
                | three
                    0.006  success      0.001s  b
                | b's
                    0.008  success      0.001s  a
                | four
                | five

                """)
    }

    @Test func `a line of flowrun's between the only step's lines names the step again`() {
        var log = EventLog()
        log.add(.started("a"), at: 0)
        log.add(StepOutput.text("one\n", of: "a"), at: 1)
        log.add(.stepSignal(step: "a", attempt: 1, signal: "SIGTERM"), at: 2)
        log.add(StepOutput.text("two\n", of: "a"), at: 3)
        log.add(.runPaused(source: "ctl"), at: 4)
        log.add(StepOutput.text("three\n", of: "a"), at: 5)
        log.add(.ended("a"), at: 6)
        #expect(
            log.text() == """
                    0.001  running              a
                | one
                | two
                    0.004  paused               the run  by ctl
                    0.005  running              a
                | three
                    0.006  success      0.001s  a

                """)
    }

    @Test func `of a progress bar the last state is shown, as it comes and in a block`() {
        var log = EventLog()
        log.add(.started("a"), at: 0)
        log.add(StepOutput.text("10%\r\u{1B}[2K20%\r\u{1B}[2Kdone\n", of: "a"), at: 1)
        log.add(StepOutput.text("1\r2\r", of: "a", isPartial: true), at: 2)
        log.add(StepOutput.text("3\r4\nend\r\n", of: "a"), at: 3)
        log.add(.started("b"), at: 3)
        log.add(StepOutput.text("5\r6\r", of: "a", isPartial: true), at: 4)
        log.add(StepOutput.text("7\r8\n", of: "a"), at: 5)
        log.add(.ended("a"), at: 6)
        #expect(
            log.text() == """
                    0.001  running              a
                | done
                | 2
                | 4
                | end
                    0.006  success      0.001s  a
                | 6
                | 8

                """)
    }

    @Test func `what is shown only of failures is held back though nothing else runs`() {
        var log = EventLog()
        log.add(.started("a"), at: 0)
        log.add(StepOutput.text("one\n", of: "a"), at: 1)
        log.add(.ended("a"), at: 2)
        #expect(log.text(output: .failed) == "    0.002  success      0.001s  a\n")
    }
}
